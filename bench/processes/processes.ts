import { join } from 'node:path'
import { ObjectId } from 'mongodb'
import { type Child, startChild } from '../children.ts'
import { type BenchDatabase, openBench } from '../database.ts'
import { quantile, showSpread, spreadOf } from '../drive.ts'
import { openAccounts } from '../engagement/ours.ts'
import type { BenchOptions } from '../options.ts'
import type { Answered, Order, Way } from './child.ts'
import { checkStored } from './stored.ts'

const clients = 64
const accounts = 200_000
const counts = [1, 2, 4, 8, 16] as const
const ways: readonly Way[] = ['like', 'follow', 'post']

/** What all clients were answered together. */
interface Measured {
  readonly perSecond: number
  readonly p99Ms: number
  readonly unavailable: number
  /** Sent for one write, and the cores that all processes kept busy, without the database's. */
  readonly commandsPerWrite: number
  readonly cores: number
}
type Name = `${Way} ${number}`

/**
 * 64 clients in all, in 1 to 16 processes, write to one key: likes of a post past its threshold, follows of an account,
 * posts of an author. A load is measured once its key is hot. After every load the counters are compared with what is stored and with what was acknowledged.
 */
export async function processes(options: BenchOptions) {
  await using database = await openBench(options.say)
  options.say(`opening ${accounts} accounts`)
  await openAccounts(database.services, accounts)
  await using children = await startChildren(database, Math.max(...counts))
  const measured = new Map<Name, Measured[]>()
  for (let round = 1; round <= options.rounds; round++) {
    options.say(`round ${round} of ${options.rounds}`)
    for (const way of ways) {
      // Each number of processes comes as often early as late.
      for (const count of round % 2 === 1 ? counts : counts.toReversed()) {
        const result = await measure(database, children.all.slice(0, count), way, options.ms)
        const name: Name = `${way} ${count}`
        measured.set(name, [...(measured.get(name) ?? []), result])
        const { perSecond, p99Ms, unavailable, commandsPerWrite, cores } = result
        options.say(
          `${name}: ${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(0)} ms, ${unavailable} UNAVAILABLE, ` +
            `${commandsPerWrite.toFixed(2)} commands a write, ${cores.toFixed(2)} cores`,
        )
      }
    }
  }
  return report(options, measured)
}

function report({ show }: BenchOptions, measured: ReadonlyMap<Name, readonly Measured[]>) {
  const of = (way: Way, count: number) => measured.get(`${way} ${count}`) ?? []
  const median = (way: Way, count: number) =>
    quantile(
      of(way, count).map(({ perSecond }) => perSecond),
      0.5,
    )
  show(
    '| 64 clients, one key | processes | writes/s | p99, ms | commands a write | cores | UNAVAILABLE |\n' +
      '|---|---|---|---|---|---|---|',
  )
  for (const way of ways) {
    for (const count of counts) {
      const loads = of(way, count)
      const rate = showSpread(spreadOf(loads.map(({ perSecond }) => perSecond)), 0)
      const p99 = showSpread(spreadOf(loads.map(({ p99Ms }) => p99Ms)), 0)
      const commands = showSpread(spreadOf(loads.map((load) => load.commandsPerWrite)))
      const cores = showSpread(spreadOf(loads.map((load) => load.cores)))
      const refused = loads.reduce((sum, { unavailable }) => sum + unavailable, 0)
      show(`| ${way} | ${count} | ${rate} | ${p99} | ${commands} | ${cores} | ${refused} |`)
    }
  }
  const rates = ways.flatMap((way) =>
    counts.map((count) => [`${way}_${count}_per_second`, median(way, count)] as const),
  )
  return {
    like_8_vs_1_processes: median('like', 8) / median('like', 1),
    follow_8_vs_1_processes: median('follow', 8) / median('follow', 1),
    post_8_vs_1_processes: median('post', 8) / median('post', 1),
    like_16_vs_1_processes: median('like', 16) / median('like', 1),
    follow_16_vs_1_processes: median('follow', 16) / median('follow', 1),
    post_16_vs_1_processes: median('post', 16) / median('post', 1),
    unavailable: [...measured.values()].flat().reduce((sum, one) => sum + one.unavailable, 0),
    ...Object.fromEntries(rates),
  }
}

/** One load on a key of its own. @throws when what is stored is not what the clients were answered. */
async function measure(
  database: BenchDatabase,
  children: readonly Child[],
  way: Way,
  ms: number,
): Promise<Measured> {
  const { collections } = database.services
  const post = new ObjectId()
  const user = `hot-${post.toHexString()}`
  await collections.user_stats.insertOne({ _id: user, followers: 0, following: 0, posts: 0 })
  if (way === 'like') await collections.posts.insertOne(popularPost(post, user))
  const share = clients / children.length
  const order = { way, user, post: post.toHexString(), clients: share, ms }
  const answers = await Promise.all(
    children.map((child, number) =>
      child.ask<Answered>({
        ...order,
        first: Math.floor((number * accounts) / children.length),
      } satisfies Order),
    ),
  )
  const sum = (of: (answered: Answered) => number) =>
    answers.reduce((total, answered) => total + of(answered), 0)
  await checkStored(
    database.services,
    order,
    sum(({ acknowledged }) => acknowledged),
    sum(({ unavailable }) => unavailable),
  )
  await collections.outbox.deleteMany({})
  return {
    perSecond: sum(({ perSecond }) => perSecond),
    p99Ms: Math.max(...answers.map(({ p99Ms }) => p99Ms)),
    unavailable: sum(({ unavailable }) => unavailable),
    commandsPerWrite:
      sum(({ commandsPerWrite, perSecond }) => commandsPerWrite * perSecond) /
      sum(({ perSecond }) => perSecond),
    cores: sum(({ cores }) => cores),
  }
}

/** A post whose likes have passed the default threshold. */
const popularPost = (_id: ObjectId, author: string) => {
  const likes = Array.from({ length: 100 }, (_, n) => ({ _id: new ObjectId(), actor: `early${n}` }))
  const last = likes.at(-1) as (typeof likes)[number]
  return { _id, author, text: 'hot', likes, counts: { likes: 100 }, last: { likes: last._id } }
}

/** Starts processes with services of their own, one after the other. They end with this one, whatever ends it. */
async function startChildren({ uri, db }: BenchDatabase, count: number) {
  const all: Child[] = []
  const env = { BENCH_URI: uri, BENCH_DATABASE: db.databaseName }
  while (all.length < count) {
    all.push(await startChild(join(import.meta.dirname, 'child.ts'), env))
  }
  const end = () => Promise.all(all.map((child) => child[Symbol.asyncDispose]()))
  return { all, [Symbol.asyncDispose]: async () => void (await end()) }
}

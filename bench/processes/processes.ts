import { join } from 'node:path'
import { ObjectId } from 'mongodb'
import { type Handle, mintUserId } from '../../src/lib/ids.ts'
import { type Child, startChild } from '../child-process.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { createAccounts } from '../engagement/feedline.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { formatSummary, quantile, summarize } from '../statistics.ts'
import { verifyWrites } from './verify.ts'
import type { WriteKind, WriteRequest, WriteResult } from './writer-process.ts'

const clients = 64
const processCounts = [1, 2, 8] as const
/** Each kind with the number of posts that it likes. */
const writeKinds = {
  like: 1,
  'likes of 100 posts': 100,
  follow: 0,
  post: 0,
} as const satisfies Record<WriteKind, number>
const kindNames = Object.keys(writeKinds) as WriteKind[]

/** The result of all processes together. */
interface Measurement {
  readonly perSecond: number
  readonly p99Ms: number
  readonly unavailable: number
  /** Commands sent to the database per acknowledged write. */
  readonly commandsPerWrite: number
  /** The cores that all processes kept busy, without the database's. */
  readonly cores: number
}
type LoadName = `${WriteKind} ${number}`

/**
 * Measures writes by 64 clients in 1 to 8 processes. The writes are likes of a post past its
 * threshold, or of 100 such posts, follows of an account, or posts of an author. A measurement
 * begins when the processes have collided. After each load, the counters are compared with the
 * stored documents and the acknowledged writes.
 */
export async function benchmarkProcesses(options: BenchOptions) {
  await using database = await openBenchDatabase(options.log)
  const accounts = sizeOf(options, 200_000, 40_000)
  options.log(`creating ${accounts} accounts`)
  await createAccounts(database.services, accounts)
  await using children = await startChildren(database, Math.max(...processCounts))
  const measured = new Map<LoadName, Measurement[]>()
  for (let round = 1; round <= options.rounds; round++) {
    options.log(`round ${round} of ${options.rounds}`)
    for (const kind of kindNames) {
      // Alternates the order, so that each number of processes is early and late equally often.
      for (const count of round % 2 === 1 ? processCounts : processCounts.toReversed()) {
        const result = await measureWrites(database, children.all.slice(0, count), kind, {
          ms: options.ms,
          accounts,
        })
        const name: LoadName = `${kind} ${count}`
        measured.set(name, [...(measured.get(name) ?? []), result])
        const { perSecond, p99Ms, unavailable, commandsPerWrite, cores } = result
        options.log(
          `${name}: ${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(0)} ms, ${unavailable} UNAVAILABLE, ` +
            `${commandsPerWrite.toFixed(2)} commands per write, ${cores.toFixed(2)} cores`,
        )
      }
    }
  }
  return printReport(options, measured)
}

function printReport(
  { print }: BenchOptions,
  measured: ReadonlyMap<LoadName, readonly Measurement[]>,
) {
  const of = (kind: WriteKind, count: number) => measured.get(`${kind} ${count}`) ?? []
  const median = (kind: WriteKind, count: number) =>
    quantile(
      of(kind, count).map(({ perSecond }) => perSecond),
      0.5,
    )
  print(
    '| 64 clients | processes | writes/s | p99, ms | commands a write | cores | UNAVAILABLE |\n' +
      '|---|---|---|---|---|---|---|',
  )
  for (const kind of kindNames) {
    for (const count of processCounts) {
      const loads = of(kind, count)
      const rate = formatSummary(summarize(loads.map(({ perSecond }) => perSecond)), 0)
      const p99 = formatSummary(summarize(loads.map(({ p99Ms }) => p99Ms)), 0)
      const commands = formatSummary(summarize(loads.map((load) => load.commandsPerWrite)))
      const cores = formatSummary(summarize(loads.map((load) => load.cores)))
      const unavailableCount = loads.reduce((sum, { unavailable }) => sum + unavailable, 0)
      print(
        `| ${kind} | ${count} | ${rate} | ${p99} | ${commands} | ${cores} | ${unavailableCount} |`,
      )
    }
  }
  const rates = kindNames.flatMap((kind) =>
    processCounts.map((count) => [`${kind}_${count}_per_second`, median(kind, count)] as const),
  )
  return {
    like_8_vs_1_processes: median('like', 8) / median('like', 1),
    spread_like_8_vs_1_processes: median('likes of 100 posts', 8) / median('likes of 100 posts', 1),
    follow_8_vs_1_processes: median('follow', 8) / median('follow', 1),
    post_8_vs_1_processes: median('post', 8) / median('post', 1),
    unavailable: [...measured.values()]
      .flat()
      .reduce((sum, { unavailable }) => sum + unavailable, 0),
    ...Object.fromEntries(rates),
  }
}

/**
 * Measures one load on a new key. @throws if the stored data differs from the acknowledged writes.
 */
async function measureWrites(
  database: BenchDatabase,
  children: readonly Child[],
  kind: WriteKind,
  { ms, accounts }: { readonly ms: number; readonly accounts: number },
): Promise<Measurement> {
  const { collections, users } = database.services
  const posts = Array.from({ length: writeKinds[kind] }, () => new ObjectId())
  const user = mintUserId()
  const handle = `hot-${new ObjectId().toHexString()}` as Handle
  await users.create(user, {
    name: 'hot',
    handle,
    subject: { issuer: '', sub: handle, isMain: true },
  })
  if (posts.length > 0) {
    await collections.posts.insertMany(posts.map((post) => createHotPost(post, user)))
  }
  const clientsEach = clients / children.length
  const ids = posts.map((post) => post.toHexString())
  const request = { kind, user, posts: ids, clients: clientsEach, ms }
  const answers = await Promise.all(
    children.map((child, number) =>
      child.sendRequest<WriteResult>({
        ...request,
        firstAccount: Math.floor((number * accounts) / children.length),
      } satisfies WriteRequest),
    ),
  )
  const sum = (of: (result: WriteResult) => number) =>
    answers.reduce((total, result) => total + of(result), 0)
  await verifyWrites(
    database.services,
    request,
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

/** A post with 100 likes: the default threshold. */
const createHotPost = (_id: ObjectId, author: string) => {
  const likes = Array.from({ length: 100 }, (_, n) => ({ _id: new ObjectId(), actor: `early${n}` }))
  const last = likes.at(-1) as (typeof likes)[number]
  return { _id, author, text: 'hot', likes, counts: { likes: 100 }, last: { likes: last._id } }
}

/**
 * Starts processes with their own services, one at a time. They also end when this process ends.
 */
async function startChildren({ uri, db }: BenchDatabase, count: number) {
  const all: Child[] = []
  const env = { BENCH_URI: uri, BENCH_DATABASE: db.databaseName }
  while (all.length < count) {
    all.push(await startChild(join(import.meta.dirname, 'writer-process.ts'), env))
  }
  const stop = () => Promise.all(all.map((child) => child[Symbol.asyncDispose]()))
  return { all, [Symbol.asyncDispose]: async () => void (await stop()) }
}

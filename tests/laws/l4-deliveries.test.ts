import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { randomAt } from '../../src/imports/random.ts'
import { type EdgeId, type PostId, type PostRef, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { noteFact } from '../support/facts.ts'
import { compiledProgram } from '../support/process.ts'
import { lawSeed } from '../support/seed.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import { storedProblems } from './model/stored-timelines.ts'
import type { DeliveryOrders } from './processes/delivery-child.ts'

const program = compiledProgram('delivery-child')
const kills = Number(process.env.FEEDLINE_KILLS ?? 5)
const seed = lawSeed().seed ?? 1
const cacheSize = 50
/** Followers of each author, 1,000 on average. The first author is delivered inline, the others by workers. */
const audiences = [100, 900, 2_000]
const harness = useServices('collection', undefined, {
  maintained: ['FANOUT_ON_READ', 'TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'],
  cacheSize,
})
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

interface Child {
  readonly role: DeliveryOrders
  readonly process: ChildProcess
}

/** A running child, with the posts that it has acknowledged so far. */
async function child(role: DeliveryOrders, acknowledged: PostRef[]): Promise<Child> {
  const started = spawn(process.execPath, [program, JSON.stringify(role)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(started)
  started.once('exit', () => running.delete(started))
  const lines = createInterface({ input: started.stdout })
  await once(lines, 'line')
  lines.on('line', (line) => acknowledged.push(JSON.parse(line)))
  return { role, process: started }
}

/** Kills a process. The server ends its open transactions some seconds later. */
async function kill({ process }: Child): Promise<void> {
  const exited = once(process, 'exit')
  process.kill('SIGKILL')
  await exited
}

test('processes that are killed at any moment of a delivery lose no post and store none twice', async () => {
  const { services, database } = harness
  const authors = audiences.map((_, n) => handle(`author${n}`))
  const readers = Array.from({ length: 2_000 }, (_, n) =>
    handle(`reader${String(n).padStart(4, '0')}`),
  )
  await openAccounts(services, [...authors, ...readers])
  for (const [n, author] of authors.entries())
    await followed(author, readers.slice(0, audiences[n]))
  // Some of the followers have a cache.
  for (const reader of readers.slice(0, 40)) {
    const window = { limit: 1, backward: false }
    await services.feed.timeline(reader, { window, strategy: 'CACHE', projection: 'ref' })
  }

  const acknowledged: PostRef[] = []
  const common = { uri: database.uri, database: database.name, leaseMs: 600, pauseMs: 250 }
  const roles: DeliveryOrders[] = [
    { ...common, authors: authors.slice(0, 2) },
    { ...common, authors: authors.slice(2) },
    { ...common, authors: [] },
    { ...common, authors: [] },
  ]
  const up = new Set<Child>()
  const starting = new Set<Promise<void>>()
  const start = (role: DeliveryOrders) => {
    const started = child(role, acknowledged).then((one) => void up.add(one))
    starting.add(started)
    void started.finally(() => starting.delete(started))
  }
  for (const role of roles) start(role)
  let seen = 0
  /** Waits until an author's process has acknowledged another post. */
  const acknowledgedAnother = async () => {
    const giveUpAt = performance.now() + 60_000
    while (acknowledged.length <= seen) {
      if (performance.now() > giveUpAt) throw new Error(`no post follows the first ${seen}`)
      await sleep(10)
    }
    seen = acknowledged.length
  }
  for (let killed = 0; killed < kills; killed++) {
    // On a slow machine, every process could be killed before its second post.
    await acknowledgedAnother()
    await sleep(20 + 200 * randomAt(seed, killed, 0))
    while (up.size < roles.length - 1) await Promise.race(starting)
    const victim = [...up][Math.floor(up.size * randomAt(seed, killed, 1))]
    if (!victim) throw new Error('nobody is there to be killed')
    up.delete(victim)
    await kill(victim)
    start(victim.role)
  }
  await Promise.all(starting)
  await acknowledgedAnother()
  await Promise.all([...up].map(kill))
  // A job that was interrupted ten times in a row is parked. `feedline jobs retry --all` retries it.
  // The first run parks the last of these jobs.
  await harness.rest().catch(() => undefined)
  const parked = await services.queue.retryAll()
  await harness.rest()

  const { collections } = services
  const stored = await collections.posts.find({}, { projection: { author: 1 } }).toArray()
  const posts = stored.map(({ _id, author }) => ({ id: _id.toHexString() as PostId, author }))
  const there = new Set(posts.map(({ id }) => id))
  expect(acknowledged.filter(({ id }) => !there.has(id))).toEqual([])
  const expected = new Map<UserId, Set<PostId>>()
  for (const { id, author } of posts) {
    const audience = audiences[authors.indexOf(author as UserId)]
    for (const reader of [author as UserId, ...readers.slice(0, audience)]) {
      expected.set(reader, (expected.get(reader) ?? new Set()).add(id))
    }
  }
  const summary = `${posts.length} posts, ${acknowledged.length} acknowledged, ${parked} parked`
  noteFact(`L4: ${kills} kills, ${summary}`)
  expect(posts.length).toBeGreaterThan(kills)
  expect(await storedProblems(collections, expected, cacheSize)).toEqual([])
  expect(await collections.outbox.countDocuments()).toBe(0)
}, 600_000)

/** Inserts edges without jobs, like an import. */
async function followed(author: UserId, followers: readonly UserId[]): Promise<void> {
  const { services, clock } = harness
  const at = clock.now()
  const { edges, transactions } = services
  const made = followers.map((follower, n) => ({
    id: timeIdAt<EdgeId>(at + n, '0'.repeat(12)),
    follower,
    followee: author,
    source: 'IMPORT' as const,
  }))
  await transactions.run((tx) => edges.insert(tx, made))
  await services.collections.user_stats.updateOne(
    { _id: author },
    { $set: { followers: followers.length } },
  )
}

import { afterAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { silent } from '../support/jobs.ts'
import { type Documents, firstConflict, postsAndEdges, readAll, restore } from '../support/races.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'
import {
  type Around,
  comparedTimelines,
  holding,
  repeatsStored,
  watchedDatabase,
} from '../support/stored-timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const small = { entries: 'text', cacheSize: 4, sizedBucketSize: 2, hybridThreshold: 3 } as const
const feeds = {
  stored: {
    ...small,
    maintained: ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'] as FeedStrategyName[],
  },
  hybrid: { ...small, maintained: ['HYBRID'] as FeedStrategyName[] },
}
type Which = keyof typeof feeds
const harnesses = {
  stored: useServices('collection', engagement, feeds.stored),
  hybrid: useServices('collection', engagement, feeds.hybrid),
}

/** Another process whose driver calls go through `around`. */
function processOver(which: Which, around: Around): Services {
  const { database, clock } = harnesses[which]
  const over = watchedDatabase(database, around)
  return servicesOver(over, clock, engagement, 'collection', feeds[which])
}

const people = ['ann', 'ben', 'carl', 'dora', 'eve'].map(handle)
const [reader, fan, author, other, late] = people as [UserId, UserId, UserId, UserId, UserId]

type Step = (main: Services) => Promise<unknown>

/**
 * A race of two processes, after `given` steps. The first process is held at each of its driver calls in turn, and then
 * dies or continues. The second process runs its steps while the first is held.
 */
type Race = [given: Step, held: Step, concurrent: Step, dies?: 'dies']
type Row = [name: string, ...Race]

const all =
  (...steps: Step[]): Step =>
  async (main) => {
    for (const step of steps) await step(main)
  }
/** Runs all due jobs, and takes no job from other workers. */
const work: Step = ({ queue, tasks }) =>
  new Worker(queue, tasks, silent, { concurrency: 1, pollMs: 20, leaseMs: 30_000 }).drain()
const post =
  (by: UserId): Step =>
  (main) =>
    main.posts.create(by, { text: 'new' })
const follow =
  (one = reader, of = author): Step =>
  (main) =>
    main.follows.follow(one, of)
const unfollow =
  (one = reader, of = author): Step =>
  (main) =>
    main.follows.unfollow(one, of)
const again = all(unfollow(), work, follow(), work)
/** Ends the leases of other workers and runs their jobs. */
const takeOver = all(
  ({ collections }) =>
    collections.outbox.updateMany({ leased: { $exists: true } }, { $set: { runAt: new Date(0) } }),
  work,
)
const uncache: Step = ({ collections }) => collections.timeline_cache.deleteMany({})
const deletePost: Step = async (main) => {
  const [newest] = await main.posts.refsByAuthors([author], { oldestFirst: false, limit: 1 })
  if (newest) await main.posts.delete(author, newest)
}
const drop: Step = async ({ registry, registrations }) => {
  for (const name of (await registry.read()).keys()) await registrations.drop(name as 'INBOX')
}

async function read(services: Services, of: UserId, strategy: FeedStrategyName, limit = 3) {
  const window = { limit, backward: false }
  const page = await services.feed.timeline(of, { window, strategy, projection: 'ref' })
  return page.items.map(({ id }) => id)
}
const readCache: Step = (main) => read(main, reader, 'CACHE')
const readHybrid: Step = (main) => read(main, fan, 'HYBRID')
/** A page while at most one delivery waits. It is right, except for this post. */
const readRight: Step = async (slow) => {
  const found = await read(slow, fan, 'HYBRID')
  const right = await read(slow, fan, 'FANOUT_ON_READ', 4)
  expect([right.slice(0, 3), right.slice(1)]).toContainEqual(found)
}

const beginnings = new Map<Which, Documents>()

/** The users, posts, edges and caches at the start of all races, without jobs. Created once. */
async function beginning(which: Which): Promise<Documents> {
  const { services, rest } = harnesses[which]
  const before = beginnings.get(which)
  if (before) return before
  await openAccounts(services, people)
  await all(follow(reader, other), follow(fan, other), follow(fan), work)(services)
  await all(...[author, other, author, other].map(post))(services)
  await rest()
  if (which === 'stored') for (const one of [reader, fan]) await read(services, one, 'CACHE')
  beginnings.set(which, await readAll(services))
  return beginning(which)
}

/** Runs a race once. @returns the calls at which the process can be held, and the problems after all jobs. */
async function runRace(
  which: Which,
  given: Documents,
  [, doing, concurrent, dies]: Race,
  point?: string,
) {
  const main = harnesses[which].services
  await restore(main, given)
  const { around, points, reached, go } = holding(point)
  const slow = processOver(which, around)
  const there: string[] = []
  const running = doing(slow)
  if (point !== undefined) {
    await Promise.race([reached, running])
    await using meeting = firstConflict(harnesses[which].database.client)
    const other = concurrent(main)
    // A write that conflicts with the held transaction would be retried until the held call continues.
    await Promise.race([other, meeting.met])
    go(dies !== undefined)
    await other
    there.push(...(await postsAndEdges(main)))
  }
  await (dies ? running.catch(() => {}) : running)
  const calls = [...points]
  const problems: string[] = []
  const compare = async (services: Services, when: string) => {
    const compared = await comparedTimelines(services, [reader, fan], feeds[which].maintained)
    problems.push(...compared.problems.map((problem) => `${when}: ${problem}`))
    for (const name of compared.served) served.add(name)
    return compared.pending
  }
  if (point !== undefined) await compare(main, 'before jobs end')
  await harnesses[which].rest()
  problems.push(...(await repeatsStored(main.collections)))
  const left = new Set(await postsAndEdges(main))
  problems.push(...there.filter((one) => !left.has(one)).map((one) => `${one} is lost`))
  // The knowledge of the other process must not change its pages.
  for (const services of which === 'stored' ? [main] : [main, slow]) {
    const pending = await compare(services, 'at rest')
    problems.push(...pending.map((walk) => `pending at rest: ${walk}`))
  }
  return { points: calls, problems }
}

const served = new Set<FeedStrategyName>()
let held = 0
afterAll(() => console.info(`L1, races: held at ${held} calls, served by ${[...served]}`))

/** Runs a race for each call of its process, held there. In normal runs, for every fourth call. */
const everywhere =
  (which: Which) =>
  async (_: string, ...race: Race) => {
    const { services } = harnesses[which]
    await restore(services, await beginning(which))
    await race[0](services)
    const given = await readAll(services)
    const { points, problems } = await runRace(which, given, race)
    for (const point of share(4, points)) {
      held++
      const found = await runRace(which, given, race, point)
      problems.push(...found.problems.map((problem) => `held before ${point}: ${problem}`))
    }
    expect([...new Set(problems)]).toEqual([])
  }

const follows = all(follow(), work)
const made = all(follows, uncache)
const delivered = all(follows, post(author))
const posted = all(post(author), work)
const filled = all(follow(), post(author))
const cleared = all(follows, unfollow())
const emptied: Step = async ({ collections: { timed_buckets, posts } }) => {
  await timed_buckets.deleteMany({})
  await posts.deleteMany({})
}
const first = all(follows, emptied, post(author))

describe('races of stored timelines', () => {
  test.each<Row>([
    ['a post is delivered while a cache is created', made, readCache, posted],
    ['a follow is back-filled while a cache is created', uncache, readCache, follows],
    ['an edge ends and begins again while a cache is created', made, readCache, again],
    ['two caches of a reader are created', made, readCache, all(readCache, posted)],
    ['the creator of a cache dies', made, readCache, posted, 'dies'],
    ['the reader follows during a delivery', post(author), work, follows],
    ['the reader unfollows during a delivery', delivered, work, all(unfollow(), work)],
    ['an edge ends and begins again during a delivery', delivered, work, again],
    ['a post is deleted during its delivery', delivered, work, all(deletePost, work)],
    ['two workers deliver a post', delivered, work, takeOver],
    ['a worker dies during a delivery', delivered, work, all(takeOver, again), 'dies'],
    ['two posts are delivered', delivered, work, posted],
    ['the first two posts of a period are delivered', first, work, all(post(other), work)],
    ['a post is delivered during a back-fill', follow(), work, posted],
    ['an earlier post is delivered during a back-fill', filled, work, work],
    ['two workers run a back-fill', follow(), work, takeOver],
    ['an edge begins again during its removal', cleared, work, follows],
    ['two workers remove an edge that begins again', cleared, work, all(takeOver, follows)],
    ['a post is delivered during the commit of a follow', post(author), follow(), work],
    ['a follow is back-filled during the commit of a post', follow(), post(author), work],
    ['a cache is created during the commit of a post', made, post(author), readCache],
  ])('no page lacks or repeats a post when %s', everywhere('stored'), 60_000)
})

const more = all(follow(other), work)
const rising = all(follow(), follow(late), work, post(author))
const falling = all(rising, work, posted, unfollow(late), work, post(author))
const rises = all(follow(other), follow(late), work, posted, posted)
const falls = all(unfollow(other), unfollow(late), work, posted)
const sinks = all(work, unfollow(late), unfollow(), work, posted)
const twice = all(readHybrid, readRight)
const register = async (main: Services) => {
  await registerStrategies(main, feeds.hybrid.maintained)
  await work(main)
}
const abe = handle('abe')
const joins = all(({ users }) => users.create(abe, { name: 'Abe' }), follow(abe), follow(), posted)
const many: Step = async ({ collections: { posts } }) => {
  const ids = Array.from({ length: 501 }, (_, n) => timeIdAt<PostId>(1.1e12 + n, '0'.repeat(12)))
  await posts.insertMany(ids.map((id) => ({ _id: toObjectId(id), author, text: 'old' })))
}
const long = all(unfollow(fan), work, many, cleared)
const leaves: Step = ({ users }) => users.delete(reader)
const returns = all(
  ({ users }) => users.create(reader, { name: 'Ann' }),
  follow(),
  post(reader),
  work,
)

describe('races of HYBRID', () => {
  test.each<Row>([
    ['a user follows during a promotion', rising, work, more],
    ['an edge ends and begins again during a promotion', rising, work, again],
    ['a page is read during a promotion', rising, work, readHybrid],
    ['two posts are published during a promotion', rising, work, posted],
    ['a demotion runs during a promotion', rising, work, sinks],
    ['a user follows during a demotion', falling, work, more],
    ['an edge ends and begins again during a demotion', falling, work, again],
    ['two posts are published during a demotion', falling, work, posted],
    ['a promotion runs during a demotion', falling, work, rises],
    ['a promotion and a demotion run during a demotion', falling, work, all(rises, falls)],
    ['two workers demote an author who is promoted again', falling, work, all(takeOver, rises)],
    ['a promotion runs while pages are read', rising, twice, work],
    ['a demotion runs while pages are read', falling, twice, work],
    ['a strategy is dropped while pages are read', all(delivered, work), twice, drop],
    ['a post is delivered during a registration', drop, register, posted],
    ['a user joins during a registration', drop, register, joins],
    ['two processes register a strategy', drop, register, register],
    ['an author is promoted during a registration', all(rising, work, drop), register, posted],
    ['a strategy is registered during a delivery', all(drop, delivered), work, register],
    [
      'a strategy is registered during the commit of a post',
      all(drop, follows),
      post(author),
      register,
    ],
    ['a strategy is registered during a back-fill', all(drop, follow()), work, register],
    [
      'two workers remove many posts of an edge that begins again',
      long,
      work,
      all(takeOver, follows),
    ],
    ['two workers purge an account that is opened again', leaves, work, all(takeOver, returns)],
  ])('no HYBRID page lacks or repeats a post when %s', everywhere('hybrid'), 60_000)
})

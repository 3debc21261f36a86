import { afterAll, describe, expect, test } from 'vitest'
import { fromObjectId, toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { type FeedStrategyName, materialisedNames } from '../../src/timeline/strategies/list.ts'
import { sameLimits } from '../support/engagement.ts'
import { noteFact } from '../support/facts.ts'
import { share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'
import {
  handle,
  namesOf,
  openAccounts,
  servicesOver,
  settleDeletions,
  useServices,
} from '../support/services.ts'
import {
  again,
  all,
  author,
  deletePost,
  drop,
  fan,
  follow,
  other,
  people,
  post,
  reader,
  type Step,
  takeOver,
  uncache,
  unfollow,
  work,
} from './model/race-steps.ts'
import { type Documents, firstConflict, postsAndEdges, readAll, restore } from './model/races.ts'
import {
  type Around,
  comparedTimelines,
  holding,
  leftoversStored,
  repeatsStored,
  watchedDatabase,
} from './model/stored-timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const small = { entries: 'text', cacheSize: 4, sizedBucketSize: 2 } as const
const feeds = {
  stored: {
    ...small,
    maintained: materialisedNames as readonly FeedStrategyName[],
  },
  inbox: {
    ...small,
    maintained: ['INBOX'] as FeedStrategyName[],
  },
}
type Which = keyof typeof feeds
const harnesses = {
  stored: useServices('collection', engagement, feeds.stored),
  inbox: useServices('collection', engagement, feeds.inbox),
}

/** Another process, whose every driver call goes through `around`. */
function processOver(which: Which, around: Around): Services {
  const { database, clock } = harnesses[which]
  const over = watchedDatabase(database, around)
  return servicesOver(over, clock, engagement, 'collection', feeds[which])
}

/**
 * Two processes that meet, after what was given: the one is held at each of its driver calls in
 * turn, and dies there or goes on, while the other does all it has to.
 */
type Race = [given: Step, held: Step, whileHeld: Step, dies?: 'dies']
type Row = [name: string, ...Race]

async function read(services: Services, of: UserId, strategy: FeedStrategyName, limit = 3) {
  const window = { limit, backward: false }
  const page = await services.feed.timeline(of, { window, strategy, projection: 'ref' })
  return page.items.map(({ post }) => post.id)
}
const readCache: Step = (main) => read(main, reader, 'CACHE')
const readInbox: Step = (main) => read(main, fan, 'INBOX')
/** A page while at most one post is on its way: it is right, that post aside. */
const readRight: Step = async (slow) => {
  const found = await read(slow, fan, 'INBOX')
  const right = await read(slow, fan, 'FANOUT_ON_READ', 4)
  expect([right.slice(0, 3), right.slice(1)]).toContainEqual(found)
}

const beginnings = new Map<Which, Documents>()

/** People, posts, edges and caches, at rest: made once. */
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

const postIds = async ({ collections }: Services) =>
  (await collections.posts.distinct('_id')).map((id) => fromObjectId<PostId>(id))

/** Plays a race once. @returns where the process can be held, and what is wrong at rest. */
async function play(
  which: Which,
  given: Documents,
  [, doing, whileHeld, dies]: Race,
  point?: string,
) {
  const main = harnesses[which].services
  await restore(main, given)
  const before = await postIds(main)
  const { around, points, reached, go } = holding(point)
  const slow = processOver(which, around)
  const there: string[] = []
  const running = doing(slow)
  if (point !== undefined) {
    await Promise.race([reached, running])
    await using meeting = firstConflict(harnesses[which].database.client)
    const other = whileHeld(main)
    // A write that collides with a held transaction retries in vain until the transaction goes on.
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
  const after = new Set(await postIds(main))
  const removed = before.filter((id) => !after.has(id)).map((id) => [id, [reader, fan]] as const)
  problems.push(...(await leftoversStored(main.collections, new Map(removed))))
  const left = new Set(await postsAndEdges(main))
  problems.push(...there.filter((one) => !left.has(one)).map((one) => `${one} is lost`))
  // What the other process has seen by now is no reason to read something else.
  for (const services of which === 'stored' ? [main] : [main, slow]) {
    const pending = await compare(services, 'at rest')
    problems.push(...pending.map((walk) => `pending at rest: ${walk}`))
  }
  return { points: calls, problems }
}

const served = new Set<FeedStrategyName>()
let held = 0
afterAll(() => noteFact(`L1, races: held at ${held} calls, served by ${[...served]}`))

/** Plays a race with its process held at each call that it makes; by day at one in forty. */
const everywhere =
  (which: Which) =>
  async (_: string, ...race: Race) => {
    const { services } = harnesses[which]
    await restore(services, await beginning(which))
    await race[0](services)
    const given = await readAll(services)
    const { points, problems } = await play(which, given, race)
    for (const point of share(40, points)) {
      held++
      const found = await play(which, given, race, point)
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
const emptied: Step = async ({ collections }) => {
  await collections.timed_buckets.deleteMany({})
  await collections.posts.deleteMany({})
}
const first = all(follows, emptied, post(author))

describe('where all is stored', () => {
  test.each(
    share<Row>(1, [
      ['a cache is made, a post delivered', made, readCache, posted],
      ['a cache is made, a followee filled in', uncache, readCache, follows],
      ['a cache is made, an edge ends and begins again', made, readCache, again],
      ['a cache is made, a post deleted', all(made, posted), readCache, all(deletePost, work)],
      ['a cache is made twice', made, readCache, all(readCache, posted)],
      ['a cache’s maker dies', made, readCache, posted, 'dies'],
      ['a post is delivered, the reader follows', post(author), work, follows],
      ['a post is delivered, the reader unfollows', delivered, work, all(unfollow(), work)],
      ['a post is delivered, an edge ends and begins again', delivered, work, again],
      ['a post is delivered and deleted', delivered, work, all(deletePost, work)],
      ['a post is delivered by two workers', delivered, work, takeOver],
      ['a deliverer dies', delivered, work, all(takeOver, again), 'dies'],
      ['two posts are delivered', delivered, work, posted],
      ['the first two posts of a period are delivered', first, work, all(post(other), work)],
      ['a followee is back-filled, a post delivered', follow(), work, posted],
      ['a followee is back-filled, an earlier post delivered', filled, work, work],
      ['a followee is back-filled by two workers', follow(), work, takeOver],
      ['a former followee is removed and followed again', cleared, work, follows],
      [
        'a former followee is removed by two workers and followed again',
        cleared,
        work,
        all(takeOver, follows),
      ],
      ['a follow commits, a post is delivered', post(author), follow(), work],
      ['a post commits, a followee is back-filled', follow(), post(author), work],
      ['a post commits, a cache is made', made, post(author), readCache],
    ]),
  )('%s', everywhere('stored'), timeOfCases(60_000))
})

const twice = all(readInbox, readRight)
const register = async (main: Services) => {
  await registerStrategies(main, feeds.inbox.maintained)
  await work(main)
}
const abe = handle('abe')
const joins = all(
  ({ users }) => users.create(abe, { ...namesOf(abe), name: 'Abe' }),
  follow(abe),
  follow(),
  posted,
)
const many: Step = async ({ collections: { posts } }) => {
  const ids = Array.from({ length: 501 }, (_, n) => timeIdAt<PostId>(1.1e12 + n, '0'.repeat(12)))
  await posts.insertMany(ids.map((id) => ({ _id: toObjectId(id), author, text: 'old' })))
}
const long = all(unfollow(fan), work, many, cleared)
const leaves: Step = async ({ users, collections }) => {
  await users.delete(reader)
  await settleDeletions(collections)
}

describe('under INBOX', () => {
  test.each(
    share<Row>(1, [
      ['pages are read while their strategy is dropped', all(delivered, work), twice, drop],
      ['a strategy is registered, a post delivered', drop, register, posted],
      ['a strategy is registered, an account is created', drop, register, joins],
      ['a strategy is registered by two', drop, register, register],
      ['a post is delivered, a strategy registered', all(drop, delivered), work, register],
      ['a post commits, a strategy is registered', all(drop, follows), post(author), register],
      ['a followee is back-filled, a strategy registered', all(drop, follow()), work, register],
      [
        'many posts of a former followee are removed by two workers, the edge begins again',
        long,
        work,
        all(takeOver, follows),
      ],
      ['an account is purged by two workers', leaves, work, takeOver],
    ]),
  )('%s', everywhere('inbox'), timeOfCases(60_000))
})

import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import type { FollowingMode } from '../../src/config.ts'
import type { Collections } from '../../src/db/collections.ts'
import { readConfig } from '../../src/environment.ts'
import type { Restrictions } from '../../src/follows/restrictions.ts'
import { Worker } from '../../src/jobs/worker.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { createServices, type ServiceConfig, type Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import type { StoredTimelines } from '../../src/timeline/strategies/strategy.ts'
import type { Subject } from '../../src/users/subject.ts'
import { subjectKey } from '../../src/users/subjects.ts'
import { FollowAdmission } from '../../src/visibility/visibility.ts'
import { sameLimits } from './engagement.ts'
import { keepMemory } from './memory.ts'
import { type TestDatabase, useDatabase } from './mongo.ts'

/** A clock that rises with every read, is never behind the real clock, and can be advanced. */
export interface TestClock {
  readonly now: () => number
  readonly advance: (ms: number) => void
}

/** The services over the test file's own database. */
export interface ServicesHarness {
  readonly database: TestDatabase
  readonly services: Services
  readonly clock: TestClock
  readonly following: FollowingMode
  /**
   * Runs every job to its end, also jobs that back off.
   * @throws if a job does not succeed.
   */
  readonly rest: () => Promise<void>
}

/** Gives a test file all services over a fresh database. Its fields are set when hooks run. */
export function useServices(
  following: FollowingMode = 'collection',
  engagement = sameLimits({ threshold: 3, capacity: 2 }),
  feed: Partial<ServiceConfig['feed']> = {},
): ServicesHarness {
  const database = useDatabase(following)
  const clock = testClock()
  let built: Services | undefined
  beforeAll(async () => {
    built = servicesOver(database, clock, engagement, following, feed)
    await registerStrategies(built, feed.maintained ?? [])
    await keepMemory(built)
  })
  afterAll(() => built?.memory.close())
  const current = (): Services => {
    if (!built) throw new Error('the services are there from beforeAll on')
    return built
  }
  return {
    database,
    clock,
    following,
    get services() {
      return current()
    },
    rest: () => drain(current()),
  }
}

/** More services over a test's database, like another process. */
export function servicesOver(
  { client, db }: Pick<TestDatabase, 'client' | 'db'>,
  clock: TestClock,
  engagement: ServiceConfig['engagement'],
  following: FollowingMode = 'collection',
  feed: Partial<ServiceConfig['feed']> = {},
): Services {
  const { followeesMax, users, feed: standard } = readConfig({})
  const config = { following, followeesMax, users, feed: { ...standard, ...feed } }
  const posts = { blockedWords: [], validatorModules: [] }
  return createServices(client, db, { ...config, posts, engagement }, { now: clock.now })
}

export function testClock(): TestClock {
  let last = 0
  let ahead = 0
  return {
    now: () => {
      last = Math.max(last + 1, Date.now() + ahead)
      return last
    },
    advance: (ms) => {
      ahead += ms
    },
  }
}

/** A clock that only reads and steps move, so that a busy machine delays nothing. */
export function virtualClock(): TestClock {
  let at = Date.now()
  return {
    now: () => ++at,
    advance: (ms) => {
      at += ms
    },
  }
}

/**
 * Runs every job to its end, also jobs that back off, as if the last writes of deleted accounts
 * were settled, and the transactions that know no strategy. Removed accounts keep no subject.
 * @throws if a job does not succeed.
 */
export async function drain(services: Services): Promise<void> {
  await settleDeletions(services.collections)
  await settleRegistrations(services.collections)
  const left = await runJobs(services)
  if (left) throw new Error(`a job is left: ${left.error ?? left.kind}`)
  const { subjects } = services.collections
  await subjects.updateMany({ until: { $exists: true } }, { $set: { until: new Date(0) } })
}

/**
 * Runs jobs, also those that back off. @returns a job that waits for time to pass, or that failed.
 */
export async function runJobs({ collections: { outbox }, queue, tasks }: Services) {
  const options = { concurrency: 4, pollMs: 20, leaseMs: 30_000 }
  await outbox.updateMany({ state: 'READY' }, { $set: { runAt: new Date(0) } })
  await new Worker(queue, tasks, pino({ level: 'silent' }), options).drain()
  return outbox.findOne({})
}

/** Makes the writes of deleted accounts settled, as if they were deleted long ago. */
export const settleDeletions = ({ users }: Pick<Collections, 'users'>) =>
  users.updateMany(
    { deletedAt: { $exists: true } },
    { $set: { deletedAt: new Date(0), settlesAt: new Date(0) } },
  )

/** Lets back-fills begin, as if no transaction were open that does not know the strategy. */
export const settleRegistrations = ({ strategies }: Pick<Collections, 'strategies'>) =>
  strategies.updateMany({ settlesAt: { $exists: true } }, { $set: { settlesAt: new Date(0) } })

/**
 * The id of an account from a literal. Those that tests open with an id have it as handle and
 * subject too.
 */
export const handle = (name: string): UserId => name as UserId

/** The subject of `Dev` tokens. */
export const subjectOf = (sub: string): Subject => ({ issuer: '', sub, isMain: true })

/** The key of the subject of an account that a test opened with an id. */
export const keyOf = (id: string): string => subjectKey(subjectOf(id))

/** The names of an account that a test opens with an id. */
export const namesOf = (id: UserId) => ({
  handle: id as string as Handle,
  subject: subjectOf(id),
})

/** The names in the document of an account that a test stores with an id. */
export const storedNames = (id: string) => ({ handle: id, subject: keyOf(id) })

/** Access to the stored form of a strategy under its current registration, as deliveries use it. */
export async function storeOf(
  { registry, delivery }: Pick<Services, 'registry' | 'delivery'>,
  name: MaterialisedName,
): Promise<StoredTimelines> {
  const registration = (await registry.read()).get(name)
  if (!registration) throw new Error(`${name} is not registered`)
  return delivery.openTimeline(registration)
}

/** Opens accounts in bulk, without posts. */
export async function openAccounts({ collections }: Services, ids: readonly UserId[]) {
  const createdAt = new Date()
  await collections.users.insertMany(
    ids.map((_id) => ({ _id, ...storedNames(_id), name: _id, createdAt })),
  )
  const names = (_id: string, account: UserId) => ({
    replaceOne: { filter: { _id }, replacement: { account }, upsert: true },
  })
  await collections.handles.bulkWrite(ids.map((id) => names(id, id)))
  await collections.subjects.bulkWrite(ids.map((id) => names(keyOf(id), id)))
  const zero = { followers: 0, following: 0, posts: 0 }
  await collections.user_stats.insertMany(ids.map((_id) => ({ _id, ...zero })))
}

/**
 * The violations of law L3 by users whose handles begin with `prefix`. Call it when no job is left.
 */
export async function problemsOf({ services, following }: ServicesHarness, prefix: string) {
  const { users, user_stats, followers, following: ahead, ...more } = services.collections
  const mine = new RegExp(`^${prefix}`)
  const pairs = new Set<string>()
  for (const { user, follower } of await followers.find({ user: mine }).toArray()) {
    pairs.add(`${follower}>${user}`)
  }
  const mirrored = new Set<string>()
  for (const { user, followee } of await ahead.find({ user: mine }).toArray()) {
    mirrored.add(`${user}>${followee}`)
  }
  const problems: string[] = []
  const claim = (holds: boolean, problem: string) => void (holds || problems.push(problem))

  const mirror = following === 'collection' ? pairs : new Set<string>()
  claim(equal(mirror, mirrored), `sides differ: ${[...pairs]} | ${[...mirrored]}`)

  const live = new Set<string>()
  for (const { _id } of await users.find({ _id: mine }).toArray()) live.add(_id)
  const counted = await user_stats.find({ _id: mine }).toArray()
  claim(equal(live, new Set(counted.map(({ _id }) => _id))), 'accounts and counters differ')
  for (const stats of counted) {
    const ends = [...pairs].map((pair) => pair.split('>'))
    const found = {
      followers: ends.filter(([, to]) => to === stats._id).length,
      following: ends.filter(([from]) => from === stats._id).length,
      posts: await more.posts.countDocuments({ author: stats._id }),
    }
    for (const name of ['followers', 'following', 'posts'] as const) {
      const [counts, holds] = [stats[name], found[name]]
      claim(counts === holds, `${stats._id}.${name} counts ${counts}, stored ${holds}`)
    }
  }
  for (const pair of pairs) {
    const [from = '', to = ''] = pair.split('>')
    claim(live.has(from) && live.has(to), `edge of a deleted user: ${pair}`)
  }
  const kinds = { $in: ['BLOCK', 'BLOCKED_BY'] as ('BLOCK' | 'BLOCKED_BY')[] }
  for (const { owner, other } of await more.restrictions
    .find({ owner: mine, kind: kinds })
    .toArray()) {
    claim(!pairs.has(`${owner}>${other}`), `edge across a block: ${owner}>${other}`)
  }
  const last = new Map<string, string>()
  const events = more.follow_events.find({ user: mine }).sort({ _id: 1 })
  for await (const { user, followee, type } of events) {
    const pair = `${user}>${followee}`
    claim((last.get(pair) ?? 'UNFOLLOWED') !== type, `${pair} twice ${type}`)
    last.set(pair, type)
  }
  const derived = [...last].filter(([, type]) => type === 'FOLLOWED').map(([pair]) => pair)
  claim(equal(new Set(derived), pairs), `history says ${derived}, edges say ${[...pairs]}`)
  return problems
}

const equal = (a: Set<string>, b: Set<string>) => a.size === b.size && [...a].every((x) => b.has(x))

/** Which users viewers may follow, with restrictions of a test's own. */
export const admissionWith = ({ stats }: Services, restrictions: Restrictions) =>
  new FollowAdmission({
    live: (users, tx) => stats.liveAmong(users, tx),
    restrictions: (pairs, tx) => restrictions.restrictionsBetween(pairs, tx),
  })

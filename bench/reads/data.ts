import { applyIndexes } from '../../src/db/indexes.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import {
  type BenchDatabase,
  copyCollections,
  openBenchDatabase,
  openServices,
} from '../database.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import { runDueJobs } from '../feeds/feeds-database.ts'
import { followeesOf, type Graph } from '../feeds/graph.ts'
import { waitForEmptyOutbox } from '../feeds/mixed-workload-systems.ts'
import { type BenchOptions, sizeOf } from '../options.ts'

/** The strategies whose pages are measured. */
export const readStrategies = ['CACHE', 'INBOX'] as const
export type ReadStrategy = (typeof readStrategies)[number]

/** The strategy of a server or of services. Entries hold what they hold by default. */
export const strategyEnv = (strategy: ReadStrategy) => ({
  FEED_STRATEGY: strategy,
  FEED_MAINTAINED: strategy,
})

/** Who takes part in the loads. All but the composers have more than a page. */
export interface Audience {
  /** Followed by all readers. Adds the posts that change the readers' timelines. */
  readonly hub: UserId
  /** Readers whose pages are repeated, changed and polled. */
  readonly readers: readonly UserId[]
  /** Other readers, who ask only for first visits and in mixes. */
  readonly visitors: readonly UserId[]
  /** Users with about forty followers. */
  readonly composers: readonly UserId[]
}

/** The picture of a user. */
export const avatarOf = (handle: string): string => `https://images.example/avatars/${handle}.jpg`

/** Storing the contents takes longer than a request may. */
const clientOptions = { socketTimeoutMS: 60_000 } as const

const readersMax = 256
const touchedReaders = 8
const likingReaders = 32
const likesPerReader = 10
/** A user with as many followees has more than a page. In the smallest graph each follows forty. */
const postsPerUser = 8
const fewestPosts = 2
const composersMax = 64
const [leastFollowers, mostFollowers] = [35, 45]
const pageSize = 50

/** Selects readers among the followers of the most followed user, and users with about forty followers. */
function selectAudience({ users, followers }: Graph): Audience {
  const countOf = (user: UserId) => followers.get(user)?.length ?? 0
  const [hub] = users.toSorted((a, b) => countOf(b) - countOf(a))
  if (hub === undefined) throw new Error('the graph has no users')
  // A user with eight followees has more than a page.
  const hasPage = (user: UserId) => countOf(user) > postsPerUser
  const readers = (followers.get(hub) ?? []).filter(hasPage).slice(0, readersMax)
  const composers = users.filter(
    (user) => countOf(user) >= leastFollowers && countOf(user) <= mostFollowers,
  )
  // A deleted followee or an unfollowed one leaves more than a page.
  const visitors = users.filter((user) => user !== hub && countOf(user) > postsPerUser + 4)
  const others = visitors.filter((user) => !readers.includes(user))
  return { hub, readers, visitors: others, composers: composers.slice(0, composersMax) }
}

const avatarUrlOfId = { $concat: [avatarOf('').replace('.jpg', ''), '$_id', '.jpg'] }

/** The database of each strategy, with the same contents. */
export interface ReadsData extends AsyncDisposable {
  readonly databases: Readonly<Record<ReadStrategy, BenchDatabase>>
  readonly audience: Audience
}

/**
 * Stores the graph with eight posts per user, display names and likes. Then some readers unfollow, mute and block
 * followees, are blocked, and a followee of many deletes the account.
 */
export async function openReadsData(graph: Graph, options: BenchOptions): Promise<ReadsData> {
  const { log } = options
  const first = await openBenchDatabase(log, strategyEnv('CACHE'), clientOptions)
  try {
    log(`storing ${graph.name}: ${graph.users.length} users`)
    await storeGraph(first, graph)
    await first.services.collections.users.updateMany({}, [
      { $set: { name: { $concat: ['The name of ', '$_id'] }, avatarUrl: avatarUrlOfId } },
    ])
    await storePosts(first, graph.users, sizeOf(options, postsPerUser, fewestPosts))
    const audience = selectAudience(graph)
    log('changing relations and liking posts')
    await likePosts(first, audience.readers.slice(0, likingReaders))
    const deleted = await changeRelations(first, graph, audience)
    const withoutDeleted = (users: readonly UserId[]) => users.filter((user) => user !== deleted)
    const second = await copyDatabase(first)
    const databases = { CACHE: first, INBOX: second }
    for (const strategy of readStrategies) {
      log(`filling the timelines of ${strategy}`)
      const { services } = databases[strategy]
      await services.registrations.register(strategy, services.configured[strategy])
      await runDueJobs(services)
    }
    return {
      databases,
      audience: {
        hub: audience.hub,
        readers: withoutDeleted(audience.readers),
        visitors: withoutDeleted(audience.visitors),
        composers: withoutDeleted(audience.composers),
      },
      [Symbol.asyncDispose]: async () => {
        await second[Symbol.asyncDispose]()
        await first[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await first[Symbol.asyncDispose]()
    throw error
  }
}

/** Reads the first page of a reader with fan-out on read. */
export async function readNewestPosts({ services }: BenchDatabase, reader: UserId) {
  const window = { limit: pageSize, backward: false } as const
  const request = { window, strategy: 'FANOUT_ON_READ', projection: 'text' } as const
  return (await services.feed.timeline(reader, request)).items.map(({ post }) => post)
}

/** Each reader likes some of the newest posts in the own timeline. */
async function likePosts(database: BenchDatabase, readers: readonly UserId[]): Promise<void> {
  for (const reader of readers) {
    const posts: readonly PostRef[] = await readNewestPosts(database, reader)
    const { engagements } = database.services
    await Promise.all(
      posts
        .slice(0, likesPerReader)
        .map(({ id, author }) => engagements.add('likes', reader, { id, author })),
    )
  }
}

/** @returns the user who deleted the account. */
async function changeRelations(
  { services }: BenchDatabase,
  graph: Graph,
  { hub, readers }: Audience,
): Promise<UserId> {
  const followees = followeesOf(graph)
  const touched = readers.slice(0, touchedReaders)
  const deleted = followees.get(readers[touchedReaders] ?? hub)?.find((user) => user !== hub)
  if (deleted === undefined) throw new Error('the graph has too few readers')
  for (const reader of touched) {
    const others = (followees.get(reader) ?? []).filter((user) => user !== hub && user !== deleted)
    const [muted, blocked, blocker, unfollowed] = others.slice(-4)
    if (!muted || !blocked || !blocker || !unfollowed) continue
    await services.restrictions.mute(reader, muted)
    await services.restrictions.block(reader, blocked)
    await services.restrictions.block(blocker, reader)
    await services.follows.unfollow(reader, unfollowed)
  }
  await services.users.delete(deleted)
  // Without the jobs, the posts of the deleted account stay, and each page must leave them out.
  await services.collections.outbox.deleteMany({})
  return deleted
}

/** Copies all collections into a second database of the same server. */
async function copyDatabase({ uri, db }: BenchDatabase): Promise<BenchDatabase> {
  const name = `${db.databaseName}_inbox`
  const names = (await db.listCollections().toArray())
    .filter(({ name: coll, type }) => type === 'collection' && !coll.startsWith('system.'))
    .map(({ name: coll }) => coll)
  await copyCollections(
    db,
    name,
    names.filter((coll) => coll !== 'inbox'),
  )
  const opened = await openServices(uri, name, strategyEnv('INBOX'), clientOptions)
  await applyIndexes(opened.db, 'collection')
  return {
    ...{ uri, ...opened },
    [Symbol.asyncDispose]: async () => {
      await opened.db.dropDatabase()
      await opened.client.close()
    },
  }
}

/** Creates a post by the services, and returns its id when all deliveries have ended. */
export async function addPost(
  { services }: BenchDatabase,
  author: UserId,
  text: string,
): Promise<string> {
  const { id } = await services.posts.create(author, { text })
  await runDueJobs(services)
  await waitForEmptyOutbox(services)
  return id
}

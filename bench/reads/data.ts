import { applyIndexes } from '../../src/db/indexes.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { type FeedStrategyName, isMaterialised } from '../../src/timeline/strategies/list.ts'
import {
  type BenchDatabase,
  copyCollections,
  openBenchDatabase,
  openServices,
} from '../database.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import { collectionNames, runDueJobs } from '../feeds/feeds-database.ts'
import { followeesOf, type Graph } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { type Audience, addAudience, type Subjects } from './audience.ts'
import { pageSize } from './side.ts'

/** The strategy of a server or of services. Entries hold what they hold by default. */
export const strategyEnv = (strategy: FeedStrategyName) => ({
  FEED_STRATEGY: strategy,
  FEED_MAINTAINED: strategy,
})

/** The picture of a user. */
export const avatarOf = (handle: string): string => `https://images.example/avatars/${handle}.jpg`

/** Storing the contents takes longer than a request may. */
const clientOptions = { socketTimeoutMS: 60_000 } as const

const touchedReaders = 8
const likingReaders = 32
const likesPerReader = 10
/** So a page is full for readers with two followees and the hub. */
const [postsPerUser, fewestPosts] = [13, 2]

const avatarUrlOfId = { $concat: [avatarOf('').replace('.jpg', ''), '$_id', '.jpg'] }

/** The database of each strategy, with the same contents. */
export interface ReadsData {
  readonly databases: ReadonlyMap<FeedStrategyName, BenchDatabase>
  /** A database with the contents. */
  readonly first: BenchDatabase
  /** The follows at the time of the stored posts. */
  readonly graph: Graph
  readonly audience: Audience & Subjects
}

/**
 * Stores people and the audience with posts, display names and likes. Then some readers unfollow,
 * mute and block followees, are blocked, and a followee deletes the account.
 * @param opened gets the databases.
 */
export async function openReadsData(
  people: Graph,
  strategies: readonly FeedStrategyName[],
  options: BenchOptions,
  opened: AsyncDisposable[],
): Promise<ReadsData> {
  const { log } = options
  const sizes = {
    ...{ crowd: sizeOf(options, 2_000, 100), speakers: sizeOf(options, 16, 4) },
    each: sizeOf(options, 24, 2),
  }
  const { graph, audience } = addAudience(people, sizes)
  const [firstStrategy = 'FANOUT_ON_READ', ...others] = strategies
  const first = await openBenchDatabase(log, strategyEnv(firstStrategy), clientOptions)
  opened.push(first)
  log(`storing ${graph.name}: ${people.users.length} readers of ${graph.users.length} users`)
  await storeGraph(first, graph)
  await first.services.collections.users.updateMany({}, [
    { $set: { name: { $concat: ['The name of ', '$_id'] }, avatarUrl: avatarUrlOfId } },
  ])
  const authors = [...people.users, audience.hub]
  const posts = await storePosts(first, authors, sizeOf(options, postsPerUser, fewestPosts))
  log('changing relations and liking posts')
  await likePosts(first, audience.readers.slice(0, likingReaders))
  const deleted = await changeRelations(first, graph, audience)
  const databases = new Map([[firstStrategy, first]])
  for (const strategy of others) {
    const copy = await copyDatabase(first, strategy)
    opened.push(copy)
    databases.set(strategy, copy)
  }
  for (const [strategy, { services }] of databases) {
    if (!isMaterialised(strategy)) continue
    log(`filling the timelines of ${strategy}`)
    await services.registrations.register(strategy, services.configured[strategy])
    await runDueJobs(services)
  }
  const withoutDeleted = (users: readonly UserId[]) => users.filter((user) => user !== deleted)
  const untouched = new Set(withoutDeleted(audience.readers.slice(likingReaders)))
  return {
    ...{ databases, first, graph },
    audience: {
      ...audience,
      readers: withoutDeleted(audience.readers),
      composers: withoutDeleted(audience.composers),
      likers: [...untouched],
      posts: posts
        .map(({ _id, author }) => ({
          id: _id.toHexString() as PostId,
          author: author as UserId,
        }))
        .filter(({ author }) => untouched.has(author)),
      followees: [...untouched],
    },
  }
}

/** Each reader likes some of the newest posts in the own timeline. */
async function likePosts({ services }: BenchDatabase, readers: readonly UserId[]): Promise<void> {
  const window = { limit: pageSize, backward: false } as const
  const request = { window, strategy: 'FANOUT_ON_READ', projection: 'text' } as const
  for (const reader of readers) {
    const { items } = await services.feed.timeline(reader, request)
    await Promise.all(
      items
        .slice(0, likesPerReader)
        .map(({ post: { id, author } }) =>
          services.engagements.add('likes', reader, { id, author }),
        ),
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

/** Copies all collections but stored timelines into another database of the same server. */
async function copyDatabase(
  { uri, db }: BenchDatabase,
  strategy: FeedStrategyName,
): Promise<BenchDatabase> {
  const name = `${db.databaseName}_${strategy.toLowerCase()}`
  const timelines: readonly string[] = Object.values(collectionNames)
  const names = (await db.listCollections().toArray())
    .filter(({ name: coll, type }) => type === 'collection' && !coll.startsWith('system.'))
    .map(({ name: coll }) => coll)
  await copyCollections(
    db,
    name,
    names.filter((coll) => !timelines.includes(coll)),
  )
  const opened = await openServices(uri, name, strategyEnv(strategy), clientOptions)
  await applyIndexes(opened.db, 'collection')
  return {
    ...{ uri, ...opened },
    [Symbol.asyncDispose]: async () => {
      await opened.db.dropDatabase()
      await opened.client.close()
    },
  }
}

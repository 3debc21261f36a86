import { connect } from '../../src/db/client.ts'
import { openCollections, type PostDoc } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import { type EdgeId, type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { followeesOf, type Graph } from './graph.ts'

const graphBegan = Date.UTC(2024, 0, 1)
const dayMs = 86_400_000
/** Over how long the posts that are there before a measurement were written. */
const historyMs = 60 * dayMs

/** What posts and messages say: a line of 80 characters. */
export const textOf = (at: number): string =>
  `Post ${at}: the morning was cold and the coffee was good, so we stayed a while.`.padEnd(80, '.')

/** Writes a graph in bulk, with counters that agree (law L3), into a database that holds no other. */
export async function storeGraph(database: BenchDatabase, graph: Graph): Promise<void> {
  await using bulk = await openBulk(database)
  const { collections, db } = bulk
  const { people, followers } = graph
  const followees = followeesOf(graph)
  const createdAt = new Date(graphBegan)
  await insert(collections.users, people, (_id) => ({ _id, createdAt }))
  await insert(collections.user_stats, people, (_id) => ({
    _id,
    followers: followers.get(_id)?.length ?? 0,
    following: followees.get(_id)?.length ?? 0,
    posts: 0,
  }))
  // Indexes built at the end cost a quarter of those kept up all along.
  await Promise.all([collections.followers.dropIndexes(), collections.following.dropIndexes()])
  const edges = edgesOf(graph)
  const source = 'IMPORT' as const
  await insert(collections.followers, edges, ({ _id, follower, followee }) => ({
    ...{ _id, user: followee, follower, source },
  }))
  await insert(collections.following, edges, ({ _id, follower, followee }) => ({
    ...{ _id, user: follower, followee, source },
  }))
  await applyIndexes(db, 'collection')
}

/** How many posts were stored so far: no two get one id. */
let stored = 0

/** Writes so many posts of each, one person after the other in turn, over the last 60 days. */
export async function storePosts(
  database: BenchDatabase,
  authors: readonly UserId[],
  each: number,
): Promise<PostDoc[]> {
  await using bulk = await openBulk(database)
  const { collections } = bulk
  const total = authors.length * each
  const began = Date.now() - historyMs
  const first = stored
  stored += total
  const docs = Array.from({ length: total }, (_, at) => ({
    _id: toObjectId(idAt<PostId>(began + (at * (historyMs - dayMs / 24)) / total, first + at)),
    author: authors[at % authors.length] as UserId,
    text: textOf(at),
  }))
  await insert(collections.posts, docs, (doc) => doc)
  for (const some of chunks(authors, 10_000)) {
    await collections.user_stats.updateMany({ _id: { $in: [...some] } }, { $inc: { posts: each } })
  }
  return docs
}

/** A client that waits for long commands. */
async function openBulk({ uri, db: { databaseName } }: BenchDatabase) {
  const client = await connect(uri, 'bulk')
  const db = client.db(databaseName)
  const close = () => client.close()
  return { db, collections: openCollections(db), [Symbol.asyncDispose]: close }
}

function edgesOf({ followers }: Graph) {
  let at = 0
  return [...followers].flatMap(([followee, all]) =>
    all.map((follower) => {
      const _id = toObjectId(idAt<EdgeId>(graphBegan + at, at++))
      return { _id, follower, followee }
    }),
  )
}

const idAt = <Id extends EdgeId | PostId>(atMs: number, at: number): Id =>
  timeIdAt<Id>(Math.floor(atMs), at.toString(16).padStart(12, '0'))

interface Inserting<D> {
  insertMany(docs: D[], options: object): Promise<unknown>
}

/** In batches of 5,000, four at a time. */
export async function insert<T, D>(
  collection: Inserting<D>,
  items: readonly T[],
  toDoc: (item: T) => D,
): Promise<void> {
  const writing = new Set<Promise<unknown>>()
  for (const batch of chunks(items, 5_000)) {
    const write = collection
      .insertMany(batch.map(toDoc), { ordered: false, writeConcern: { w: 1 } })
      .finally(() => writing.delete(write))
    writing.add(write)
    if (writing.size >= 4) await Promise.race(writing)
  }
  await Promise.all(writing)
}

/** Old posts that there never were, oldest first, as many as fill a cache of ours: a page, and one to tell what follows. */
export const fillerPosts: readonly PostDoc[] = Array.from({ length: 51 }, (_, at) => ({
  _id: toObjectId(idAt<PostId>(graphBegan + at, at)),
  author: 'nobody',
  text: textOf(at),
}))

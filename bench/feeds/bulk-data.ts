import { connect } from '../../src/db/client.ts'
import { type Collections, openCollections, type PostDoc } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import { type EdgeId, type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { subjectKey } from '../../src/users/subjects.ts'
import type { BenchDatabase } from '../database.ts'
import { followeesOf, type Graph } from './graph.ts'

const graphCreatedMs = Date.UTC(2024, 0, 1)
const dayMs = 86_400_000
/** The time between the oldest stored post and now, in milliseconds. */
const historyMs = 60 * dayMs

/** The text of a post: 80 characters. */
export const postText = (at: number): string =>
  `Post ${at}: the morning was cold and the coffee was good, so we stayed a while.`.padEnd(80, '.')

/** A follow with the id that says when it began. */
type StoredFollow = ReturnType<typeof listEdges>[number]

/**
 * Inserts a graph with correct counters (law L3) into a database without users.
 * @param edges the follows of the graph. Default: those of one followee began after those of
 *   another.
 */
export async function storeGraph(
  database: BenchDatabase,
  graph: Graph,
  edges: readonly StoredFollow[] = listEdges(graph),
): Promise<void> {
  await using bulk = await openBulkClient(database)
  const { collections, db } = bulk
  const { users, followers } = graph
  const followees = followeesOf(graph)
  const createdAt = new Date(graphCreatedMs)
  await storeAccounts(collections, users, createdAt)
  await insertInBatches(collections.user_stats, users, (_id) => ({
    _id,
    followers: followers.get(_id)?.length ?? 0,
    following: followees.get(_id)?.length ?? 0,
    posts: 0,
  }))
  // Building the indexes at the end takes a quarter of the time.
  await Promise.all([collections.followers.dropIndexes(), collections.following.dropIndexes()])
  const source = 'IMPORT' as const
  await insertInBatches(collections.followers, edges, ({ _id, follower, followee }) => ({
    ...{ _id, user: followee, follower, source },
  }))
  await insertInBatches(collections.following, edges, ({ _id, follower, followee }) => ({
    ...{ _id, user: follower, followee, source },
  }))
  await applyIndexes(db, 'collection')
}

/** Stores accounts without their counters. Handle, `sub` and name of each are its id. */
export async function storeAccounts(
  { users, handles, subjects }: Pick<Collections, 'users' | 'handles' | 'subjects'>,
  ids: readonly UserId[],
  createdAt: Date,
): Promise<void> {
  const subjectOf = (id: UserId) => subjectKey({ issuer: '', sub: id })
  await insertInBatches(users, ids, (_id) => {
    return { _id, handle: _id, subject: subjectOf(_id), name: _id, createdAt }
  })
  await insertInBatches(handles, ids, (account) => ({ _id: account, account }))
  await insertInBatches(subjects, ids, (account) => ({ _id: subjectOf(account), account }))
}

/** The number of posts that this process has stored. It makes all ids unique. */
let storedPosts = 0

/**
 * Inserts posts of all authors in turn, dated over the last 60 days. Adds them to the authors'
 * counters.
 */
export async function storePosts(
  database: BenchDatabase,
  authors: readonly UserId[],
  postsPerAuthor: number,
): Promise<PostDoc[]> {
  await using bulk = await openBulkClient(database)
  const { collections } = bulk
  const total = authors.length * postsPerAuthor
  const historyStartMs = Date.now() - historyMs
  const first = storedPosts
  storedPosts += total
  const docs = Array.from({ length: total }, (_, at) => ({
    _id: toObjectId(
      createIdAt<PostId>(historyStartMs + (at * (historyMs - dayMs / 24)) / total, first + at),
    ),
    author: authors[at % authors.length] as UserId,
    text: postText(at),
  }))
  await insertInBatches(collections.posts, docs, (doc) => doc)
  for (const batch of chunks(authors, 10_000)) {
    await collections.user_stats.updateMany(
      { _id: { $in: [...batch] } },
      { $inc: { posts: postsPerAuthor } },
    )
  }
  return docs
}

/** Opens a client that allows long commands. */
async function openBulkClient({ uri, db: { databaseName } }: BenchDatabase) {
  const client = await connect(uri, 'bulk')
  const db = client.db(databaseName)
  const close = () => client.close()
  return { db, collections: openCollections(db), [Symbol.asyncDispose]: close }
}

/** The follows of a graph, followee by followee, oldest first. */
export function listEdges({ followers }: Graph) {
  let at = 0
  return [...followers].flatMap(([followee, all]) =>
    all.map((follower) => {
      const _id = toObjectId(createIdAt<EdgeId>(graphCreatedMs + at, at++))
      return { _id, follower, followee }
    }),
  )
}

const createIdAt = <Id extends EdgeId | PostId>(atMs: number, at: number): Id =>
  timeIdAt<Id>(Math.floor(atMs), at.toString(16).padStart(12, '0'))

interface InsertTarget<D> {
  insertMany(docs: D[], options: object): Promise<unknown>
}

/** Inserts documents in batches of 5,000, with four concurrent batches. */
export async function insertInBatches<T, D>(
  collection: InsertTarget<D>,
  items: readonly T[],
  toDoc: (item: T) => D,
): Promise<void> {
  const running = new Set<Promise<unknown>>()
  for (const batch of chunks(items, 5_000)) {
    const write = collection
      .insertMany(batch.map(toDoc), { ordered: false, writeConcern: { w: 1 } })
      .finally(() => running.delete(write))
    running.add(write)
    if (running.size >= 4) await Promise.race(running)
  }
  await Promise.all(running)
}

/**
 * Entries without posts, oldest first, that fill a cache of Feedline: a page of 50, and one more
 * entry for `hasNextPage`.
 */
export const fillerPosts: readonly PostDoc[] = Array.from({ length: 51 }, (_, at) => ({
  _id: toObjectId(createIdAt<PostId>(graphCreatedMs + at, at)),
  author: 'filler',
  text: postText(at),
}))

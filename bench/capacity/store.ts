import { shuffled } from '../../packages/drive/random.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import { type EdgeId, type PostId, type PostRef, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { insertInBatches, storeAccounts } from '../feeds/bulk-data.ts'
import { countEdges, type NumberedGraph } from './graphs.ts'
import { syntheticPosts } from './synthetic-posts.ts'

const graphCreatedMs = Date.UTC(2024, 0, 1)
const hourMs = 3_600_000

/**
 * Stores a graph as follows would have: edges in random order, with their history, into collections
 * that have all their indexes. Correct counters (law L3).
 */
export async function storeGraph(
  { services: { collections } }: BenchDatabase,
  graph: NumberedGraph,
  log: (line: string) => void,
): Promise<void> {
  const { users, edges } = graph
  log(`${graph.name}: storing ${users.length} users and ${edges.length} edges`)
  const [followers, followees] = [countEdges(graph, 'followers'), countEdges(graph, 'followees')]
  const createdAt = new Date(graphCreatedMs)
  const order = [...shuffled(users.length, 1, 1)]
  await storeAccounts(
    collections,
    order.map((at) => users[at] as UserId),
    createdAt,
  )
  await insertInBatches(collections.user_stats, order, (at) => ({
    _id: users[at] as UserId,
    followers: followers[at] ?? 0,
    following: followees[at] ?? 0,
    posts: 0,
  }))
  const source = 'IMPORT' as const
  let done = 0
  for (const part of chunks([...shuffled(edges.length, 1, 2)], 100_000)) {
    const rows = part.map((at) => {
      const [follower, followee] = (edges[at] as NumberedGraph['edges'][number]).map(
        (user) => users[user] as UserId,
      ) as [UserId, UserId]
      const tail = done.toString(16).padStart(12, '0')
      return {
        ...{ _id: toObjectId(timeIdAt<EdgeId>(graphCreatedMs + done++, tail)), follower, followee },
      }
    })
    await Promise.all([
      insertInBatches(collections.followers, rows, ({ _id, follower, followee }) => {
        return { _id, user: followee, follower, source }
      }),
      insertInBatches(collections.following, rows, ({ _id, follower, followee }) => {
        return { _id, user: follower, followee, source }
      }),
      insertInBatches(collections.follow_events, rows, ({ _id, follower: user, followee }) => {
        return { _id, user, followee, type: 'FOLLOWED' as const, source, at: createdAt }
      }),
    ])
    log(`${graph.name}: ${done} of ${edges.length} edges`)
  }
}

/**
 * Stores the same number of posts for each author, with texts of three to twelve words. @returns
 * them, oldest first.
 */
export async function storeHistory(
  { services: { collections } }: BenchDatabase,
  authors: readonly UserId[],
  postsEach: number,
): Promise<PostRef[]> {
  const total = authors.length * postsEach
  const untilMs = Date.now() - hourMs
  const docs = syntheticPosts(total, 1, untilMs).map(({ index, text, atMs }) => ({
    _id: toObjectId(timeIdAt<PostId>(atMs, index.toString(16).padStart(12, '0'))),
    author: authors[index % authors.length] as UserId,
    text,
    facets: [],
  }))
  await insertInBatches(collections.posts, docs, (doc) => doc)
  for (const batch of chunks(authors, 10_000)) {
    const ids = [...batch]
    await collections.user_stats.updateMany({ _id: { $in: ids } }, { $inc: { posts: postsEach } })
  }
  return docs.map(({ _id, author }) => ({ id: _id.toHexString() as PostId, author }))
}

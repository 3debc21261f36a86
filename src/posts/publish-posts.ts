import type { Collections, PostDoc, QueueName } from '../db/collections.ts'
import { type FirstResult, findRepeats, type IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type UserStats } from '../users/stats.ts'
import type { Content } from './content.ts'
import { type Post, toPost, toPostDoc } from './post.ts'

/** Number of followers above which the jobs of a post are BULK jobs. */
const bulkAudience = 2_000

/** The queue of the jobs that walk the followers of an author. */
export const queueFor = ({ followers }: Pick<Stats, 'followers'>): QueueName =>
  followers > bulkAudience ? 'BULK' : 'QUICK'

/** A post before it is published. */
export interface NewPost {
  readonly author: UserId
  readonly content: Content
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** What the job of a new post knows beyond its payload, while its transaction is open. */
export interface KnownPost {
  readonly text: string
  /** The number of the author's followers. */
  readonly followers: number
}

/** A repeat of an earlier mutation has only the reference of the post, which may be deleted. */
export type Published = Post | FirstResult<Post>

/** What posts are published with. */
export interface PublishingParts {
  readonly collections: Pick<Collections, 'posts'>
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
}

/**
 * Publishes posts in the caller's transaction, in order. Post, counter of the author, jobs and the result under the
 * idempotency key change together. @returns the answer of each: NOT_FOUND without an account; a repeat has the result
 * of the first.
 * Cost, whatever the number of posts: three commands, one more for several authors, two more if the transaction also
 * delivers the posts, and three more with idempotency keys.
 */
export async function publishPosts(
  tx: Tx,
  parts: PublishingParts,
  posts: readonly NewPost[],
): Promise<readonly (Published | Error)[]> {
  const { idempotency } = parts.transactions
  const keys = posts.map(({ idempotencyKey }) => idempotencyKey)
  const firsts = await idempotency.savedResults<Post>(keys, tx)
  const repeats = findRepeats(keys)
  const fresh = posts.filter((_, at) => firsts[at] === undefined && repeats[at] === undefined)
  const published = await insertPosts(tx, parts, fresh)
  const made = new Map(fresh.map((post, at) => [post, published[at] ?? noAccount()]))
  const results: (Published | Error)[] = []
  for (const [at, post] of posts.entries()) {
    const [first, repeated] = [firsts[at], repeats[at]]
    const saved = first instanceof Error ? first : first?.result
    const before = typeof repeated === 'number' ? results[repeated] : repeated
    results.push(saved ?? before ?? (made.get(post) as Post | Error))
  }
  const saved = [...made].flatMap(([{ idempotencyKey: key }, result]) =>
    key && !(result instanceof Error) ? [{ key, result }] : [],
  )
  await idempotency.saveResults(saved, tx)
  return results
}

/** @returns the stored posts, in order. Undefined for each without an account. */
async function insertPosts(
  tx: Tx,
  { collections, stats, outbox, mint }: PublishingParts,
  posts: readonly NewPost[],
): Promise<readonly (Post | undefined)[]> {
  const counted = await stats.countPosts(tx, countByAuthor(posts))
  // The id is the position in every timeline. Made this late, it is seldom below an id that a reader has seen.
  const docs = posts.map(({ author, content }): PostDoc | undefined =>
    counted.has(author) ? toPostDoc({ id: mint.next<PostId>(), author }, content) : undefined,
  )
  const stored = docs.filter((doc) => doc !== undefined)
  if (stored.length === 0) return []
  await collections.posts.insertMany(stored, { session: tx.session })
  const prepared = posts.flatMap(({ author, jobs }, at) => {
    const [doc, stats] = [docs[at], counted.get(author)]
    if (!doc || !stats) return []
    const post = fromObjectId<PostId>(doc._id)
    const facts: KnownPost = { text: doc.text, followers: stats.followers }
    return outbox
      .reactionsTo('post.created', { author, post }, queueFor(stats))
      .map((job) => jobs.prepare(tx, { ...job, known: facts }))
  })
  await outbox.insert(tx, prepared)
  return docs.map((doc) => doc && toPost(doc))
}

function countByAuthor(posts: readonly NewPost[]): ReadonlyMap<UserId, number> {
  const counts = new Map<UserId, number>()
  for (const { author } of posts) counts.set(author, (counts.get(author) ?? 0) + 1)
  return counts
}

import type { Collections, PostDoc, QueueName } from '../db/collections.ts'
import { isDuplicateKey } from '../db/errors.ts'
import { type FirstResult, findRepeats, type IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId } from '../db/object-id.ts'
import { type Transactions, TryAgain, type Tx } from '../db/transaction.ts'
import type { JobWriter, NeedsJobs, Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type UserStats } from '../users/stats.ts'
import type { Content } from './content.ts'
import { type Post, toPost, toPostDoc } from './post.ts'

/** Number of followers above which the jobs of a post are BULK jobs. */
const bulkAudience = 2_000

/** The queue of the jobs that walk the followers of an author. Malformed counters count as none. */
export const queueFor = (author: Pick<Stats, 'followers'> | undefined): QueueName =>
  author && author.followers > bulkAudience ? 'BULK' : 'QUICK'

/** A post before it is published. */
export interface NewPost {
  readonly author: UserId
  readonly content: Content
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** A repeat of an earlier mutation has only the reference of the post, which may be deleted. */
export type Published = Post | FirstResult<Post>

/** What posts are published with. */
export interface PublishingParts {
  readonly collections: Pick<Collections, 'posts'>
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly needsJobs: NeedsJobs
  readonly transactions: Transactions
  readonly mint: IdMint
}

/**
 * Posts in whose transaction a result was saved already. Their next try reads the saved results
 * first.
 */
const inDoubt = new WeakSet<NewPost>()

/**
 * Publishes posts in the caller's transaction, in order. Post, counter of the author, jobs and the
 * result under the idempotency key change together. @returns the answer of each: NOT_FOUND without
 * an account; a repeat has the result of the first. Cost, whatever the number of posts: the
 * authors' counters, the posts, and the results under idempotency keys, each one command. One more
 * inserts jobs, and one reads the queue of those of several authors. One more reads accounts that
 * this process does not know.
 * @throws {TryAgain} if an idempotency key is a repeat. The next try has two reads more.
 */
export async function publishPosts(
  tx: Tx,
  parts: PublishingParts,
  posts: readonly NewPost[],
): Promise<readonly (Published | Error)[]> {
  const { idempotency } = parts.transactions
  const keys = posts.map(({ idempotencyKey }) => idempotencyKey)
  const areRead = posts.some((post) => inDoubt.has(post))
  let firsts = areRead ? await idempotency.savedResults<Post>(keys, tx) : []
  const repeats = findRepeats(keys)
  const fresh = posts.filter((_, at) => firsts[at] === undefined && repeats[at] === undefined)
  const published = await insertPosts(tx, parts, fresh)
  const refused = new Set(fresh.filter((_, at) => !published[at]))
  // A deleted account still gets the results of its mutations.
  if (!areRead && refused.size > 0) {
    const ofRefused = posts.map((post) => (refused.has(post) ? post.idempotencyKey : undefined))
    firsts = await idempotency.savedResults<Post>(ofRefused, tx)
  }
  const made = new Map(fresh.map((post, at) => [post, published[at] ?? noAccount()]))
  const results: (Published | Error)[] = []
  for (const [at, post] of posts.entries()) {
    const [first, repeated] = [firsts[at], repeats[at]]
    const saved = first instanceof Error ? first : first?.result
    const before = typeof repeated === 'number' ? results[repeated] : repeated
    results.push(saved ?? before ?? (made.get(post) as Post | Error))
  }
  return results
}

/** @returns the stored posts, in order. Undefined for each without an account. */
async function insertPosts(
  tx: Tx,
  parts: PublishingParts,
  posts: readonly NewPost[],
): Promise<readonly (Post | undefined)[]> {
  const { collections, stats, outbox, mint, needsJobs, transactions } = parts
  const counted = await stats.countPosts(tx, countByAuthor(posts))
  // Asked once the authors are known to have accounts: a strategy that found no accounts is
  // registered by then.
  const areJobsNeeded = needsJobs()
  // It may fail while other commands run, and is looked at after them.
  areJobsNeeded.catch(() => {})
  // The id is the position in every timeline. Made this late, it is seldom below an id that a
  // reader has seen.
  const docs = posts.map(({ author, content }): PostDoc | undefined =>
    counted.has(author) ? toPostDoc({ id: mint.next<PostId>(), author }, content) : undefined,
  )
  const stored = docs.filter((doc) => doc !== undefined)
  if (stored.length === 0) return []
  const made = docs.map((doc) => doc && toPost(doc))
  transactions.idempotency.noteLive(tx, counted.keys())
  await saveResults(tx, parts, posts, made)
  await collections.posts.insertMany(stored, { session: tx.session })
  if (await areJobsNeeded) {
    const areRead = [...counted.values()].every((one) => one !== undefined)
    const authors = areRead ? counted : await stats.byIds([...counted.keys()], tx)
    const prepared = posts.flatMap(({ author, jobs }, at) => {
      const doc = docs[at]
      if (!doc) return []
      const payload = { author, post: fromObjectId<PostId>(doc._id) }
      const reactions = outbox.reactionsTo('post.created', payload, queueFor(authors.get(author)))
      return reactions.map((job) => jobs.prepare(tx, job))
    })
    await outbox.insert(tx, prepared)
  }
  return made
}

/**
 * Saves the results of posts with idempotency keys. Most keys are new, so nothing looks for saved
 * results before.
 */
async function saveResults(
  tx: Tx,
  { transactions: { idempotency } }: PublishingParts,
  posts: readonly NewPost[],
  made: readonly (Post | undefined)[],
): Promise<void> {
  const entries = posts.flatMap(({ idempotencyKey: key }, at) => {
    const result = made[at]
    return key && result ? [{ key, result }] : []
  })
  try {
    await idempotency.saveResults(entries, tx)
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    for (const post of posts) inDoubt.add(post)
    throw new TryAgain('a mutation is repeated', { cause: error })
  }
}

function countByAuthor(posts: readonly NewPost[]): ReadonlyMap<UserId, number> {
  const counts = new Map<UserId, number>()
  for (const { author } of posts) counts.set(author, (counts.get(author) ?? 0) + 1)
  return counts
}

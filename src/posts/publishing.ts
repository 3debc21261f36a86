import type { Collections, PostDoc, QueueName } from '../db/collections.ts'
import { deadlineOf, isLate, type Timed } from '../db/deadline.ts'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import { findRepeats, type IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { reactionsTo } from '../events.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type UserStats } from '../users/stats.ts'
import type { Content } from './content.ts'
import { type Post, toPost } from './post.ts'

const bounds: GroupCommitBounds = {
  name: 'posts',
  batchMax: 64,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 1,
  begins: 'AT_ONCE',
}

/** Number of followers above which the jobs of a post are BULK jobs. */
const bulkAudience = 2_000

/** The queue of the jobs that walk the followers of an author. */
export const queueFor = ({ followers }: Pick<Stats, 'followers'>): QueueName =>
  followers > bulkAudience ? 'BULK' : 'QUICK'

/** A post before it is published. */
export interface NewPost extends Timed {
  readonly content: Content
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** The parts that {@link Publishing} works with. */
export interface PublishingParts {
  readonly collections: Pick<Collections, 'posts' | 'hot_keys' | 'hot_writes'>
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** Commits concurrent posts of one author in shared transactions, as they would collide on the author's counter. Processes share them too. */
export class Publishing {
  private readonly commits: GroupCommit<NewPost, Post>

  constructor(private readonly parts: PublishingParts) {
    const { collections, outbox, transactions, now } = parts
    const hotKeys = new HotKeys<NewPost, Post>(collections, transactions, {
      name: 'posts',
      isLate,
      now,
      apply: (tx, author, batch) => this.publishAll(tx, author as UserId, batch),
      commit: (author, batch, onCollision) => this.commit(author as UserId, batch, onCollision),
      commitAlone: (author, post, onCollision) =>
        this.commitOne(author as UserId, post, onCollision),
      // Processes of other versions store and read the idempotency key as `once`.
      pack: ({ jobs: _, idempotencyKey: once, ...post }) => ({ ...post, once }),
      // Workers deliver the posts of another process.
      unpack: ({ once, ...post }) =>
        ({ ...post, idempotencyKey: once, jobs: outbox }) as unknown as NewPost,
    })
    const run = (author: string, batch: readonly NewPost[]) => hotKeys.commitBatch(author, batch)
    this.commits = new GroupCommit(eachKey(run), bounds)
  }

  /**
   * Publishes a post, with up to 63 concurrent posts of its author in one transaction, in order of arrival. Three
   * commands for the whole batch, and two more for posts with a clientMutationId.
   * @throws {DomainError} NOT_FOUND without an account; UNAVAILABLE if too many posts wait.
   */
  async publish(author: UserId, post: NewPost): Promise<Post> {
    return this.commits.submit(author, { ...post, deadline: deadlineOf(this.parts.now()) })
  }

  private async commit(
    author: UserId,
    batch: readonly NewPost[],
    onCollision: (error: unknown) => void,
  ): Promise<readonly (Post | Error)[]> {
    const [first, ...more] = batch
    if (!first) return []
    if (more.length === 0) return [await this.commitOne(author, first, onCollision)]
    const all = (tx: Tx) => this.publishAll(tx, author, batch)
    return this.parts.transactions.run(all, undefined, onCollision)
  }

  private async commitOne(
    author: UserId,
    post: NewPost,
    onCollision: (error: unknown) => void,
  ): Promise<Post> {
    const alone = async (tx: Tx) => {
      const [published] = await this.insert(tx, author, [post])
      if (!published) throw noAccount()
      return published
    }
    return this.parts.transactions.run(alone, post.idempotencyKey, onCollision)
  }

  /** Publishes posts in order. @returns the result of each; a repeat has the result of the first. */
  private async publishAll(
    tx: Tx,
    author: UserId,
    batch: readonly NewPost[],
  ): Promise<readonly (Post | Error)[]> {
    const { idempotency } = this.parts.transactions
    const keys = batch.map((post) => post.idempotencyKey)
    const firsts = await idempotency.savedResults<Post>(keys, tx)
    const repeats = findRepeats(keys)
    const fresh = batch.filter((_, at) => firsts[at] === undefined && repeats[at] === undefined)
    const published = await this.insert(tx, author, fresh)
    const made = new Map(fresh.map((post, at) => [post, published[at] ?? noAccount()]))
    const results: (Post | Error)[] = []
    for (const [at, post] of batch.entries()) {
      const [first, repeated] = [firsts[at], repeats[at]]
      const known = first instanceof Error ? first : first?.result
      const before = typeof repeated === 'number' ? results[repeated] : repeated
      results.push(known ?? before ?? (made.get(post) as Post | Error))
    }
    const remembered = [...made].flatMap(([{ idempotencyKey: key }, result]) =>
      key && !(result instanceof Error) ? [{ key, result }] : [],
    )
    await idempotency.saveResults(remembered, tx)
    return results
  }

  /** @returns the stored posts; none without an account. */
  private async insert(
    tx: Tx,
    author: UserId,
    posts: readonly NewPost[],
  ): Promise<readonly Post[]> {
    if (posts.length === 0) return []
    const { collections, stats, outbox, mint } = this.parts
    const counted = await stats.countPosts(tx, author, posts.length)
    if (!counted) return []
    // The id is the position in every timeline. Made this late, it is seldom below an id that a reader has seen.
    const docs = posts.map(
      ({ content: { text, attachments } }): PostDoc => ({
        _id: toObjectId(mint.next<PostId>()),
        author,
        text,
        ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
      }),
    )
    await collections.posts.insertMany(docs, { session: tx.session })
    const queue = queueFor(counted)
    const all = posts.flatMap(({ jobs }, at) => {
      const post = fromObjectId<PostId>((docs[at] as PostDoc)._id)
      return reactionsTo('post.created', { author, post }, queue).map((job) =>
        jobs.prepare(tx, job),
      )
    })
    await outbox.insert(tx, all)
    return docs.map(toPost)
  }
}

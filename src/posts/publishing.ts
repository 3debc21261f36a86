import { setTimeout as sleep } from 'node:timers/promises'
import { commitAdmitted } from '../db/admitted.ts'
import type { Collections, PostDoc, QueueName } from '../db/collections.ts'
import { Contended, lockedAgain } from '../db/collisions.ts'
import { deadlineOf, isLate, type Timed } from '../db/deadline.ts'
import { type Batch, GroupCommit, type GroupCommitBounds, type Turn } from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import { type FirstResult, findRepeats, type IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import { chunks } from '../lib/batch.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type UserStats } from '../users/stats.ts'
import type { Content } from './content.ts'
import { type Post, toPost, toPostDoc } from './post.ts'

const bounds: GroupCommitBounds = {
  name: 'posts',
  batchMax: 64,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 1,
  begins: 'IN_TURNS',
}

/** Number of authors whose posts share a transaction. A follow of one of them is enough to make it collide. */
const authorsMax = 16
/** How long a turn of posts may keep the posts of other authors waiting, in milliseconds. */
const turnMsMax = 40

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

/** What the job of a new post knows beyond its payload, while its transaction is open. */
export interface KnownPost {
  readonly text: string
  /** The number of the author's followers. */
  readonly followers: number
}

/** A post with its author. */
interface AuthoredPost {
  readonly author: UserId
  readonly post: NewPost
}

/** A repeat of an earlier mutation has only the reference of the post, which may be deleted. */
export type Published = Post | FirstResult<Post>

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

/**
 * Commits concurrent posts in shared transactions. Those of one author would collide on the author's counter, also with
 * those of other processes. Those of several authors share commands. If that fails, each author publishes alone.
 */
export class Publishing {
  private readonly commits: GroupCommit<NewPost, Published>
  private readonly hotKeys: HotKeys<NewPost, Published>

  constructor(private readonly parts: PublishingParts) {
    const { collections, outbox, transactions, now } = parts
    this.hotKeys = new HotKeys<NewPost, Published>(collections, transactions, {
      name: 'posts',
      isLate,
      now,
      lock: (tx, author) => this.lock(tx, author as UserId),
      apply: (tx, author, batch) => this.publishAll(tx, authored(author, batch)),
      commit: (author, batch, refusals, onCollision) =>
        commitAdmitted(batch, refusals, (some) => this.commit(author as UserId, some, onCollision)),
      commitAlone: (author, post, onCollision) =>
        this.commitOne(author as UserId, post, onCollision),
      // Processes of other versions store and read the idempotency key as `once`.
      pack: ({ jobs: _, idempotencyKey: once, ...post }) => ({ ...post, once }),
      // Workers deliver the posts of another process.
      unpack: ({ once, ...post }) =>
        ({ ...post, idempotencyKey: once, jobs: outbox }) as unknown as NewPost,
    })
    this.commits = new GroupCommit((batches) => this.commitTurn(batches), bounds)
  }

  /**
   * Publishes a post, together with posts that arrive at the same time or during a transaction. Those of an author keep
   * their order. Four commands for the posts of one author, five for those of up to 16 authors, two more if the
   * transaction also delivers the posts, and three more for posts with a clientMutationId.
   * @throws {DomainError} NOT_FOUND without an account; UNAVAILABLE if too many posts wait.
   */
  async publish(author: UserId, post: NewPost): Promise<Published> {
    return this.commits.submit(author, { ...post, deadline: deadlineOf(this.parts.now()) })
  }

  /** Publishes the posts of up to 16 authors at a time together, and those of hot or failed authors author by author. */
  private commitTurn(batches: readonly Batch<NewPost>[]): Turn<Published> {
    const now = this.parts.now()
    const shared = batches.filter(
      ({ key, ops }) => !this.hotKeys.isHot(key) && !ops.some((post) => isLate(post, now)),
    )
    const groups = [...chunks(shared, authorsMax)].filter(({ length }) => length > 1)
    const results = new Map(
      groups.flatMap((group) => {
        const published = this.publishTogether(group)
        return group.map((batch, at) => [batch, published.then((all) => all?.[at])] as const)
      }),
    )
    const commit = async (batch: Batch<NewPost>) =>
      (await results.get(batch)) ?? this.hotKeys.commitBatch(batch.key, batch.ops)
    const answers = batches.map((batch) => batch.inContext(() => commit(batch)))
    const isLong = sleep(turnMsMax, undefined, { ref: false })
    return { answers, next: Promise.race([Promise.allSettled(answers), isLong]) }
  }

  /**
   * Publishes the posts of several authors in one transaction, which is tried once.
   * @returns the results of each batch. Undefined if nothing was published: then each author publishes alone, so that
   *   the counters, shard or lock of one author delays and fails no other.
   */
  private async publishTogether(
    batches: readonly Batch<NewPost>[],
  ): Promise<readonly (readonly (Published | Error)[])[] | undefined> {
    const posts = batches.flatMap(({ key, ops }) => authored(key, ops))
    let mayBeCommitted = false
    const publish = async (tx: Tx) => {
      const published = await this.publishAll(tx, posts)
      mayBeCommitted = true
      return published
    }
    try {
      const published = await this.parts.transactions.run(publish, undefined, endFirstTry)
      let next = 0
      return batches.map(({ ops }) => ops.map(() => published[next++] as Published | Error))
    } catch (error) {
      const hasEnded = error instanceof Contended
      // A commit without an answer may have changed something. After its time, the run may still be under way.
      if (!hasEnded && (mayBeCommitted || error instanceof DomainError)) throw error
      return undefined
    }
  }

  private async commit(
    author: UserId,
    batch: readonly NewPost[],
    onCollision: (error: unknown) => void,
  ): Promise<readonly (Published | Error)[]> {
    const [first, ...more] = batch
    if (!first) return []
    if (more.length === 0) return [await this.commitOne(author, first, onCollision)]
    const all = (tx: Tx) => this.publishAll(tx, authored(author, batch))
    const locked = lockedAgain((tx) => this.lock(tx, author), all)
    return this.parts.transactions.run(locked, undefined, onCollision)
  }

  private async commitOne(
    author: UserId,
    post: NewPost,
    onCollision: (error: unknown) => void,
  ): Promise<Published> {
    const alone = async (tx: Tx) => {
      const [published] = await this.insert(tx, [{ author, post }])
      if (!published) throw noAccount()
      return published
    }
    return this.parts.transactions.run(alone, post.idempotencyKey, onCollision)
  }

  /** The author's counter changes after the results of earlier tries are read. */
  private async lock(tx: Tx, author: UserId): Promise<void> {
    await this.parts.stats.lock(tx, [author])
  }

  /** Publishes posts in order. @returns the result of each; a repeat has the result of the first. */
  private async publishAll(
    tx: Tx,
    batch: readonly AuthoredPost[],
  ): Promise<readonly (Published | Error)[]> {
    const { idempotency } = this.parts.transactions
    const keys = batch.map(({ post }) => post.idempotencyKey)
    const firsts = await idempotency.savedResults<Post>(keys, tx)
    const repeats = findRepeats(keys)
    const fresh = batch.filter((_, at) => firsts[at] === undefined && repeats[at] === undefined)
    const published = await this.insert(tx, fresh)
    const made = new Map(fresh.map((one, at) => [one, published[at] ?? noAccount()]))
    const results: (Published | Error)[] = []
    for (const [at, one] of batch.entries()) {
      const [first, repeated] = [firsts[at], repeats[at]]
      const known = first instanceof Error ? first : first?.result
      const before = typeof repeated === 'number' ? results[repeated] : repeated
      results.push(known ?? before ?? (made.get(one) as Post | Error))
    }
    const remembered = [...made].flatMap(([{ post }, result]) =>
      post.idempotencyKey && !(result instanceof Error)
        ? [{ key: post.idempotencyKey, result }]
        : [],
    )
    await idempotency.saveResults(remembered, tx)
    return results
  }

  /** @returns the stored posts, in order. Undefined for each without an account. */
  private async insert(
    tx: Tx,
    batch: readonly AuthoredPost[],
  ): Promise<readonly (Post | undefined)[]> {
    const { collections, stats, outbox, mint } = this.parts
    const counted = await stats.countPosts(tx, countByAuthor(batch))
    // The id is the position in every timeline. Made this late, it is seldom below an id that a reader has seen.
    const docs = batch.map(({ author, post: { content } }): PostDoc | undefined =>
      counted.has(author) ? toPostDoc({ id: mint.next<PostId>(), author }, content) : undefined,
    )
    const stored = docs.filter((doc) => doc !== undefined)
    if (stored.length === 0) return []
    await collections.posts.insertMany(stored, { session: tx.session })
    const all = batch.flatMap(({ author, post: { jobs } }, at) => {
      const [doc, stats] = [docs[at], counted.get(author)]
      if (!doc || !stats) return []
      const post = fromObjectId<PostId>(doc._id)
      const known: KnownPost = { text: doc.text, followers: stats.followers }
      return outbox
        .reactionsTo('post.created', { author, post }, queueFor(stats))
        .map((job) => jobs.prepare(tx, { ...job, known }))
    })
    await outbox.insert(tx, all)
    return docs.map((doc) => doc && toPost(doc))
  }
}

const authored = (author: string, posts: readonly NewPost[]): AuthoredPost[] =>
  posts.map((post) => ({ author: author as UserId, post }))

function countByAuthor(batch: readonly AuthoredPost[]): ReadonlyMap<UserId, number> {
  const counts = new Map<UserId, number>()
  for (const { author } of batch) counts.set(author, (counts.get(author) ?? 0) + 1)
  return counts
}

/** The `onCollision` of a transaction of several authors. It is called only if the try has changed nothing. */
function endFirstTry(error: unknown): void {
  throw new Contended('The posts of several authors were not published together', { cause: error })
}

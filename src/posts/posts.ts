import { singleBatch } from '../db/client.ts'
import {
  type Collections,
  type PostDoc,
  type PostFacts,
  postFactFields,
} from '../db/collections.ts'
import { lockedAgain } from '../db/collisions.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { GroupCommitBounds } from '../db/group-commit.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId, lowestId, toObjectId } from '../db/object-id.ts'
import { idIn, idRange, rangesByOwner } from '../db/pages.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import { SharedTransactions } from '../db/shared-transactions.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Pause } from '../jobs/runner.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import { type List, shownWithPost } from '../pages/pipeline.ts'
import type { SplitRemoval } from '../users/deletion.ts'
import type { Handles } from '../users/handles.ts'
import {
  type Content,
  type ContentValidator,
  checkContent,
  type GivenContent,
  resolveMentions,
} from './content.ts'
import {
  contentFields,
  contentProjection,
  factsOf,
  factsProjection,
  type Post,
  provenPost,
  toPost,
  toRef,
} from './post.ts'
import {
  type NewPost,
  type Published,
  type PublishingParts,
  publishPosts,
  queueFor,
} from './publish-posts.ts'
import type { Tombstones } from './tombstones.ts'

/** The parts that {@link Posts} works with. */
export interface PostsParts extends PublishingParts {
  readonly collections: Pick<Collections, 'posts'>
  readonly tombstones: Tombstones
  readonly handles: Handles
  readonly validators: readonly ContentValidator[]
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** The post of a mutation. `isRepeat` is set if an earlier request created it. */
type CreatedPost = Post & { readonly isRepeat?: true }

const bounds: GroupCommitBounds = {
  name: 'posts',
  batchMax: 64,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 10,
}

/**
 * Number of authors whose posts share a transaction. A follow of one of them is enough to make it
 * collide.
 */
const authorsMax = 16

/** The posts, each found by author and id, which is the shard key. */
export class Posts {
  /**
   * Posts of one author would collide on the author's counter. Those of several authors share
   * commands.
   */
  private readonly newPosts: SharedTransactions<NewPost, Published>
  private readonly loadDocs = shareFewKeys('posts', (refs: readonly PostRef[]) =>
    this.readDocs(refs),
  )

  constructor(private readonly parts: PostsParts) {
    this.newPosts = new SharedTransactions(parts.transactions, {
      bounds,
      keysMax: authorsMax,
      now: parts.now,
      apply: (tx, posts) => publishPosts(tx, parts, posts),
      lock: (tx, author) => parts.stats.lock(tx, [author as UserId]),
    })
  }

  /**
   * Creates a post. One transaction, shared with concurrent posts, commits the post, the author's
   * counter and the job that delivers the post. This process delivers to a small audience before it
   * answers; workers deliver to larger ones. While no strategy stores timelines, a post has no job:
   * four commands with an idempotency key, also for up to 16 authors. Others: see
   * {@link publishPosts}. One more finds the accounts of mentions.
   * @returns the post. A repeat reads it again, with one command more, and returns undefined for a
   *   deleted post.
   * @throws {DomainError} BAD_USER_INPUT that names what a validator refuses; NOT_FOUND without an
   *   account.
   */
  async create(actor: UserId, given: GivenContent): Promise<Post>
  async create(
    actor: UserId,
    given: GivenContent,
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<CreatedPost | undefined>
  async create(
    actor: UserId,
    input: GivenContent,
    idempotencyKey?: IdempotencyKey,
  ): Promise<CreatedPost | undefined> {
    const content = await resolveMentions(await this.checkContent(input), this.parts.handles)
    const published = await this.parts.outbox.runInline((jobs) =>
      this.newPosts.submit(actor, { author: actor, content, idempotencyKey, jobs }),
    )
    if (!('isRepeat' in published)) return published
    const post = (await this.byRefs([published])).get(published.id)
    return post && { ...post, isRepeat: true }
  }

  /**
   * The content in its stored form. @throws {DomainError} BAD_USER_INPUT that names what a
   * validator refuses.
   */
  async checkContent(given: GivenContent): Promise<Content> {
    return checkContent(given, this.parts.validators)
  }

  /**
   * Deletes a post of the actor, and enqueues the removal of its likes, comments and shares.
   * @returns false if the post does not exist.
   * @throws {DomainError} FORBIDDEN for another author's post.
   */
  async delete(
    actor: UserId,
    { id, author }: PostRef,
    idempotencyKey?: IdempotencyKey,
  ): Promise<boolean> {
    if (author !== actor)
      throw new DomainError('FORBIDDEN', 'Only the author of a post may delete it')
    const { collections, stats, tombstones, outbox, transactions } = this.parts
    const lock = (tx: Tx) => stats.lock(tx, [author])
    const work = async (tx: Tx) => {
      const filter = { author, _id: toObjectId(id) }
      const removed = await collections.posts.findOneAndDelete(filter, { session: tx.session })
      if (!removed) return false
      await tombstones.insert(tx, [removed])
      const queue = queueFor((await stats.countPosts(tx, new Map([[actor, -1]]))).get(actor))
      await outbox.enqueue(tx, outbox.reactionsTo('post.deleted', { author, post: id }, queue))
      return true
    }
    return transactions.run(lockedAgain(lock, work), idempotencyKey)
  }

  /**
   * The existing posts among `refs`. One command with the shard key, which concurrent reads of few
   * posts share.
   */
  async byRefs(refs: readonly PostRef[]): Promise<Map<PostId, Post>> {
    const docs = new Map(
      (await this.loadDocs(refs)).map((doc) => [fromObjectId<PostId>(doc._id), doc]),
    )
    return new Map(
      refs.flatMap(({ id, author }) => {
        const doc = docs.get(id)
        const post = doc?.author === author ? toPost(doc) : undefined
        return post ? [[id, post] as const] : []
      }),
    )
  }

  private async readDocs(refs: readonly PostRef[]): Promise<PostDoc[]> {
    const authors = [...new Set(refs.map(({ author }) => author))]
    return this.parts.collections.posts
      .find(
        { author: { $in: authors }, _id: idIn(refs.map(({ id }) => id)) },
        { ...singleBatch, hint: { _id: 1 }, projection: contentProjection },
      )
      .toArray()
  }

  /**
   * The posts of each author, newest first. A read is one command.
   * @param content false reads only ids, from the index.
   */
  byAuthor(content: boolean): List<UserId, Post | PostFacts> {
    const list = {
      collection: this.parts.collections.posts,
      owner: 'author' as const,
      fields: [...postFactFields, ...(content ? contentFields : [])] as (keyof PostDoc)[],
      toItem: (doc: PostDoc) => (content ? toPost(doc) : undefined) ?? factsOf(doc),
    }
    return {
      read: (authors, range, past) => rangesByOwner(list, authors, range, past),
      placeOf: ({ id }) => id,
      ...shownWithPost<Post | PostFacts>('POST'),
    }
  }

  /**
   * The posts of `authors` in a range, in the order of the range. One covered command. At most 200
   * authors: beyond that, MongoDB stops merging the index and reads all their posts.
   */
  async refsByAuthors(authors: readonly UserId[], range: Range): Promise<PostRef[]> {
    const docs = await findAtOnce(
      this.parts.collections.posts,
      { author: { $in: [...authors] }, ...idRange(range) },
      {
        projection: { author: 1 },
        sort: { _id: range.oldestFirst ? 1 : -1 },
        limit: range.limit,
        hint: { author: 1, _id: -1 },
      },
    )
    return docs.map(toRef)
  }

  /**
   * The posts of any number of authors, by author, newest first, up to `limit` of them. The authors
   * are in order, so posts of the last author may be missing. One covered command.
   * @param first the first id. Default: all posts.
   */
  async refsByAuthor(
    authors: readonly UserId[],
    limit: number,
    first?: PostId,
  ): Promise<PostRef[]> {
    const since = { $gte: first === undefined ? lowestId : toObjectId(first) }
    const docs = await findAtOnce(
      this.parts.collections.posts,
      { author: { $in: [...authors] }, _id: since },
      {
        projection: { author: 1 },
        sort: { author: 1, _id: -1 },
        limit,
        hint: { author: 1, _id: -1 },
      },
    )
    return docs.map(toRef)
  }

  /**
   * The existing posts among `refs`. One command with the shard key, none without posts. It is
   * covered, unless rules know more of posts than their authors.
   */
  async existing(refs: readonly PostRef[], tx?: Tx): Promise<Map<PostId, PostFacts>> {
    if (refs.length === 0) return new Map()
    const authorOf = new Map(refs.map(({ id, author }) => [id, author]))
    const authors = [...new Set(refs.map(({ author }) => author))]
    const { posts } = this.parts.collections
    const filter = { _id: idIn(refs.map(({ id }) => id)), author: { $in: authors } }
    const options = {
      ...{ projection: factsProjection, limit: authorOf.size },
      hint: { _id: 1, author: 1 },
    }
    const docs = tx
      ? await posts.find(filter, { ...singleBatch, ...options, ...tx }).toArray()
      : await findAtOnce(posts, filter, options)
    const found = docs.map(factsOf).filter(({ id, author }) => authorOf.get(id) === author)
    return new Map(found.map((post) => [post.id, post]))
  }

  /**
   * What rules know of posts that another read has proven to exist, of those that still do. None,
   * or the command of {@link existing} if rules know more of posts than their names.
   */
  async factsOfProven(refs: readonly PostRef[]): Promise<readonly PostFacts[]> {
    const proven = refs.flatMap((ref) => provenPost(ref) ?? [])
    return proven.length === refs.length ? proven : [...(await this.existing(refs)).values()]
  }

  /**
   * The authors of the existing posts among `ids`. One covered command to all shards, only for
   * entries without an author.
   */
  async authorsOf(ids: readonly PostId[]): Promise<Map<PostId, UserId>> {
    const docs = await this.parts.collections.posts
      .find(
        { _id: idIn(ids) },
        { ...singleBatch, hint: { _id: 1, author: 1 }, projection: { author: 1 } },
      )
      .toArray()
    return new Map(docs.map((doc) => [fromObjectId<PostId>(doc._id), doc.author as UserId]))
  }

  /**
   * Deletes some posts of a deleted user, and enqueues the removal of their likes, comments and
   * shares. The removal is split: its range jobs retract the posts, from deliveries too that began
   * before. A repeat deletes the next posts.
   * @returns undefined if no post is left.
   */
  async purge(
    author: UserId,
    { signal, cutFollowers, split, retractsAgain }: SplitRemoval,
  ): Promise<Pause | undefined> {
    const { collections, tombstones } = this.parts
    signal.throwIfAborted()
    const range = { oldestFirst: false, limit: purgeBatch }
    const found = async () => (await this.refsByAuthors([author], range)).map(({ id }) => id)
    const ids = retractsAgain.length > 0 ? retractsAgain : await found()
    if (ids.length === 0) return undefined
    const remove = async (tx: Tx) => {
      const { session } = tx
      const batch = await collections.posts.find({ author, _id: idIn(ids) }, { session }).toArray()
      const gone = { author, _id: { $in: batch.map(({ _id }) => _id) } }
      if (batch.length > 0) await collections.posts.deleteMany(gone, { session })
      await tombstones.insert(tx, batch)
    }
    return split(await cutFollowers(), { ids, remove })
  }
}

/**
 * Number of posts deleted in one transaction: with their lists, far below the 16 MB of an oplog
 * entry.
 */
const purgeBatch = 50

import { atOnce } from '../db/client.ts'
import type { Collections, PostDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { OnceKey } from '../db/once.ts'
import { idIn, idRange, pagesByOwner } from '../db/pages.ts'
import type { Transactions } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { reactionsTo } from '../events.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Page, Range, Window } from '../lib/page.ts'
import type { Removal } from '../users/deletion.ts'
import type { UserStats } from '../users/stats.ts'
import { type Attachment, type ContentValidator, checkContent } from './content.ts'
import { contentFields, contentProjection, type Post, toPost, toRef } from './post.ts'
import type { Publishing } from './publishing.ts'
import type { Remains } from './remains.ts'

/** What posts are stored and announced through. */
export interface PostsParts {
  readonly collections: Pick<Collections, 'posts'>
  readonly stats: UserStats
  readonly remains: Remains
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly publishing: Publishing
  readonly validators: readonly ContentValidator[]
}

/** The posts (seed 1's content service), each found by author and id, the key they are sharded by. */
export class Posts {
  constructor(private readonly parts: PostsParts) {}

  /**
   * Publishes a post; it, the author's counter and the job that delivers it are committed in one transaction, which
   * posts of the author that meet share.
   * The job begins at once: it ends here for small audiences, and is a worker's for larger ones.
   * @throws {DomainError} BAD_USER_INPUT naming what a validator refuses; NOT_FOUND without an account.
   */
  async create(
    actor: UserId,
    given: { text: string; attachments?: readonly Attachment[] | undefined },
    once?: OnceKey,
  ): Promise<Post> {
    const { outbox, publishing, validators } = this.parts
    const content = await checkContent(given, validators)
    return outbox.runInline((jobs) => publishing.publish(actor, { content, once, jobs }))
  }

  /**
   * Deletes a post of the actor, and enqueues the removal of its likes, comments and shares.
   * @returns false when it was gone already.
   * @throws {DomainError} FORBIDDEN for somebody else's.
   */
  async delete(actor: UserId, { id, author }: PostRef, once?: OnceKey): Promise<boolean> {
    if (author !== actor)
      throw new DomainError('FORBIDDEN', 'Only the author of a post may delete it')
    const { collections, stats, remains, outbox, transactions } = this.parts
    return transactions.run(async (tx) => {
      const filter = { author, _id: toObjectId(id) }
      const removed = await collections.posts.findOneAndDelete(filter, { session: tx.session })
      if (!removed) return false
      await remains.keep(tx, [removed])
      await outbox.enqueue(tx, reactionsTo('post.deleted', { author, post: id }))
      await stats.changeLive(tx, new Map([[actor, { posts: -1 }]]))
      return true
    }, once)
  }

  /** Those of `refs` that exist. One command, which carries the shard key. */
  async byRefs(refs: readonly PostRef[]): Promise<Map<PostId, Post>> {
    const authors = [...new Set(refs.map(({ author }) => author))]
    const found = await this.parts.collections.posts
      .find(
        { author: { $in: authors }, _id: idIn(refs.map(({ id }) => id)) },
        { ...atOnce, hint: { _id: 1 }, projection: contentProjection },
      )
      .toArray()
    const posts = new Map(found.map((doc) => [fromObjectId<PostId>(doc._id), toPost(doc)]))
    return new Map(
      refs.flatMap(({ id, author }) => {
        const post = posts.get(id)
        return post?.author === author ? [[id, post] as const] : []
      }),
    )
  }

  /**
   * A page of each author's posts, newest first. One command.
   * @param content false reads ids alone, from the index.
   */
  async byAuthors(
    authors: readonly UserId[],
    window: Window,
    content: boolean,
  ): Promise<Map<UserId, Page<Post | PostRef>>> {
    const fields: (keyof PostDoc)[] = ['_id', 'author', ...(content ? contentFields : [])]
    return pagesByOwner(
      { collection: this.parts.collections.posts, owner: 'author', fields },
      authors,
      window,
      content ? toPost : toRef,
    )
  }

  /**
   * The posts of any of `authors` in a range, in the order it walks. One command, covered by the index;
   * beyond 200 authors MongoDB stops merging the index and reads everything: callers cut their list.
   */
  async refsByAuthors(authors: readonly UserId[], range: Range): Promise<PostRef[]> {
    const found = await this.parts.collections.posts
      .find(
        { author: { $in: [...authors] }, ...idRange(range) },
        { ...atOnce, hint: { author: 1, _id: -1 } },
      )
      .sort({ _id: range.oldestFirst ? 1 : -1 })
      .limit(range.limit)
      .project<PostDoc>({ author: 1 })
      .toArray()
    return found.map(toRef)
  }

  /** Which of `refs` exist. One covered command, which carries the shard key. */
  async existing(refs: readonly PostRef[]): Promise<Set<PostId>> {
    const authors = [...new Set(refs.map(({ author }) => author))]
    const found = await this.parts.collections.posts
      .find(
        { _id: idIn(refs.map(({ id }) => id)), author: { $in: authors } },
        { ...atOnce, hint: { _id: 1, author: 1 }, projection: { _id: 1 } },
      )
      .toArray()
    return new Set(found.map(({ _id }) => fromObjectId<PostId>(_id)))
  }

  /** Who posted those of `ids` that exist. One covered command, which asks all shards: only entries that hold no author need it. */
  async authorsOf(ids: readonly PostId[]): Promise<Map<PostId, UserId>> {
    const found = await this.parts.collections.posts
      .find(
        { _id: idIn(ids) },
        { ...atOnce, hint: { _id: 1, author: 1 }, projection: { author: 1 } },
      )
      .toArray()
    return new Map(found.map((doc) => [fromObjectId<PostId>(doc._id), doc.author as UserId]))
  }

  /**
   * Deletes all posts of a deleted user, and enqueues the removal of their likes, comments and shares: in bounded
   * transactions. A repeat goes on where it ended.
   * @param before is given the ids of every batch before it is removed.
   * @param onRemoved told after every batch how many posts it removed.
   */
  async purge(
    author: UserId,
    before: (posts: readonly PostId[]) => Promise<void>,
    { signal, isDue, onRemoved }: Removal,
  ): Promise<void> {
    const { collections, remains, transactions } = this.parts
    for (;;) {
      signal.throwIfAborted()
      const range = { oldestFirst: false, limit: purgeBatch }
      const ids = (await this.refsByAuthors([author], range)).map(({ id }) => id)
      if (ids.length === 0) return
      await before(ids)
      const removed = await transactions.run(async (tx) => {
        const { session } = tx
        if (!(await isDue(tx))) return undefined
        const batch = await collections.posts
          .find({ author, _id: idIn(ids) }, { session })
          .toArray()
        const gone = { author, _id: { $in: batch.map(({ _id }) => _id) } }
        if (batch.length > 0) await collections.posts.deleteMany(gone, { session })
        await remains.keep(tx, batch)
        return batch.length
      })
      if (removed === undefined) return
      await onRemoved(removed)
    }
  }
}

/** Posts removed at a time: with what they hold, far below the 16 MB of a transaction's oplog entry. */
const purgeBatch = 50

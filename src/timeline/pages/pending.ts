import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import { shareReads } from '../../db/shared-reads.ts'
import { jobsAbout } from '../../jobs/outbox.ts'
import { groupBy } from '../../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import { isShown } from '../../visibility/rules.ts'
import type { Pair } from '../delivery/backfill.ts'
import { timelineReactions } from '../delivery/job-kinds.ts'
import type { PageFactsReader } from './page-facts.ts'

const deliveries = timelineReactions['post.created']
const backfills = timelineReactions['follow.created']

/**
 * Number of authors with waiting deliveries, and of waiting back-fills of one reader, that are
 * checked. With more, the answer is yes.
 */
const waitingMax = 2_000
/**
 * Number of waiting deliveries to the reader whose posts are checked. With more, the answer is yes.
 */
const deliveriesMax = 200

/** The waiting deliveries and back-fills that concern a reader. */
export interface Waiting {
  /** Whether too many wait to list them all, so that `delivered` or `filled` may lack authors. */
  readonly isMany: boolean
  /** Authors with waiting deliveries whose posts the timeline shows. */
  readonly delivered: UserId[]
  /** Authors with waiting back-fills whose posts the timeline shows. */
  readonly filled: UserId[]
}

/** What waits, for all readers of a batch. */
interface WaitingOfAll {
  /** The authors of waiting deliveries, at most one more than {@link waitingMax}. */
  readonly delivered: readonly UserId[]
  /** Waiting back-fills of the readers, at most one more than {@link waitingMax} of each. */
  readonly filled: ReadonlyMap<UserId, readonly UserId[]>
}

/** Finds deliveries that have not ended. A parked delivery has not ended. */
export class Pending {
  private readonly readShared = shareReads<UserId, WaitingOfAll>(
    'waiting_jobs',
    (readers) => this.readWaitingOfAll([...new Set(readers)]),
    16,
  )

  constructor(
    private readonly collections: Collections,
    private readonly memory: ProcessMemory,
    private readonly facts: Pick<PageFactsReader, 'loadAuthors'>,
  ) {}

  /**
   * Whether a post of the reader's timeline, or of one of the reader's groups, may be undelivered.
   * False means that every such post was delivered before the call. True means that a delivery of
   * such a post, or a back-fill of such an author, has not ended. Also true if deliveries of more
   * than 2,000 authors wait, or more than 2,000 back-fills of the reader, or at least 200
   * deliveries of authors that the reader sees.
   * @param waiting the result of {@link findWaiting}, if the caller has it. Saves a command. The
   * commands of {@link findWaiting}, and one more while a delivery to the reader waits.
   */
  async hasPendingPosts(reader: UserId, group?: string, waiting?: Waiting): Promise<boolean> {
    const { isMany, delivered, filled } = waiting ?? (await this.findWaiting(reader, group))
    if (isMany || filled.length > 0) return true
    return delivered.length > 0 && this.isPosted(delivered)
  }

  /**
   * Finds the authors whose posts wait for delivery or back-fill, and whose posts the reader, or
   * one of the reader's groups, sees. One command, shared, with one index key per author, and while
   * jobs wait those of {@link PageFactsReader.loadAuthors}.
   */
  async findWaiting(reader: UserId, group?: string): Promise<Waiting> {
    const all = await this.readShared([reader])
    const [delivered, filled] = [all.delivered, all.filled.get(reader) ?? []]
    const isMany = Math.max(delivered.length, filled.length) > waitingMax
    const authors = [...new Set([...delivered, ...filled])]
    if (isMany || authors.length === 0) return { isMany, delivered: [], filled: [] }
    const isCurrent = await this.memory.isCurrent()
    const facts = await this.facts.loadAuthors(authors, { reader, group }, isCurrent)
    const isVisible = (user: UserId) => isShown('AUTHOR', reader, { user }, facts)
    return { isMany, delivered: delivered.filter(isVisible), filled: filled.filter(isVisible) }
  }

  private async readWaitingOfAll(readers: readonly UserId[]): Promise<WaitingOfAll> {
    const { outbox } = this.collections
    const backfillsOf = readers.map((reader) => ({
      $unionWith: {
        coll: outbox.collectionName,
        pipeline: [
          { $match: { kind: backfills, 'payload.author': null, 'payload.follower': reader } },
          { $limit: waitingMax + 1 },
          { $project: { _id: '$payload.followee', reader: '$payload.follower' } },
        ],
      },
    }))
    const rows = await outbox
      .aggregate<{ readonly _id: UserId; readonly reader?: UserId }>(
        [
          { $match: { kind: deliveries } },
          { $group: { _id: '$payload.author' } },
          { $limit: waitingMax + 1 },
          ...backfillsOf,
        ],
        // Up to 2,001 rows for the deliveries, and as many for each reader.
        { ...requestTimeout, batchSize: (readers.length + 1) * (waitingMax + 1) },
      )
      .toArray()
    const filled = groupBy(
      rows.filter(({ reader }) => reader !== undefined),
      ({ reader }) => reader as UserId,
    )
    return {
      delivered: rows.flatMap(({ _id, reader }) => (reader === undefined ? _id : [])),
      filled: new Map([...filled].map(([reader, own]) => [reader, own.map(({ _id }) => _id)])),
    }
  }

  /**
   * The first post above `above` whose delivery waits, among posts of these authors. Also a deleted
   * post. One command with one index seek per author. None without authors.
   */
  async firstUndelivered(authors: readonly UserId[], above: PostId): Promise<PostId | undefined> {
    if (authors.length === 0) return undefined
    const { outbox } = this.collections
    const [row] = await outbox.db
      .aggregate<{ first: PostId | null }>(
        [
          { $documents: authors.map((author) => ({ author })) },
          {
            $lookup: {
              from: outbox.collectionName,
              localField: 'author',
              foreignField: 'payload.author',
              pipeline: [
                {
                  $match: {
                    kind: deliveries,
                    'payload.follower': null,
                    'payload.post': { $gt: above },
                  },
                },
                { $sort: { 'payload.post': 1 } },
                { $limit: 1 },
                { $project: { _id: 0, post: '$payload.post' } },
              ],
              as: 'jobs',
            },
          },
          { $group: { _id: null, first: { $min: { $first: '$jobs.post' } } } },
        ],
        singleBatch,
      )
      .toArray()
    return row?.first ?? undefined
  }

  /** Whether the delivery of a post, or the back-fill of an edge, has not ended. One command. */
  async isBeingDelivered({ id, author }: PostRef, { follower, followee }: Pair): Promise<boolean> {
    const job = await this.collections.outbox.findOne(
      {
        $or: [
          { ...jobsAbout(author), kind: deliveries, 'payload.author': author, 'payload.post': id },
          {
            ...jobsAbout(follower),
            kind: backfills,
            'payload.author': null,
            'payload.follower': follower,
            'payload.followee': followee,
          },
        ],
      },
      { ...requestTimeout, projection: { _id: 1 } },
    )
    return job !== null
  }

  /** Whether a waiting delivery of these authors has an existing post. One command. */
  private async isPosted(authors: readonly UserId[]): Promise<boolean> {
    const { outbox, posts } = this.collections
    const [row] = await outbox
      .aggregate<{ waiting: number; posts: number }>(
        [
          {
            $match: {
              ...jobsAbout(...authors),
              kind: deliveries,
              'payload.author': { $in: [...authors] },
            },
          },
          { $limit: deliveriesMax },
          {
            $lookup: {
              from: posts.collectionName,
              localField: 'payload.author',
              foreignField: 'author',
              let: { post: { $toObjectId: '$payload.post' } },
              pipeline: [
                { $match: { $expr: { $eq: ['$_id', '$$post'] } } },
                { $project: { _id: 1 } },
              ],
              as: 'posts',
            },
          },
          { $group: { _id: null, waiting: { $sum: 1 }, posts: { $sum: { $size: '$posts' } } } },
        ],
        singleBatch,
      )
      .toArray()
    return row !== undefined && (row.posts > 0 || row.waiting >= deliveriesMax)
  }
}

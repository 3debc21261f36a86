import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import { subscriptions } from '../../events.ts'
import type { Edges } from '../../follows/edges.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Pair } from '../backfill.ts'

const deliveries = subscriptions['post.created'].timelines
const backfills = subscriptions['follow.created'].timelines

/** Authors with waiting deliveries, and back-fills of one reader, that are looked at. Beyond that, the answer is yes. */
const waitingMax = 2_000
/** Waiting deliveries of the reader's authors whose posts are looked for. Beyond that, the answer is yes. */
const deliveriesMax = 200

interface Row {
  /** How many authors wait for deliveries, or for the reader's back-fills, whichever is more. */
  readonly waiting: number
  /** Authors with waiting deliveries whose posts the timeline shows. */
  readonly delivered: UserId[]
  /** Authors with waiting back-fills whose posts the timeline shows. */
  readonly filled: UserId[]
}

/** Says which deliveries have not ended. A parked delivery has not ended. */
export class Pending {
  constructor(
    private readonly collections: Collections,
    private readonly edges: Edges,
  ) {}

  /**
   * Whether a post that belongs to the reader's timeline, or to that of one of their groups, may still be on its way.
   * False means that every such post has been delivered before this was asked. True means that the delivery of such a
   * post, or the back-fill of such an author, has not ended; or that more jobs wait than are looked at: deliveries of
   * more than 2,000 authors, more than 2,000 back-fills of the reader, or 200 deliveries of authors whom the reader sees.
   * One command of at most 2,000 index seeks a part, and one more while a delivery to the reader waits.
   */
  async to(reader: UserId, group?: string): Promise<boolean> {
    const { waiting, delivered, filled } = await this.waitingFor(reader, group)
    if (waiting > waitingMax || filled.length > 0) return true
    return delivered.length > 0 && this.isPosted(delivered)
  }

  /** Whether a post is being delivered, or all of a followee's posts to a follower. One command. */
  async isUnderWay({ id, author }: PostRef, { follower, followee }: Pair): Promise<boolean> {
    const found = await this.collections.outbox.findOne(
      {
        $or: [
          { kind: deliveries, 'payload.author': author, 'payload.post': id },
          {
            kind: backfills,
            'payload.author': null,
            'payload.follower': follower,
            'payload.followee': followee,
          },
        ],
      },
      { ...requestTimeout, projection: { _id: 1 } },
    )
    return found !== null
  }

  /** The authors of waiting deliveries and back-fills, less those whose posts do not show. One command. */
  private async waitingFor(reader: UserId, group: string | undefined): Promise<Row> {
    const { outbox, restrictions, user_stats } = this.collections
    const { collection, owner, other } = this.edges.following
    const inGroup = group === undefined ? {} : { groups: group }
    const byReader = { kind: backfills, 'payload.author': null, 'payload.follower': reader }
    const delivered = [{ $match: { kind: deliveries } }, { $group: { _id: '$payload.author' } }]
    const filled = [{ $match: byReader }, { $project: { _id: '$payload.followee' } }]
    const own = group === undefined ? { $setIntersection: [[reader], '$delivered._id'] } : []
    const [row] = await outbox.db
      .aggregate<Row>(
        [
          { $documents: [{}] },
          { $lookup: { ...waiting(outbox, delivered), as: 'delivered' } },
          { $lookup: { ...waiting(outbox, filled), as: 'filled' } },
          { $set: { authors: { $setUnion: ['$delivered._id', '$filled._id'] } } },
          {
            $lookup: { ...among(collection, other, { [owner]: reader, ...inGroup }), as: 'edges' },
          },
          { $set: { authors: { $setUnion: [`$edges.${other}`, own] } } },
          { $lookup: { ...among(restrictions, 'other', { owner: reader }), as: 'hidden' } },
          { $lookup: { ...among(user_stats, '_id', {}), as: 'live' } },
          { $set: { authors: { $setDifference: ['$live._id', '$hidden.other'] } } },
          {
            $project: {
              waiting: { $max: [{ $size: '$delivered' }, { $size: '$filled' }] },
              delivered: { $setIntersection: ['$authors', '$delivered._id'] },
              filled: { $setIntersection: ['$authors', '$filled._id'] },
            },
          },
        ],
        singleBatch,
      )
      .toArray()
    if (!row) throw new Error('the query for pending deliveries returned no row')
    return row
  }

  /** Whether any waiting delivery of these authors is of a post that exists. One command. */
  private async isPosted(authors: readonly UserId[]): Promise<boolean> {
    const { outbox, posts } = this.collections
    const [row] = await outbox
      .aggregate<{ waiting: number; posts: number }>(
        [
          { $match: { kind: deliveries, 'payload.author': { $in: [...authors] } } },
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

type Source = { readonly collectionName: string }

/** The first authors that a pipeline over jobs finds. */
const waiting = ({ collectionName: from }: Source, found: readonly Document[]) => ({
  from,
  pipeline: [...found, { $limit: waitingMax + 1 }],
})

/** Those of `authors` that stand in `field` of a document that matches. */
const among = ({ collectionName: from }: Source, field: string, match: Document) => ({
  from,
  localField: 'authors',
  foreignField: field,
  pipeline: [
    { $match: match },
    { $project: field === '_id' ? { _id: 1 } : { _id: 0, [field]: 1 } },
  ],
})

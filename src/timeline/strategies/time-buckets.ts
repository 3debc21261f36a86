import { singleBatch } from '../../db/client.ts'
import type { Collections, EntryDoc, StrategyDoc, TimedBucketDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import type { Document, Filter } from '../../db/mongo.ts'
import { fromObjectId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { groupBy } from '../../lib/batch.ts'
import { type PostId, type TimeId, timeOf, type UserId } from '../../lib/ids.ts'
import { decimal } from '../../lib/variables.ts'
import { fromEntryDoc, toEntryDoc } from '../entries.ts'
import { defineStrategy, type StoredForm } from './descriptor.ts'
import { cutAtFloor } from './floor.ts'
import { dropAndStart, optionOf } from './setting.ts'
import type { Candidates, Entry, MaterialisedStrategy, Segment, StrategyQuery } from './strategy.ts'

const dayMs = 86_400_000

/** The key of a bucket. */
type Key = TimedBucketDoc['_id']

/** The number of the period in which an id was created. */
const periodAt = (id: TimeId, periodMs: number): number =>
  Math.floor(timeOf(id).getTime() / periodMs)

/** The keys of all buckets of a reader. */
const keysOf = (reader: string) => ({
  $gte: { reader, period: 0 },
  $lte: { reader, period: Infinity },
})

const storedForm: StoredForm<'timed_buckets'> = {
  collection: 'timed_buckets',
  documentsTogether: 1,
  ofReader: (reader) => ({ _id: keysOf(reader) }),
  comparable: 'always',
  below(reader, floor, registration) {
    const period = periodAt(floor, optionOf(registration, 'periodMs'))
    return [
      { $match: { _id: { ...keysOf(reader), $lt: { reader, period } } } },
      { $sort: { _id: 1 } },
    ]
  },
  entriesIn: ({ entries }) => entries,
  misplacedIn({ _id: { period }, entries }, { options }) {
    const posts = entries.map(({ post }) => fromObjectId<PostId>(post))
    const misplaced = posts.find((id) => periodAt(id, options.periodMs ?? 1) !== period)
    return misplaced && `${misplaced} in another period`
  },
}

/** The descriptor of TIME_BUCKETS. */
export const timeBuckets = defineStrategy({
  name: 'TIME_BUCKETS',
  description: 'Stores entries when posts are written, in one document per reader and period.',
  table: {
    post: 'pushed into a document a reader and period',
    page: 'the newest periods, until the page is full',
    stored: 'everything, or some days, a document a period',
  },
  collections: ['timed_buckets'],
  settings: {
    timeBucketDays: {
      variable: 'TIME_BUCKET_DAYS',
      schema: decimal(0.01, 366).default(7),
      reason:
        '`TIME_BUCKETS`: the days of a bucket. Shorter if readers get more than 2,000 posts in this time',
      option: {
        name: 'periodMs',
        toStored: (days) => Math.round(days * dayMs),
        toVariable: (ms) => ms / dayMs,
        howToChange: dropAndStart,
      },
      whenChecked: undefined,
    },
  },
  backfilled: true,
  storedForm,
  create: ({ collections }) => new TimeBuckets(collections.timed_buckets),
})

/**
 * Number of entries of a full bucket. With 3,000 bytes of text per entry, it stays far below
 * MongoDB's 16 MB.
 */
const bucketMax = 2_000

/** An entry of a bucket. The first one that is `over` ends what the buckets know. */
type BucketEntry = EntryDoc & { readonly over?: true }

/**
 * Fan-out on write into one document per reader and period. An entry goes into the period of its
 * post, also if it is late or back-filled. Fan-out on read serves a period with too many entries
 * for one document. The length of a period belongs to the registration.
 */
export class TimeBuckets implements MaterialisedStrategy {
  constructor(private readonly buckets: Collections['timed_buckets']) {}

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  /** One command, which stops at the bucket that fills the page. */
  async proposeCandidates({ reader, range, registration }: StrategyQuery): Promise<Candidates> {
    if (!registration) return { entries: [], complete: false }
    const { olderThan, newerThan, oldestFirst, limit } = range
    const bounds = {
      ...(olderThan === undefined ? {} : { $lt: toObjectId(olderThan) }),
      ...(newerThan === undefined ? {} : { $gt: toObjectId(newerThan) }),
    }
    const sort = oldestFirst ? (1 as const) : (-1 as const)
    const pipeline = [
      {
        $match: {
          _id: {
            $gte: { reader, period: newerThan ? this.periodOf(newerThan, registration) : 0 },
            $lte: {
              reader,
              period: olderThan ? this.periodOf(olderThan, registration) : Infinity,
            },
          },
        },
      },
      { $sort: { _id: sort } },
      { $project: { _id: 0, entry: sortedUnless(sort) } },
      { $unwind: '$entry' },
      { $replaceWith: '$entry' },
      {
        $match: {
          $or: [Object.keys(bounds).length > 0 ? { post: bounds } : {}, { over: true }],
        },
      },
      { $limit: limit },
    ]
    const rows = await this.buckets.aggregate<BucketEntry>(pipeline, singleBatch).toArray()
    const end = rows.findIndex(({ over }) => over)
    const entries = (end < 0 ? rows : rows.slice(0, end)).map(fromEntryDoc)
    const above = cutAtFloor(entries, range, registration)
    return { ...above, complete: above.complete && end < 0 }
  }

  /** One command if each reader has the bucket, otherwise up to four. */
  async deliver(
    entry: Entry,
    readers: readonly UserId[],
    registration: StrategyDoc,
  ): Promise<void> {
    const doc = toEntryDoc(entry)
    const period = this.periodOf(entry.id, registration)
    const keys = readers.map((reader) => ({ reader, period }))
    if ((await this.pushEntry(keys, doc)) === keys.length) return
    const held = await this.findBuckets(keys, doc)
    const missing = keys.filter(({ reader }) => !held.has(reader))
    const met = await this.insertBuckets(missing.map((_id) => ({ _id, entries: [doc] })))
    // Full buckets, and buckets that another delivery opened since: one step adds the entry or
    // marks the bucket.
    const late = [...keys.filter(({ reader }) => held.get(reader) === false), ...met]
    if (late.length > 0) await this.buckets.updateMany(lacking(late, doc), merged([doc]))
  }

  /**
   * One bulk command with one update per period, and one more if another write opened a bucket at
   * the same time.
   */
  async merge(reader: UserId, { entries }: Segment, registration: StrategyDoc): Promise<void> {
    const byPeriod = [...groupBy(entries, ({ id }) => this.periodOf(id, registration))]
    const updates = byPeriod.map(([period, ofPeriod]) => ({
      updateOne: {
        filter: { _id: { reader, period } },
        update: merged(ofPeriod.map(toEntryDoc)),
        upsert: true,
      },
    }))
    if (updates.length === 0) return
    // Two writes opened one bucket at the same time. The second one finds the bucket when it is
    // repeated.
    const again = await this.buckets
      .bulkWrite(updates, { ordered: false })
      .then(none, duplicatePositions)
    if (again.length === 0) return
    await this.buckets.bulkWrite(
      again.flatMap((at) => updates[at] ?? []),
      { ordered: false },
    )
  }

  /** One command. It leaves an empty bucket, which later deliveries fill. */
  async remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    const periods = [...new Set(posts.map((post) => this.periodOf(post, registration)))]
    const keys = readers.flatMap((reader) => periods.map((period) => ({ reader, period })))
    const gone = posts.map(toObjectId)
    const holding = { _id: { $in: keys }, 'entries.post': { $in: gone } }
    await this.buckets.updateMany(
      holding,
      { $pull: { entries: { post: { $in: gone } } } },
      { ...tx },
    )
  }

  /** One command. */
  async deleteReader(reader: UserId): Promise<void> {
    await this.buckets.deleteMany({ _id: keysOf(reader) })
  }

  private periodOf(id: TimeId, registration: StrategyDoc): number {
    return periodAt(id, optionOf(registration, 'periodMs'))
  }

  /** Adds an entry to the buckets with room. @returns the number of these buckets. One command. */
  private async pushEntry(keys: readonly Key[], doc: EntryDoc): Promise<number> {
    const taking = { ...lacking(keys, doc), [`entries.${bucketMax - 1}`]: { $exists: false } }
    return (await this.buckets.updateMany(taking, { $push: { entries: doc } })).matchedCount
  }

  /** Finds the readers whose bucket exists, and whether it holds the post. One command. */
  private async findBuckets(
    keys: readonly Key[],
    { post }: EntryDoc,
  ): Promise<Map<string, boolean>> {
    const holds = { $in: [post, '$entries.post'] }
    const docs = await this.buckets
      .find({ _id: { $in: [...keys] } }, { ...singleBatch, projection: { holds } })
      .toArray()
    return new Map(
      docs.map(({ _id, ...row }) => [_id.reader, (row as { holds?: boolean }).holds === true]),
    )
  }

  /**
   * Inserts buckets. @returns the keys of the buckets that existed. One command, none without
   * buckets.
   */
  private async insertBuckets(docs: TimedBucketDoc[]): Promise<Key[]> {
    if (docs.length === 0) return []
    const met = await this.buckets
      .insertMany(docs, { ordered: false })
      .then(none, duplicatePositions)
    return met.flatMap((at) => docs[at]?._id ?? [])
  }
}

const none = (): number[] => []

const lacking = (keys: readonly Key[], { post }: EntryDoc): Filter<TimedBucketDoc> => ({
  _id: { $in: [...keys] },
  'entries.post': { $ne: post },
})

/** The entries in order without repeats. For a bucket that lacks entries, a mark in their place. */
const sortedUnless = (sort: 1 | -1): Document => {
  const distinct = { $setUnion: ['$entries'] }
  return {
    $cond: ['$over', [{ over: true }], { $sortArray: { input: distinct, sortBy: { post: sort } } }],
  }
}

/**
 * The update that adds missing entries. It leaves out entries that do not fit, and marks the bucket
 * with `over`.
 */
function merged(docs: readonly EntryDoc[]): Document[] {
  const added = docs.map(({ post }) => post)
  const all = { $literal: docs }
  const kept = {
    $filter: {
      input: { $ifNull: ['$entries', []] },
      cond: { $not: [{ $in: ['$$this.post', added] }] },
    },
  }
  return [
    { $set: { entries: { $concatArrays: [kept, all] } } },
    {
      $set: {
        over: {
          $cond: [
            { $gt: [{ $size: '$entries' }, bucketMax] },
            true,
            { $ifNull: ['$over', '$$REMOVE'] },
          ],
        },
        entries: { $slice: ['$entries', bucketMax] },
      },
    },
  ]
}

import { singleBatch } from '../../db/client.ts'
import type { Collections, EntryDoc, SizedBucketDoc, StrategyDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { fromObjectId, highestId, lowestId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { chunks, groupBy } from '../../lib/batch.ts'
import type { IdMint, PostId, UserId } from '../../lib/ids.ts'
import { toEntryDoc } from '../entries.ts'
import { BucketReader } from './bucket-reader.ts'
import { defineStrategy, type StoredForm } from './descriptor.ts'
import { entriesOfDocument } from './setting.ts'
import type { Candidates, Entry, MaterialisedStrategy, Segment, StrategyQuery } from './strategy.ts'

const storedForm: StoredForm<'sized_buckets'> = {
  collection: 'sized_buckets',
  documentsTogether: 1,
  ofReader: (reader) => ({ reader }),
  comparable: 'always',
  below: (reader, floor) => [
    { $match: { reader, newest: { $lt: toObjectId(floor) } } },
    { $sort: { newest: -1 } },
  ],
  entriesIn: ({ entries }) => entries,
  misplacedIn(bucket) {
    const [newest, oldest] = [idOf(bucket.newest), idOf(bucket.oldest)]
    const misplaced = bucket.entries
      .map(({ post }) => idOf(post))
      .find((id) => id > newest || id < oldest)
    return misplaced && `${misplaced} beyond its bucket`
  },
}

/** The descriptor of SIZED_BUCKETS. */
export const sizedBuckets = defineStrategy({
  name: 'SIZED_BUCKETS',
  description:
    'Stores entries when posts are written, in documents with a fixed number of entries.',
  table: {
    post: "pushed into each reader's open document of 50",
    page: 'the newest documents, merged where they overlap',
    stored: 'everything, or some days, a document for 50',
  },
  collections: ['sized_buckets'],
  settings: {
    sizedBucketSize: {
      variable: 'SIZED_BUCKET_SIZE',
      schema: entriesOfDocument.default(50),
      reason: '`SIZED_BUCKETS`: the entries of a bucket. Buckets of every size are read',
      option: undefined,
      whenChecked: undefined,
    },
  },
  backfilled: true,
  storedForm,
  create: ({ collections, mint }, { sizedBucketSize }) =>
    new SizedBuckets(collections.sized_buckets, mint, sizedBucketSize),
})

/**
 * Fan-out on write into documents with a fixed number of entries. New entries go to a reader's open
 * bucket. A full bucket is closed with its newest and oldest id. A unique index allows one open
 * bucket per reader. Late and back-filled entries make buckets overlap. A page merges overlapping
 * buckets and shows a repeated entry once.
 */
export class SizedBuckets implements MaterialisedStrategy {
  private readonly reader: BucketReader

  /** @param size the number of entries in a full bucket. */
  constructor(
    private readonly buckets: Collections['sized_buckets'],
    private readonly mint: IdMint,
    private readonly size: number,
  ) {
    this.reader = new BucketReader(buckets, size)
  }

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  /** Commands as in {@link BucketReader}. */
  async proposeCandidates(query: StrategyQuery): Promise<Candidates> {
    return this.reader.proposeCandidates(query)
  }

  /** Two commands if each reader's bucket has room, otherwise up to four more. */
  async deliver(entry: Entry, readers: readonly UserId[]): Promise<void> {
    const doc = toEntryDoc(entry)
    let left = readers
    while (left.length > 0) {
      const open = { reader: { $in: [...left] }, open: true as const }
      const pushed = await this.buckets.updateMany(
        { ...open, count: { $lt: this.size }, 'entries.post': { $ne: doc.post } },
        { $push: { entries: doc }, $inc: { count: 1 } },
      )
      if (pushed.matchedCount === left.length) break
      const done = await this.findBuckets(left, doc)
      left = left.filter((reader) => !done.has(reader))
      if (left.length === 0) break
      await this.closeBuckets(left)
      const opened = left.map(
        (reader): SizedBucketDoc => ({
          _id: toObjectId(this.mint.next<PostId>()),
          reader,
          open: true,
          count: 1,
          newest: highestId,
          oldest: lowestId,
          entries: [doc],
        }),
      )
      // A bucket that another delivery opened at the same instant has room.
      const met = await this.buckets
        .insertMany(opened, { ordered: false })
        .then(none, duplicatePositions)
      left = met.flatMap((at) => left[at] ?? [])
    }
    await this.dedupe(readers, doc)
  }

  /** Three commands, for any number of entries. The entries go into new closed buckets. */
  async merge(reader: UserId, { entries }: Segment): Promise<void> {
    const held = await this.countBuckets(reader, entries)
    const lacking = entries.filter(({ id }) => !held.has(id)).map(toEntryDoc)
    const docs = [...chunks(lacking, this.size)].map(
      (own): SizedBucketDoc => ({
        _id: toObjectId(this.mint.next<PostId>()),
        reader,
        count: own.length,
        newest: own[0]?.post ?? lowestId,
        oldest: own.at(-1)?.post ?? lowestId,
        entries: [...own],
      }),
    )
    if (docs.length === 0) return
    await this.buckets.insertMany(docs)
    // An entry that was delivered in between is in two buckets.
    for (const [id, buckets] of await this.countBuckets(reader, entries)) {
      if (buckets > 1) await this.dedupe([reader], toEntryDoc({ id }))
    }
  }

  /** Two commands. The second deletes closed buckets that are empty now. */
  async remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    _: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    const gone = [...posts].sort().map(toObjectId)
    const [first, last] = [gone[0], gone.at(-1)]
    if (!first || !last) return
    const reader = { $in: [...readers] }
    const reaching = { reader, newest: { $gte: first }, oldest: { $lte: last } }
    await this.buckets.updateMany(
      { ...reaching, 'entries.post': { $in: gone } },
      { $pull: { entries: { post: { $in: gone } } } },
      { ...tx },
    )
    const empty = { ...reaching, open: { $exists: false }, entries: { $size: 0 } }
    await this.buckets.deleteMany(empty, { ...tx })
  }

  /** One command. */
  async deleteReader(reader: UserId): Promise<void> {
    await this.buckets.deleteMany({ reader })
  }

  /** Closes the open buckets that are full. One command. */
  private async closeBuckets(readers: readonly UserId[]): Promise<void> {
    await this.buckets.updateMany(
      { reader: { $in: [...readers] }, open: true, count: { $gte: this.size } },
      [
        {
          $set: {
            open: '$$REMOVE',
            newest: { $ifNull: [{ $max: '$entries.post' }, lowestId] },
            oldest: { $ifNull: [{ $min: '$entries.post' }, lowestId] },
          },
        },
      ],
    )
  }

  /** Counts the reader's buckets that hold each entry. @param entries newest first. One command. */
  private async countBuckets(
    reader: UserId,
    entries: readonly Entry[],
  ): Promise<Map<PostId, number>> {
    const held = new Map<PostId, number>()
    const posts = entries.map(({ id }) => toObjectId(id))
    const [newest, oldest] = [posts[0], posts.at(-1)]
    if (!newest || !oldest) return held
    const reaching = { newest: { $gte: oldest }, oldest: { $lte: newest } }
    const holding = { reader, ...reaching, 'entries.post': { $in: posts } }
    const asked = new Set(entries.map(({ id }) => id))
    const found = this.buckets.find(holding, { ...singleBatch, projection: { 'entries.post': 1 } })
    for await (const doc of found) {
      for (const id of new Set(doc.entries.map(({ post }) => fromObjectId<PostId>(post)))) {
        if (asked.has(id)) held.set(id, (held.get(id) ?? 0) + 1)
      }
    }
    return held
  }

  /**
   * Removes repeats of a post, which other tries or workers stored. Calls keep the same one. One or
   * two commands.
   */
  private async dedupe(readers: readonly UserId[], doc: EntryDoc): Promise<void> {
    const held = await this.findBuckets(readers, doc)
    const repeats = [...held.values()].flatMap((ids) => ids.slice(1))
    if (repeats.length === 0) return
    await this.buckets.updateMany(
      { reader: { $in: [...readers] }, _id: { $in: repeats } },
      { $pull: { entries: { post: doc.post } } },
    )
  }

  /** Finds the buckets of each reader that hold a post, in the order of their ids. One command. */
  private async findBuckets(
    readers: readonly UserId[],
    { post }: EntryDoc,
  ): Promise<Map<UserId, ObjectId[]>> {
    const holding = await this.buckets
      .find(
        {
          reader: { $in: [...readers] },
          newest: { $gte: post },
          oldest: { $lte: post },
          'entries.post': post,
        },
        {
          ...singleBatch,
          projection: { reader: 1 },
          hint: { reader: 1, newest: -1, oldest: 1 },
        },
      )
      .toArray()
    const ids = groupBy(holding, ({ reader }) => reader as UserId)
    return new Map(
      [...ids].map(([reader, docs]) => [
        reader,
        docs.map(({ _id }) => _id).sort((a, b) => (a.toHexString() < b.toHexString() ? -1 : 1)),
      ]),
    )
  }
}

const idOf = (id: ObjectId) => fromObjectId<PostId>(id)
const none = (): number[] => []

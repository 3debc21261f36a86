import { requestTimeout } from '../../db/client.ts'
import type { Collections, EntryDoc, StrategyDoc, TimelineCacheDoc } from '../../db/collections.ts'
import { isDuplicateKey } from '../../db/errors.ts'
import { findAtOnce } from '../../db/find-at-once.ts'
import type { GroupCommit } from '../../db/group-commit.ts'
import type { AnyBulkWriteOperation, Document, ObjectId } from '../../db/mongo.ts'
import { fromObjectId, lowestId, toObjectId } from '../../db/object-id.ts'
import { shareReads } from '../../db/shared-reads.ts'
import type { Tx } from '../../db/transaction.ts'
import { type IdMint, neighbour, type PostId, type UserId } from '../../lib/ids.ts'
import { decimal } from '../../lib/variables.ts'
import { combineSmallWrites, smallAudienceMax } from '../delivery/follower-walk.ts'
import { fromEntryDoc, isInRange, sortEntries, toEntryDoc } from '../entries.ts'
import type { EntryReader } from '../entry-reader.ts'
import { defineStrategy, type StoredForm } from './descriptor.ts'
import type { FanoutOnRead } from './fanout-on-read.ts'
import { dropAndStart, entriesOfDocument, optionOf } from './setting.ts'
import type { Candidates, Entry, MaterialisedStrategy, Segment, StrategyQuery } from './strategy.ts'

const dayMs = 86_400_000

const storedForm: StoredForm<'timeline_cache'> = {
  collection: 'timeline_cache',
  documentsTogether: 1,
  ofReader: (reader) => ({ _id: reader }),
  comparable: (reader, { epoch }) => ({ _id: reader, epoch, building: { $exists: false } }),
  below: undefined,
  entriesIn: ({ entries }) => entries,
  misplacedIn({ entries }) {
    const posts = entries.map(({ post }) => fromObjectId<PostId>(post))
    const misplaced = posts.find((id, at) => at > 0 && id > (posts[at - 1] ?? ''))
    return misplaced && `${misplaced} below an older post`
  },
}

/** The descriptor of CACHE. */
export const cache = defineStrategy({
  name: 'CACHE',
  description: 'Stores entries when posts are written, in one capped document per active reader.',
  table: {
    post: 'pushed into one document of 50, only for readers who came',
    page: 'that document; beyond its end fan-out on read',
    stored: 'the newest 50 of active readers',
  },
  collections: ['timeline_cache'],
  settings: {
    cacheSize: {
      variable: 'CACHE_SIZE',
      schema: entriesOfDocument.default(50),
      reason: '`CACHE`: the entries of a reader, and so the largest page that it serves alone',
      option: {
        name: 'size',
        toStored: (entries) => entries,
        toVariable: (entries) => entries,
        howToChange: dropAndStart,
      },
      whenChecked: undefined,
    },
    /** How long a reader may be away before the cache is deleted, in days. */
    cacheAwayDays: {
      variable: 'CACHE_AWAY_DAYS',
      schema: decimal(0.01, 3660).default(30),
      reason:
        '`CACHE`: days without a visit after which a cache is dropped. It lives as long as the last server that prolonged it says',
      option: undefined,
      // A check does not extend the expiry of a cache.
      whenChecked: 0,
    },
  },
  backfilled: false,
  storedForm,
  create: ({ collections, fanoutOnRead, entries, mint, now }, { cacheAwayDays }) => {
    const awayMs = cacheAwayDays * dayMs
    return new Cache(collections.timeline_cache, { fanoutOnRead, entries, mint, now, awayMs })
  },
})

/** The parts that {@link Cache} works with. */
export interface CacheParts {
  readonly fanoutOnRead: FanoutOnRead
  readonly entries: EntryReader
  readonly mint: IdMint
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How long its reader may be away before a cache is deleted, in milliseconds. */
  readonly awayMs: number
}

/**
 * Fan-out on write into one document of bounded size per reader, only for active readers. The first
 * read creates an empty document that takes deliveries, then merges the posts of fan-out on read
 * into it. So no post is missed in between. Below its floor, fan-out on read continues the page.
 * Its size belongs to the registration. A cache ignores operations under another registration,
 * because its build includes all earlier posts and edges.
 */
export class Cache implements MaterialisedStrategy {
  private readonly small: GroupCommit<readonly Push[], undefined>
  /** A cache may have 4,000 entries, so few share a command. */
  private readonly readCaches = shareReads(
    'caches',
    (readers: readonly UserId[]) => this.readAmong(readers),
    16,
  )

  constructor(
    private readonly caches: Collections['timeline_cache'],
    private readonly parts: CacheParts,
  ) {
    this.small = combineSmallWrites((pushes) => caches.bulkWrite(pushes))
  }

  /**
   * One entry more than the size, so that a page of the full size knows whether another follows.
   */
  depthMax(registration: StrategyDoc): number {
    return optionOf(registration, 'size') + 1
  }

  /**
   * One command on one document, shared by concurrent requests. A build costs three more and those
   * of fan-out on read.
   */
  async proposeCandidates({
    reader,
    range,
    excludedAuthors,
    registration,
  }: StrategyQuery): Promise<Candidates> {
    const cache = registration && (await this.loadCache(reader, registration))
    if (!cache) return { entries: [], complete: false }
    const floor = fromObjectId<PostId>(floorOf(cache, this.depthMax(registration)))
    const { newerThan, oldestFirst } = range
    const reaches = floor === lowest || (newerThan !== undefined && newerThan >= below(floor))
    if (oldestFirst && !reaches) return { entries: [], complete: false }
    const held = cache.entries
      .map(fromEntryDoc)
      .filter(
        ({ id, author }) =>
          id >= floor &&
          isInRange(id, range) &&
          !(author !== undefined && excludedAuthors.has(author)),
      )
    return { entries: sortEntries(held, range), complete: reaches }
  }

  /** One command. Small audiences share it. It creates no cache. */
  async deliver(
    entry: Entry,
    readers: readonly UserId[],
    registration: StrategyDoc,
  ): Promise<void> {
    const pushes = this.createPushes(toEntryDoc(entry), readers, registration)
    if (readers.length > smallAudienceMax) await this.caches.bulkWrite(pushes)
    else await this.small.submit('', pushes)
  }

  private createPushes(
    doc: EntryDoc,
    readers: readonly UserId[],
    registration: StrategyDoc,
  ): Push[] {
    const { epoch } = registration
    const push = (where: object, how: object): Push => {
      const filter = { _id: { $in: [...readers] }, epoch, floor: { $lte: doc.post }, ...where }
      const entries = { $each: [doc], ...how, $slice: this.depthMax(registration) }
      return { updateMany: { filter, update: { $push: { entries } } } }
    }
    return [
      // Nearly every post is newer than all entries of a cache. Putting it in front costs a fifth
      // of a sort.
      push({ 'entries.0.post': { $lt: doc.post } }, { $position: 0 }),
      push(
        { 'entries.0.post': { $ne: doc.post }, 'entries.post': { $ne: doc.post } },
        { $sort: { post: -1 } },
      ),
    ]
  }

  /** One command, which concurrent merges share. It creates no cache. */
  async merge(
    reader: UserId,
    { entries, newest, oldest }: Segment,
    registration: StrategyDoc,
  ): Promise<void> {
    if (!newest) return
    const depth = this.depthMax(registration)
    const kept = entries.slice(0, depth)
    const all = oldest && kept.length === entries.length
    const last = kept.at(-1)
    const floor = all || !last ? lowestId : toObjectId(last.id)
    const { epoch } = registration
    const update = merged(kept.map(toEntryDoc), floor, depth)
    await this.small.submit('', [{ updateOne: { filter: { _id: reader, epoch }, update } }])
  }

  /** One command. */
  async remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    const gone = posts.map(toObjectId)
    const { epoch } = registration
    const rest = {
      $filter: { input: '$entries', cond: { $not: [{ $in: ['$$this.post', gone] }] } },
    }
    await this.caches.updateMany(
      { _id: { $in: [...readers] }, epoch, 'entries.post': { $in: gone } },
      [{ $set: { floor: raisedFloor(this.depthMax(registration)) } }, { $set: { entries: rest } }],
      { ...tx },
    )
  }

  /** One command. */
  async deleteReader(reader: UserId): Promise<void> {
    await this.caches.deleteOne({ _id: reader })
  }

  private async readAmong(readers: readonly UserId[]): Promise<Map<string, TimelineCacheDoc>> {
    const found = await findAtOnce(this.caches, { _id: { $in: [...new Set(readers)] } })
    return new Map(found.map((doc) => [doc._id, doc]))
  }

  private async loadCache(
    reader: UserId,
    registration: StrategyDoc,
  ): Promise<TimelineCacheDoc | undefined> {
    const { epoch } = registration
    const isWhole = (doc: TimelineCacheDoc | null | undefined) =>
      doc && !doc.building && doc.epoch.equals(epoch) ? doc : undefined
    const cache = isWhole((await this.readCaches([reader])).get(reader))
    if (!cache) return isWhole(await this.build(reader, registration))
    const expiresAt = this.nextExpiry()
    // After an eighth of the lifetime, not with every read.
    if (expiresAt.getTime() - cache.expiresAt.getTime() > this.parts.awayMs / 8) {
      await this.caches.updateOne({ _id: reader }, { $set: { expiresAt } }, requestTimeout)
    }
    return cache
  }

  /** Concurrent builds are safe: only the build that started last ends. */
  private async build(reader: UserId, registration: StrategyDoc): Promise<TimelineCacheDoc | null> {
    const { epoch } = registration
    const depth = this.depthMax(registration)
    const building = toObjectId(this.parts.mint.next<PostId>())
    const empty = { epoch, entries: [], floor: lowestId, building, expiresAt: this.nextExpiry() }
    try {
      await this.caches.updateOne(
        { _id: reader },
        [
          {
            $set: {
              ...empty,
              // Deliveries during another build under this registration count.
              entries: {
                $cond: [{ $and: [{ $eq: ['$epoch', epoch] }, '$building'] }, '$entries', []],
              },
            },
          },
        ],
        { ...requestTimeout, upsert: true },
      )
    } catch (error) {
      if (isDuplicateKey(error)) return null
      throw error
    }
    const range = { oldestFirst: false, limit: depth }
    const query = { reader, range, group: undefined, excludedAuthors: new Set<UserId>() }
    const { entries: refs } = await this.parts.fanoutOnRead.proposeCandidates(query)
    const { entries, oldest } = await this.parts.entries.toSegment(refs, undefined, depth)
    const last = oldest ? undefined : refs.at(-1)
    const content = {
      entries: entries.map(toEntryDoc),
      floor: last ? toObjectId(last.id) : lowestId,
    }
    // Nothing is delivered during most builds, and a plain update costs less than a merge.
    const { matchedCount } = await this.caches.updateOne(
      { _id: reader, building, entries: [] },
      { $set: content, $unset: { building: '' } },
      requestTimeout,
    )
    const { building: _, ...whole } = { _id: reader, ...empty, ...content }
    const cache =
      matchedCount > 0
        ? whole
        : await this.caches.findOneAndUpdate(
            { _id: reader, building },
            [...merged(content.entries, content.floor, depth), { $unset: 'building' }],
            { ...requestTimeout, returnDocument: 'after' },
          )
    // The retraction of a post may have passed this reader since the post was read.
    const gone = await this.parts.entries.findDeleted(entries)
    if (gone.length === 0) return cache
    await this.remove([reader], gone, registration)
    return this.caches.findOne({ _id: reader }, requestTimeout)
  }

  private nextExpiry(): Date {
    return new Date(this.parts.now() + this.parts.awayMs)
  }
}

type Push = AnyBulkWriteOperation<TimelineCacheDoc>

const lowest = fromObjectId<PostId>(lowestId)
const below = (id: PostId) => neighbour(id, -1)

/**
 * The update that adds entries complete down to `floor`. The cache is then complete down to the
 * higher floor.
 */
function merged(docs: readonly EntryDoc[], floor: ObjectId, depth: number): Document[] {
  const added = docs.map(({ post }) => post)
  const kept = {
    $filter: { input: '$entries', cond: { $not: [{ $in: ['$$this.post', added] }] } },
  }
  const all = { $concatArrays: [kept, { $literal: docs }] }
  const held = { $filter: { input: all, cond: { $gte: ['$$this.post', '$floor'] } } }
  const sorted = { $sortArray: { input: held, sortBy: { post: -1 } } }
  return [
    { $set: { floor: { $max: [raisedFloor(depth), floor] } } },
    { $set: { entries: { $slice: [sorted, depth] } } },
  ]
}

/**
 * The floor of a cache, as an expression of an update. The floor of a full cache is its last entry.
 */
function raisedFloor(depth: number): Document {
  const full = { $gte: [{ $size: '$entries' }, depth] }
  return { $cond: [full, { $max: ['$floor', { $last: '$entries.post' }] }, '$floor'] }
}

/** The floor of a cache that was read, as {@link raisedFloor}. */
function floorOf({ entries, floor }: TimelineCacheDoc, depth: number): ObjectId {
  const last = entries.length < depth ? undefined : entries.at(-1)?.post
  return last && floor.toHexString() < last.toHexString() ? last : floor
}

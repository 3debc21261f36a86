import { z } from 'zod'
import { requestTimeout } from '../../db/client.ts'
import type { Collections, EntryDoc, StrategyDoc, TimelineCacheDoc } from '../../db/collections.ts'
import { isDuplicateKey } from '../../db/errors.ts'
import type { GroupCommit } from '../../db/group-commit.ts'
import type { AnyBulkWriteOperation, Document, ObjectId } from '../../db/mongo.ts'
import { fromObjectId, lowestId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { type IdMint, neighbour, type PostId, type UserId } from '../../lib/ids.ts'
import { smallMax, together } from '../audience.ts'
import { fromEntryDoc, inOrder, inRange, toEntryDoc } from '../entries.ts'
import type { EntryReader } from '../entry-reader.ts'
import { defineStrategy, type StoredForm } from './descriptor.ts'
import { FanoutOnRead } from './fanout-on-read.ts'
import { dropAndStart, entriesOfDocument, optionOf } from './setting.ts'
import type { Ask, Candidates, Entry, MaterialisedStrategy, Stretch } from './strategy.ts'

const dayMs = 86_400_000

const storedForm: StoredForm<'timeline_cache'> = {
  collection: 'timeline_cache',
  documentsTogether: 1,
  reader: '$_id',
  ofReader: (reader) => ({ _id: reader }),
  ofReaders: (after, upTo) => ({ _id: { $gt: after, $lte: upTo } }),
  comparable: (reader, { epoch }) => ({ _id: reader, epoch, building: { $exists: false } }),
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
  collections: { own: ['timeline_cache'], shared: [] },
  settings: {
    cacheSize: {
      variable: 'CACHE_SIZE',
      schema: entriesOfDocument.default(50),
      option: {
        name: 'size',
        toStored: (entries) => entries,
        toVariable: (entries) => entries,
        howToChange: dropAndStart,
      },
      whenChecked: undefined,
    },
    /** How long a reader may be away before their cache is dropped. */
    cacheAwayDays: {
      variable: 'CACHE_AWAY_DAYS',
      schema: z.coerce.number().min(0.01).max(3660).default(30),
      option: undefined,
      // A check prolongs the life of no cache.
      whenChecked: 0,
    },
  },
  backfilled: false,
  authors: 'all',
  storedForm,
  create: ({ collections, follows, posts, entries, mint, now }, { cacheAwayDays }) => {
    const oracle = new FanoutOnRead(follows, posts)
    const awayMs = cacheAwayDays * dayMs
    return new Cache(collections.timeline_cache, { oracle, entries, mint, now, awayMs })
  },
})

/** What a cache is made from, and by. */
export interface CacheParts {
  readonly oracle: FanoutOnRead
  readonly entries: EntryReader
  readonly mint: IdMint
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How long its reader may be away before it is dropped. */
  readonly awayMs: number
}

/**
 * Fan-out on write into one document of bounded size a reader, for those alone who read (seed 1). It is made on the
 * first read: first an empty document that takes deliveries, then what fan-out on read finds, merged into it; so no
 * post falls between. It knows down to where it holds everything; beyond, fan-out on read goes on.
 * Its size belongs to the registration. A cache takes nothing from an operation under another registration: once it is
 * built, it holds all that was posted and followed before.
 */
export class Cache implements MaterialisedStrategy {
  private readonly small: GroupCommit<readonly Push[], undefined>

  constructor(
    private readonly caches: Collections['timeline_cache'],
    private readonly parts: CacheParts,
  ) {
    this.small = together((pushes) => caches.bulkWrite(pushes))
  }

  /** One more than it serves at once, to tell whether a page follows. */
  depthMax(registration: StrategyDoc): number {
    return optionOf(registration, 'size') + 1
  }

  /** One command on one document; three more and fan-out on read where it is made first. */
  async candidates({ reader, range, refused, registration }: Ask): Promise<Candidates> {
    const cache = registration && (await this.read(reader, registration))
    if (!cache) return { entries: [], complete: false }
    const floor = fromObjectId<PostId>(floorOf(cache, this.depthMax(registration)))
    const { newerThan, oldestFirst } = range
    const reaches = floor === lowest || (newerThan !== undefined && newerThan >= below(floor))
    if (oldestFirst && !reaches) return { entries: [], complete: false }
    const held = cache.entries
      .map(fromEntryDoc)
      .filter(
        ({ id, author }) =>
          id >= floor && inRange(id, range) && !(author !== undefined && refused.has(author)),
      )
    return { entries: inOrder(held, range), complete: reaches }
  }

  /** One command, which small audiences share. Who has no cache gets none. */
  async deliver(
    entry: Entry,
    readers: readonly UserId[],
    registration: StrategyDoc,
  ): Promise<void> {
    const pushes = this.pushes(toEntryDoc(entry), readers, registration)
    if (readers.length > smallMax) await this.caches.bulkWrite(pushes)
    else await this.small.submit('', pushes)
  }

  private pushes(doc: EntryDoc, readers: readonly UserId[], registration: StrategyDoc): Push[] {
    const { epoch } = registration
    const push = (where: object, how: object): Push => {
      const filter = { _id: { $in: [...readers] }, epoch, floor: { $lte: doc.post }, ...where }
      const entries = { $each: [doc], ...how, $slice: this.depthMax(registration) }
      return { updateMany: { filter, update: { $push: { entries } } } }
    }
    return [
      // Newer than all that a cache holds, as nearly every post is: it goes in front, at a fifth of what sorting costs.
      push({ 'entries.0.post': { $lt: doc.post } }, { $position: 0 }),
      push(
        { 'entries.0.post': { $ne: doc.post }, 'entries.post': { $ne: doc.post } },
        { $sort: { post: -1 } },
      ),
    ]
  }

  /** One command. Who has no cache gets none. */
  async merge(
    reader: UserId,
    { entries, newest, oldest }: Stretch,
    registration: StrategyDoc,
  ): Promise<void> {
    if (!newest) return
    const depth = this.depthMax(registration)
    const some = entries.slice(0, depth)
    const all = oldest && some.length === entries.length
    const last = some.at(-1)
    const floor = all || !last ? lowestId : toObjectId(last.id)
    const { epoch } = registration
    await this.caches.updateOne({ _id: reader, epoch }, merged(some.map(toEntryDoc), floor, depth))
  }

  /** One command. */
  async forget(
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
  async forgetReader(reader: UserId): Promise<void> {
    await this.caches.deleteOne({ _id: reader })
  }

  private async read(
    reader: UserId,
    registration: StrategyDoc,
  ): Promise<TimelineCacheDoc | undefined> {
    const { epoch } = registration
    const isWhole = (doc: TimelineCacheDoc | null) =>
      doc && !doc.building && doc.epoch.equals(epoch) ? doc : undefined
    const found = isWhole(await this.caches.findOne({ _id: reader }, requestTimeout))
    if (!found) return isWhole(await this.build(reader, epoch, this.depthMax(registration)))
    const expiresAt = this.expiry()
    // Once in a while, not with every read.
    if (expiresAt.getTime() - found.expiresAt.getTime() > this.parts.awayMs / 8) {
      await this.caches.updateOne({ _id: reader }, { $set: { expiresAt } }, requestTimeout)
    }
    return found
  }

  /** Several that build at once do not harm each other: the last to begin is the one that ends. */
  private async build(
    reader: UserId,
    epoch: ObjectId,
    depth: number,
  ): Promise<TimelineCacheDoc | null> {
    const building = toObjectId(this.parts.mint.next<PostId>())
    const empty = { epoch, entries: [], floor: lowestId, building, expiresAt: this.expiry() }
    try {
      await this.caches.updateOne(
        { _id: reader },
        [
          {
            $set: {
              ...empty,
              // What was delivered to one that is being built under this registration counts.
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
    const ask = { reader, range, group: undefined, refused: new Set<UserId>() }
    const { entries: refs } = await this.parts.oracle.candidates(ask)
    const last = refs.length < depth ? undefined : refs.at(-1)
    const docs = (await this.parts.entries.of(refs)).map(toEntryDoc)
    return this.caches.findOneAndUpdate(
      { _id: reader, building },
      [...merged(docs, last ? toObjectId(last.id) : lowestId, depth), { $unset: 'building' }],
      { ...requestTimeout, returnDocument: 'after' },
    )
  }

  private expiry(): Date {
    return new Date(this.parts.now() + this.parts.awayMs)
  }
}

/** Adds entries that hold all down to `floor`; the cache then holds all down to the higher of both floors. */
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

/** From where on a cache holds everything, in an update: once full, down to its last entry alone. */
function raisedFloor(depth: number): Document {
  const full = { $gte: [{ $size: '$entries' }, depth] }
  return { $cond: [full, { $max: ['$floor', { $last: '$entries.post' }] }, '$floor'] }
}

/** The same of one that was read. */
function floorOf({ entries, floor }: TimelineCacheDoc, depth: number): ObjectId {
  const last = entries.length < depth ? undefined : entries.at(-1)?.post
  return last && floor.toHexString() < last.toHexString() ? last : floor
}

type Push = AnyBulkWriteOperation<TimelineCacheDoc>

const lowest = fromObjectId<PostId>(lowestId)
const below = (id: PostId) => neighbour(id, -1)

import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { StrategyDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import type { Collection, Document, ObjectId } from '../../db/mongo.ts'
import { fromObjectId, highestId, toObjectId } from '../../db/object-id.ts'
import { chunks } from '../../lib/batch.ts'
import { type PostId, timeIdAt, timeOf, type UserId } from '../../lib/ids.ts'
import { within } from '../../lib/within.ts'
import { timelineUpkeepFailures } from '../../metrics/timelines.ts'
import { smallAudienceMax } from '../delivery/follower-walk.ts'
import { beginFloorFill, type FloorFill } from './floor-fill.ts'
import { type FloorParts, hasTurn, trimInterval } from './floor-parts.ts'
import { raiseAndRemove, removeBelowFloors } from './floor-removal.ts'
import {
  firstKeptId,
  nothingStored,
  type ReaderState,
  type Retention,
  retentionOf,
} from './retention.ts'

/** Number of readers whose timelines one call trims. */
const readersMax = 50
/** Number of keys that one call reads, to find the entries that are kept. */
const keysMax = 200_000
/** A delivery of a post that is older than this reads the floors of its readers, in milliseconds. */
const lateMs = 60_000
/** How long a page waits until its visit is noted, in milliseconds. */
const visitMsMax = 500
/** After this time, a back-fill that has not ended is given up, in milliseconds. It took seconds, or was killed. */
const fillMsMax = 3_600_000
/** How long the job of a reader who came back may take before another visit queues it again, in milliseconds. */
const returnMs = 600_000

/**
 * The floors of a strategy's stored timelines. From its floor on, a timeline has every post that law L1 demands.
 *
 * A trim raises the floor before it removes entries. Only a back-fill lowers a floor, after it has stored the entries. A
 * page reads the floor before and after the entries ({@link floorAmong}), so it sees the floor of every removal that it
 * sees, and of every entry that it may lack. A back-fill writes a token first, and removals check their token in the
 * transaction of the removal. So no removal that began before the back-fill removes its entries.
 * @see law L1
 */
export class Floors {
  constructor(private readonly parts: FloorParts) {}

  /**
   * Reads stored entries of a page, and the state of the reader's timeline before and after them. One command.
   * @param pipeline reads the entries.
   * @param limit the number of rows, if the pipeline has no limit. MongoDB 6.0 crashes when it explains a `$unionWith`
   *   that unwinds arrays up to a limit.
   */
  async readStored<Row extends object>(
    reader: UserId,
    { collectionName }: Pick<Collection<Document>, 'collectionName'>,
    pipeline: Document[],
    limit?: number,
  ): Promise<{ readonly rows: Row[]; readonly states: readonly (ReaderState | undefined)[] }> {
    const { floors } = this.parts
    const fields = { floor: '$floor', token: '$token', visitedAt: '$visitedAt', away: '$away' }
    const read = (name: 'before' | 'after') => [
      { $match: { _id: reader } },
      { $project: { _id: 0, [name]: fields } },
    ]
    const found = await floors
      .aggregate<Row | { before: ReaderState } | { after: ReaderState }>(
        [
          ...read('before'),
          { $unionWith: { coll: collectionName, pipeline } },
          ...(limit === undefined ? [] : [{ $limit: limit + 1 }]),
          { $unionWith: { coll: floors.collectionName, pipeline: read('after') } },
        ],
        singleBatch,
      )
      .toArray()
    const before = found.flatMap((row) => ('before' in row ? [row.before] : []))
    const after = found.flatMap((row) => ('after' in row ? [row.after] : []))
    const rows = found.filter((row): row is Row => !('before' in row || 'after' in row))
    return { rows: rows.slice(0, limit), states: [before[0], after[0]] }
  }

  /**
   * Notes that a reader has read a page, and fills the timeline of a reader who was away. One command if an eighth of
   * the time is over that readers may be away, or if the reader was away. Otherwise none. The page waits for half a
   * second at most, and does not fail.
   */
  async noteVisit(
    reader: UserId,
    state: ReaderState | undefined,
    registration: StrategyDoc,
  ): Promise<void> {
    const noted = this.writeVisit(reader, state, registration).catch(countFailure)
    await within(visitMsMax, noted, () => new Error('the visit was not noted in time')).catch(none)
  }

  private async writeVisit(
    reader: UserId,
    state: ReaderState | undefined,
    registration: StrategyDoc,
  ): Promise<void> {
    const retention = retentionOf(registration)
    if (!retention || retention.awayMaxMs === Infinity || !this.parts.notesVisits) return
    const { floors, now, requestFill } = this.parts
    const at = now()
    const visitedAt = new Date(at)
    if (state?.away) {
      if (!(await this.loadRetention(registration))) return
      const isQueued = { returnedAt: { $gte: new Date(at - returnMs) } }
      const returned = await floors.updateOne(
        { _id: reader, away: true, $nor: [isQueued] },
        { $set: { visitedAt, returnedAt: visitedAt } },
        requestTimeout,
      )
      if (returned.modifiedCount > 0) await requestFill(reader)
    } else if (at - (state?.visitedAt?.getTime() ?? 0) > retention.awayMaxMs / 8) {
      const token = this.mintToken()
      const visit = { $set: { visitedAt }, $setOnInsert: { token } }
      await floors.updateOne({ _id: reader }, visit, { ...requestTimeout, upsert: true })
    }
  }

  /**
   * Drops the timelines of readers who made no visit for as long as the registration says. Until a first visit, the
   * creation of the account and the last begin of a back-fill of all readers count as one. Nothing is stored from then on,
   * until a back-fill begins. One command, one for 50 dropped readers, and for each reader one, and a transaction
   * for each 1,000 documents.
   * @param readers when the account of each reader was created.
   * @returns the number of readers whose timelines were dropped.
   */
  async dropAway(readers: ReadonlyMap<UserId, Date>, registration: StrategyDoc): Promise<number> {
    const retention = await this.loadRetention(registration)
    if (!retention || retention.awayMaxMs === Infinity) return 0
    const [now, { awayMaxMs }] = [this.parts.now(), retention]
    const since = new Date(now - awayMaxMs)
    const begun = timeOf(fromObjectId<PostId>(registration.epoch))
    // Pages note no visit before a timeline is filled, and later within this time.
    if (begun.getTime() > now - awayMaxMs / 8) return 0
    const found = await this.parts.floors
      .find({ _id: { $in: [...readers.keys()] } }, singleBatch)
      .toArray()
    const docs = new Map(found.map((doc) => [doc._id, doc]))
    const absent = [...readers].flatMap(([reader, createdAt]) => {
      const { visitedAt, filling } = docs.get(reader) ?? {}
      const wasSeen = visitedAt ? visitedAt >= since : begun >= since || createdAt >= since
      return wasSeen || (filling && filling >= this.fillsSince()) ? [] : [reader]
    })
    const isDropped = (reader: UserId) => docs.get(reader)?.away === true
    // New posts with small audiences are stored for all followers.
    const all = { ...retention, firstKept: nothingStored, registration, entriesMax: Infinity }
    const again: UserId[] = []
    for (const some of chunks(absent.filter(isDropped), readersMax))
      again.push(...(await this.parts.store.findFloors(some, all)).keys())
    const dropped = [...absent.filter((reader) => !isDropped(reader)), ...again]
    for (const reader of dropped) await this.drop(reader, since, registration).catch(countFailure)
    return dropped.length
  }

  private async drop(reader: UserId, since: Date, registration: StrategyDoc): Promise<void> {
    const token = this.mintToken()
    const recent = [{ visitedAt: { $gte: since } }, { filling: { $gte: this.fillsSince() } }]
    const update = { $set: { floor: highestId, token, away: true as const } }
    const mark = { filter: { _id: reader, $nor: recent }, update, upsert: true }
    const refused = await this.parts.floors
      .bulkWrite([{ updateOne: mark }], { ordered: false })
      .then(none, duplicatePositions)
    if (refused.length === 0)
      await removeBelowFloors(this.parts, new Map([[reader, nothingStored]]), {
        token,
        registration,
      })
  }

  /**
   * Leaves out readers whose floor is above a post, and readers who are away. None for a new post if readers may be away
   * for ever, otherwise one command.
   */
  async selectReaders(
    readers: readonly UserId[],
    post: PostId,
    registration: StrategyDoc,
  ): Promise<readonly UserId[]> {
    const retention = retentionOf(registration)
    if (!retention) return readers
    const isNew = timeOf(post).getTime() > this.parts.now() - lateMs
    if (isNew && retention.awayMaxMs === Infinity) return readers
    const above = await this.findAbove(readers, post)
    return readers.filter((reader) => !above.has(reader))
  }

  /** The reader's floor, unless a back-fill is lowering it. One command. None if everything is stored. */
  async floorOf(reader: UserId, registration: StrategyDoc): Promise<PostId | undefined> {
    if (!retentionOf(registration)) return undefined
    const settled = { _id: reader, filling: this.notSince() }
    const found = await this.parts.floors.findOne(settled, requestTimeout)
    return found?.floor && fromObjectId<PostId>(found.floor)
  }

  /**
   * Trims the timelines of some of the readers that have just got a post, so that a reader's turn comes once in an
   * eighth of the kept entries on average. A small audience, or 50 readers, have their turn together. No command for the
   * others.
   */
  async trimSome(
    readers: readonly UserId[],
    post: PostId,
    registration: StrategyDoc,
  ): Promise<void> {
    const retention = retentionOf(registration)
    if (!retention || !isBounded(retention)) return
    const interval = trimInterval(retention)
    const size = readers.length <= smallAudienceMax ? smallAudienceMax : readersMax
    for (const some of chunks(readers, size))
      if (hasTurn(`${post}${some[0]}`, interval)) await this.trim(some, registration)
  }

  /**
   * Removes the entries that the registration does not keep. For 50 readers one command, and four more if one of them
   * has such entries, or those of the store, for each transaction. Fewer readers at a time if many entries are kept. A
   * failure is counted and does not throw: a later trim repeats it.
   */
  async trim(readers: readonly UserId[], registration: StrategyDoc): Promise<void> {
    await this.removeOld(readers, registration).catch(countFailure)
  }

  private async removeOld(readers: readonly UserId[], registration: StrategyDoc): Promise<void> {
    const retention = await this.loadRetention(registration)
    if (!retention || !isBounded(retention)) return
    const bounds = {
      ...retention,
      firstKept: firstKeptId(retention, this.parts.now()),
      registration,
    }
    const together = Math.floor(keysMax / Math.min(retention.entriesMax, keysMax))
    for (const some of chunks(readers, Math.min(readersMax, together))) {
      const found = await this.parts.store.findFloors(some, bounds)
      if (found.size > 0) await this.raiseAndRemove(found, registration)
    }
  }

  /** Announces a back-fill of timelines. One command. Undefined, without a command, if everything is stored. */
  async beginFill(
    readers: readonly UserId[],
    registration: StrategyDoc,
  ): Promise<FloorFill | undefined> {
    const retention = await this.loadRetention(registration)
    if (!retention) return undefined
    const { entriesMax } = retention
    const bounds = { entriesMax, firstKept: firstKeptId(retention, this.parts.now()) }
    return beginFloorFill(this.parts.floors, this.mintToken(), readers, bounds)
  }

  /** Deletes the reader's floor, after the entries. One command. */
  async deleteReader(reader: UserId): Promise<void> {
    await this.parts.floors.deleteOne({ _id: reader })
  }

  private async raiseAndRemove(
    found: ReadonlyMap<UserId, PostId>,
    registration: StrategyDoc,
  ): Promise<void> {
    const [token, filling] = [this.mintToken(), this.notSince()]
    await raiseAndRemove(this.parts, found, { token, registration, filling })
  }

  private async findAbove(readers: readonly UserId[], post: PostId): Promise<ReadonlySet<string>> {
    const above = { floor: { $gt: toObjectId(post) }, filling: this.notSince() }
    const found = await this.parts.floors
      .find({ _id: { $in: [...readers] }, ...above }, { ...singleBatch, projection: { _id: 1 } })
      .toArray()
    return new Set(found.map(({ _id }) => _id))
  }

  /** The retention of a registration, if it applies already. At most two commands, every 10 s until it does. */
  private async loadRetention(registration: StrategyDoc): Promise<Retention | undefined> {
    const retention = retentionOf(registration)
    return retention && (await this.parts.isPreviousStopped()) ? retention : undefined
  }

  /** The token of the oldest back-fill that may be under way. */
  private fillsSince(): ObjectId {
    return toObjectId(timeIdAt<PostId>(this.parts.now() - fillMsMax, '0'.repeat(12)))
  }

  private notSince() {
    return { $not: { $gte: this.fillsSince() } }
  }

  private mintToken() {
    return toObjectId(this.parts.mint.next<PostId>())
  }
}

const isBounded = ({ entriesMax, ageMaxMs }: Retention): boolean =>
  Math.min(entriesMax, ageMaxMs) < Infinity

const none = (): number[] => []

const countFailure = () => timelineUpkeepFailures.inc()

import { randomBytes } from 'node:crypto'
import type { ClusterState, Collections, MetaDoc, TimelinesPlaceDoc } from '../../db/collections.ts'
import type { Collection } from '../../db/mongo.ts'
import {
  type ClusterPrimary,
  ClusterTaken,
  TimelinesAway,
  type TimelinesCluster,
} from '../../db/timelines-cluster.ts'
import type { Tx } from '../../db/transaction.ts'

/** The id of the record in `meta` that names the cluster. */
export const placeId = 'timelines'

/** The id of the record in `meta` that holds the lease of a first move, from the database to a cluster. */
const firstMoveId = 'timelines.first-move'

/** The record that names the cluster of the timelines. */
export const placesIn = ({ meta }: { readonly meta: Collection<MetaDoc> }) =>
  meta as unknown as Collection<TimelinesPlaceDoc>

/** Whether a cluster with these members may be the one that the database names. */
export const isSameCluster = (
  { hosts }: Pick<TimelinesPlaceDoc, 'hosts'>,
  primary: ClusterPrimary,
): boolean => primary.hosts.some((host) => hosts.includes(host))

const idOf = ({ election }: Pick<ClusterPrimary, 'election'>) => election.split(' ')[0] ?? ''

/** Why writes of this process do not last as long as those of the other processes. Undefined if they do. */
export const weakerThan = (
  place: Pick<TimelinesPlaceDoc, 'durable'>,
  cluster: { readonly isDurable: boolean },
): string | undefined =>
  place.durable && !cluster.isDurable
    ? 'TIMELINES_URI: w=1 is not what the other processes use. Remove it, or run "feedline timelines move" with it'
    : undefined

/** Why a cluster with another mark or election cannot take the timelines of the database. */
export function obstacleOf(
  place: TimelinesPlaceDoc,
  mark: { readonly value: string; readonly owner?: string } | undefined,
  primary: ClusterPrimary,
): string | undefined {
  if (mark && mark.owner !== place.owner)
    return 'TIMELINES_URI: the cluster stores the timelines of another database'
  if (mark?.value === place.value) {
    return idOf(primary) > idOf(place)
      ? undefined
      : 'the primary of the timelines cluster is outdated, or was restored from a backup. In that case run "feedline timelines move"'
  }
  if (isSameCluster(place, primary)) return undefined
  return (
    `TIMELINES_URI: this database stores its timelines on ${place.hosts.join(', ')}. ` +
    'Use that cluster, or run "feedline timelines move"'
  )
}

/**
 * Checks in a transaction that timelines are still stored where this process stores them. One command.
 * @throws {TimelinesAway}
 */
export async function checkPlace(
  { meta }: { readonly meta: Collection<MetaDoc> },
  { session }: Tx,
  cluster: ClusterState | undefined,
): Promise<void> {
  const place = await meta.findOne({ _id: placeId }, { session })
  const { election } = (place ?? {}) as Partial<TimelinesPlaceDoc>
  if (place?.value !== cluster?.mark || election !== cluster?.election)
    throw new TimelinesAway('the timelines of this database are stored elsewhere now')
}

/** Notes in all registrations where timelines are stored. Undefined: in the database. One command. */
export async function noteState(
  { strategies }: Pick<Collections, 'strategies'>,
  { session }: Tx,
  cluster: ClusterState | undefined,
): Promise<void> {
  const update = cluster ? { $set: { cluster } } : ({ $unset: { cluster: '' } } as const)
  await strategies.updateMany({}, update, { session })
}

/** A value that no owner or mark had before. */
const newValue = (): string => randomBytes(12).toString('base64')

/**
 * What the marks of this database's clusters name. It stays when timelines move, so that they can move back to a cluster.
 * Two commands, one if it has a value.
 */
export async function loadOwner(meta: Collection<TimelinesPlaceDoc>): Promise<string> {
  const _id = 'timelines.owner'
  const known = await meta.findOne({ _id })
  if (known) return known.owner
  const update = { $setOnInsert: { owner: newValue() } }
  const found = await meta.findOneAndUpdate({ _id }, update, {
    ...{ upsert: true, returnDocument: 'after' },
  })
  return found?.owner ?? ''
}

/** How long a process may take to create the collections of a cluster, in milliseconds. Another one then begins again. */
const preparingMsMax = 20_000

/** Whether a process holds the lease in a place. @param now the database's clock, in milliseconds since 1970. */
export const isPrepared = (
  { preparing }: Pick<TimelinesPlaceDoc, 'preparing'>,
  now: number,
): boolean => preparing !== undefined && preparing.until.getTime() >= now

/** The record under whose lease a place is prepared. */
type Leased = Pick<TimelinesPlaceDoc, '_id' | 'value' | 'preparing'>

/**
 * Creates the record for the lease of a first move, because no record names a cluster yet. Two commands.
 * @returns undefined if another move has ended meantime, so that a record names a cluster.
 */
export async function openFirstMove(
  places: Collection<TimelinesPlaceDoc>,
): Promise<Leased | undefined> {
  // Each record has a value of its own. So a process that is late takes no lease in the record of a later move.
  const update = { $setOnInsert: { value: newValue() } }
  const found = await places.findOneAndUpdate({ _id: firstMoveId }, update, {
    ...{ upsert: true, returnDocument: 'after' },
  })
  const isNamed = (await places.findOne({ _id: placeId })) !== null
  return isNamed ? undefined : (found ?? undefined)
}

/**
 * Deletes what a cluster holds, and creates its collections with a new mark. A process that is late deletes nothing of a
 * later one, and its mark is not accepted.
 * @param now the database's clock, in milliseconds since 1970.
 * @returns as {@link prepareUnderLease}. Also undefined if another process has prepared the cluster under another lease.
 */
export async function emptyCluster(
  cluster: TimelinesCluster,
  places: Collection<TimelinesPlaceDoc>,
  place: Pick<TimelinesPlaceDoc, '_id' | 'value' | 'owner'>,
  now: number,
): Promise<string | undefined> {
  // Known before the lease, so that nothing of a process with a later lease is among them.
  const known = await cluster.loadContent()
  const { owner } = place
  const begin = (value: string) => cluster.begin({ value, owner }, known)
  return prepareUnderLease(places, place, now, begin).catch((error: unknown) => {
    if (error instanceof ClusterTaken) return undefined
    throw error
  })
}

/**
 * Prepares another place for timelines. One process does it at a time, under a lease in the record of the place, or in that
 * of a first move.
 * @param work gets the new mark. It must change nothing of a process with a later lease.
 * @param now the database's clock, in milliseconds since 1970.
 * @returns the new mark. Undefined if another process holds the lease, or has changed the record.
 */
export async function prepareUnderLease(
  places: Collection<TimelinesPlaceDoc>,
  { _id, value }: Pick<TimelinesPlaceDoc, '_id' | 'value'>,
  now: number,
  work: (mark: string) => Promise<void>,
): Promise<string | undefined> {
  const mark = newValue()
  const preparing = { mark, until: new Date(now + preparingMsMax) }
  const isFree = {
    $or: [{ preparing: { $exists: false } }, { 'preparing.until': { $lt: new Date(now) } }],
  }
  const { modifiedCount } = await places.updateOne(
    { _id, value, ...isFree },
    { $set: { preparing } },
  )
  if (modifiedCount === 0) return undefined
  try {
    await work(mark)
  } catch (error) {
    const own = { _id, 'preparing.mark': mark }
    const { matchedCount } = await places.updateOne(own, { $unset: { preparing: '' } })
    // The work of a later lease fails that of an earlier one.
    if (matchedCount === 0) return undefined
    throw error
  }
  return mark
}

/** What {@link replacePlace} changes. */
interface PlaceChange {
  /** The record as it was read. Undefined: there was none. */
  readonly before: TimelinesPlaceDoc | undefined
  /** From {@link prepareUnderLease}. */
  readonly mark: string
  /** The new record, with this mark. Undefined: timelines are in the database. */
  readonly place: TimelinesPlaceDoc | undefined
}

/**
 * Replaces the record of the cluster, and ends the lease. Two commands, three for a first move.
 * @returns false if another process has changed the record, or has taken the lease.
 */
export async function replacePlace(
  places: Collection<TimelinesPlaceDoc>,
  { session }: Tx,
  { before, mark, place }: PlaceChange,
): Promise<boolean> {
  if (!before && (await places.findOne({ _id: placeId }, { session }))) return false
  const prepared = before
    ? // A server of the same cluster may have found the new mark first.
      [{ value: before.value, 'preparing.mark': mark }, { value: mark }]
    : [{ 'preparing.mark': mark }]
  const leased = { _id: before ? placeId : firstMoveId, $or: prepared }
  const { deletedCount } = await places.deleteOne(leased, { session })
  if (deletedCount === 0) return false
  if (place) await places.insertOne(place, { session })
  return true
}

import type { CollectionSpec, IndexSpec } from '../../src/db/collections.ts'
import { buildOptions, clusteredOptions, toIndexModel } from '../../src/db/indexes.ts'
import { type Document, EJSON } from '../../src/db/mongo.ts'
import { assignRanges } from './assign-ranges.ts'
import { splitAccounts } from './split-accounts.ts'
import {
  type AccountRanges,
  accountRangesIn,
  type StoredRanges,
  type ZoneRange,
  zoneRangesOf,
} from './zone-ranges.ts'

/** What a sharded cluster says about itself and one database. */
export interface ClusterState {
  readonly shards: readonly ShardState[]
  /** The collections of the database, by name. */
  readonly collections: ReadonlyMap<string, CollectionState>
}

export interface ShardState {
  readonly name: string
  readonly zones: readonly string[]
  /** Set while an operator removes the shard. */
  readonly draining?: boolean
}

export interface CollectionState {
  /** Whether the collection exists. Ranges may be stored for one that does not. */
  readonly exists: boolean
  readonly indexNames: ReadonlySet<string>
  /** Undefined for a collection that is not sharded. */
  readonly shardKey?: Document
  readonly zoneRanges: readonly ZoneRange[]
}

/** A command for the router, and its database. */
export interface PlannedCommand {
  readonly database: string
  readonly command: Document
}

/** The cluster cannot be sharded as it is. The message is one sentence with the next step. */
export class ShardingError extends Error {
  override readonly name = 'ShardingError'
}

/** More ranges than shards, so that a new shard takes some ranges as a whole. */
export const rangesPerShard = 8

/** The collection whose stored ranges decide those of all others. */
const anchor = 'users'

/** The begin of the name of a zone that this command makes. An operator makes all others. */
const ownPrefix = 'feedline_'
const ownZone = ({ name }: ShardState): string => `${ownPrefix}${name}`
const isOperators = (zone: string): boolean => !zone.startsWith(ownPrefix)

const unknown: CollectionState = { exists: false, indexNames: new Set(), zoneRanges: [] }

/**
 * The commands that create, pre-split and shard every collection of a catalogue, in order. Empty if
 * nothing is missing. Ranges of accounts that are stored already stay, and so does their zone while
 * a shard has it. Shards that were added get a share.
 * @throws {ShardingError} if a collection is sharded by another key, zones of an operator leave
 *   accounts out, or there are more shards than ranges.
 */
export function planSharding(
  database: string,
  catalogue: Readonly<Record<string, CollectionSpec>>,
  state: ClusterState,
): PlannedCommand[] {
  const stateOf = (name: string) => state.collections.get(name) ?? unknown
  const { accounts, added } = rangesFor(catalogue, state)
  const admin = (command: Document): PlannedCommand => ({ database: 'admin', command })
  return [
    ...added.map(({ shard, zone }) => admin({ addShardToZone: shard, zone })),
    ...Object.entries(catalogue).flatMap(([name, spec]) => [
      ...preparation(name, spec, stateOf(name)).map((command) => ({ database, command })),
      ...distribution(`${database}.${name}`, spec, stateOf(name), accounts).map(admin),
    ]),
  ]
}

/**
 * The stored ranges of accounts. Those of an interrupted first run are replaced: their end is
 * missing, and would be one range.
 */
function storedRanges({ shardKey, zoneRanges }: CollectionState): StoredRanges | undefined {
  const stored = accountRangesIn('_id', zoneRanges)
  if (!stored || shardKey || stored.zones.every((zone) => zone !== undefined)) return stored
  const [last, ...before] = stored.zones.toReversed()
  const isOwnBegin = before.every((zone) => zone !== undefined && !isOperators(zone))
  if (last === undefined && isOwnBegin) return undefined
  throw new ShardingError(
    `The zone ranges of ${anchor} leave some accounts out: set ranges from MinKey to MaxKey with updateZoneKeyRange, or remove all of them, then run the command again.`,
  )
}

/** The ranges of accounts by zone, and the zones that shards still need. */
function rangesFor(catalogue: Readonly<Record<string, CollectionSpec>>, state: ClusterState) {
  const stored = storedRanges(state.collections.get(anchor) ?? unknown)
  const staying = state.shards.filter(({ draining }) => !draining)
  const count = staying.length * rangesPerShard
  const splits = stored?.splits ?? splitAccounts(count)
  const assigned = stored?.zones ?? splits.map(() => undefined).concat(undefined)
  const isNew = joiningTest(catalogue, state, stored)
  const joining = staying.filter(isNew).map(ownZone)
  const live = new Set([...staying.flatMap(({ zones }) => zones), ...joining])
  const shared = assigned.filter((zone) => zone === undefined || !isOperators(zone))
  const sharing = new Set([...shared.filter((zone) => zone && live.has(zone)), ...joining])
  if (joining.length > 0 && shared.length > 0 && sharing.size > shared.length) {
    throw new ShardingError(
      `The ${sharing.size} shards need at least as many ranges of accounts, and ${anchor} has ${shared.length}: split ranges with updateZoneKeyRange, then run the command again.`,
    )
  }
  const zones = assignRanges(assigned, { live, joining, isOperators })
  const accounts: AccountRanges = { splits, zones }
  const added = staying
    .map((shard) => ({ shard: shard.name, zone: ownZone(shard), zones: shard.zones }))
    .filter((shard) => joining.includes(shard.zone) && zones.includes(shard.zone))
    .filter((shard) => !shard.zones.includes(shard.zone))
  return { accounts, added }
}

/**
 * Whether a shard still has to get its share: in the first run every one, later one without a zone
 * of an operator that has no range in a collection. So a run that ended between two collections
 * goes on with the same share.
 */
function joiningTest(
  catalogue: Readonly<Record<string, CollectionSpec>>,
  { collections }: ClusterState,
  stored: StoredRanges | undefined,
): (shard: ShardState) => boolean {
  if (!stored) return () => true
  const placed = Object.entries(catalogue).flatMap(([name, { accountIn }]) => {
    const found = collections.get(name)
    const isPlaced = accountIn && found?.shardKey && found.zoneRanges.length > 0
    return isPlaced ? [new Set(found.zoneRanges.map(({ zone }) => zone))] : []
  })
  const all = [new Set(stored.zones), ...placed]
  return (shard) =>
    !shard.zones.some(isOperators) && all.some((zones) => !zones.has(ownZone(shard)))
}

/** Commands for the database: the collection, and its missing indexes. */
function preparation(name: string, spec: CollectionSpec, state: CollectionState): Document[] {
  const missing = [...spec.indexes.map(toIndexModel), ...shardKeyIndex(spec, state)].filter(
    (index) => !state.indexNames.has(index.name),
  )
  return [
    ...(state.exists ? [] : [{ create: name, ...(spec.clustered ? clusteredOptions : {}) }]),
    ...(missing.length === 0 ? [] : [{ createIndexes: name, indexes: missing, ...buildOptions }]),
  ]
}

/**
 * A key that no declared index supports gets one, which a replica set needs not. It exists in a
 * sharded collection.
 */
function shardKeyIndex(spec: CollectionSpec, state: CollectionState) {
  const { shardKey } = spec
  if (!shardKey || state.shardKey || isSupported(spec)) return []
  return [{ key: shardKey, name: Object.entries(shardKey).flat().join('_') }]
}

/** Whether an index of all documents begins with the shard key. */
function isSupported({ shardKey = {}, indexes }: CollectionSpec): boolean {
  const wanted = Object.entries(shardKey)
  const all: readonly Omit<IndexSpec, 'name'>[] = [{ key: { _id: 1 } }, ...indexes]
  return all.some(({ key, partialFilterExpression }) => {
    const entries = Object.entries(key)
    return (
      !partialFilterExpression && wanted.every((one, n) => textOf(one) === textOf(entries[n] ?? []))
    )
  })
}

/**
 * Commands for the cluster: ranges first, because an empty collection is created on the shards of
 * its ranges.
 */
function distribution(
  namespace: string,
  spec: CollectionSpec,
  state: CollectionState,
  accounts: AccountRanges,
): Document[] {
  if (!spec.shardKey) return []
  if (state.shardKey && textOf(state.shardKey) !== textOf(spec.shardKey)) {
    throw new ShardingError(
      `${namespace} is sharded by ${textOf(state.shardKey)}, and Feedline needs ${textOf(spec.shardKey)}: change it with reshardCollection, then run the command again.`,
    )
  }
  // Zones of collections with hashed keys are the operator's.
  const ranges = spec.accountIn ? changedRanges(state.zoneRanges, zoneRangesOf(spec, accounts)) : []
  return [
    ...ranges.map((range) => ({ updateZoneKeyRange: namespace, ...range })),
    ...(state.shardKey ? [] : [{ shardCollection: namespace, key: spec.shardKey }]),
  ]
}

/**
 * Ranges to store, and with zone null to remove. A range changes its zone in two steps, one after
 * the other.
 */
function changedRanges(stored: readonly ZoneRange[], wanted: readonly ZoneRange[]) {
  const boundsOf = ({ min, max }: ZoneRange) => textOf({ min, max })
  const before = new Map(stored.map((range) => [boundsOf(range), range]))
  const bounds = new Set(wanted.map(boundsOf))
  const remove = (range: ZoneRange) => ({ ...range, zone: null })
  return [
    ...stored.filter((range) => !bounds.has(boundsOf(range))).map(remove),
    ...wanted.flatMap((range) => {
      const old = before.get(boundsOf(range))
      if (old?.zone === range.zone) return []
      return old ? [remove(old), range] : [range]
    }),
  ]
}

const textOf = (value: object): string => EJSON.stringify(value)

/** A command as a line for mongosh. */
export const mongoshLine = ({ database, command }: PlannedCommand): string =>
  `db.getSiblingDB(${JSON.stringify(database)}).runCommand(${textOf(command)
    .replaceAll('{"$minKey":1}', 'MinKey()')
    .replaceAll('{"$maxKey":1}', 'MaxKey()')})`

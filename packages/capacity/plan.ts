import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import type { Constants } from './constants.ts'
import { sumCosts } from './cost.ts'
import { secondsPerDay } from './derived-load.ts'
import type { CapacityInputs } from './inputs.ts'
import { type StrategyLoad, strategyLoad } from './strategy-load.ts'

/** A resource of one replica set, what the load needs of it, and what the replica set has. */
export interface ResourceUse {
  readonly resource: string
  readonly needed: number
  readonly limit: number
  readonly unit: string
  /**
   * The share of the load that one replica set can take before this resource ends. Infinity without
   * a need.
   */
  readonly loadShare: number
}

/** What a strategy needs under a load. */
export interface StrategyPlan extends StrategyLoad {
  readonly strategy: FeedStrategyName
  readonly writesPerSecond: number
  readonly oplogBytesPerSecond: number
  /** Cores that the mongods of all primaries use. */
  readonly mongodCores: number
  /** Processes of `feedline serve`, each of one core. */
  readonly servers: number
  /**
   * Processes of `feedline worker`, each of one core, for audiences that servers do not deliver to.
   */
  readonly workers: number
  readonly shardsByProcessor: number
  readonly shardsByDisk: number
  /** The higher of both. 1 is a replica set. */
  readonly shards: number
  /** The cores of all primaries, servers and workers. */
  readonly cores: number
  /** What ends first as the load grows on one replica set. */
  readonly firstLimit: ResourceUse
}

/** The plans of all strategies, and the strategy to choose. */
export interface CapacityPlan {
  readonly strategies: readonly StrategyPlan[]
  readonly choice: FeedStrategyName
  readonly reason: string
}

const bytesPerGb = 1e9
const usPerSecond = 1e6
/**
 * mongod's default size of the oplog: 5 % of the disk, 50 GB at most (MongoDB manual, "Oplog
 * Size").
 */
export const defaultOplogBytes = (diskGb: number): number =>
  Math.min(0.05 * diskGb, 50) * bytesPerGb

/** Plans all strategies. Pure: the same inputs and constants have the same plan. */
export function planCapacity(inputs: CapacityInputs, constants: Constants): CapacityPlan {
  const strategies = feedStrategyNames.map((name) => planStrategy(name, inputs, constants))
  return { strategies, ...chooseStrategy(strategies) }
}

function planStrategy(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  constants: Constants,
): StrategyPlan {
  const load = strategyLoad(strategy, inputs, constants)
  const { requests, deliveries } = load
  const { coresPerShard, diskGbPerShard, usableShare } = inputs
  const all = sumCosts([requests, deliveries])
  const mongodCores = all.mongodUs / usPerSecond
  const bytes = load.baseBytes + load.timelineBytes
  const processes = (cost: { readonly serverUs: number }) =>
    Math.ceil(cost.serverUs / usPerSecond / usableShare)
  const [servers, workers] = [processes(requests), processes(deliveries)]
  const shardsByProcessor = Math.ceil(mongodCores / (coresPerShard * usableShare))
  const shardsByDisk = Math.ceil(bytes / (diskGbPerShard * bytesPerGb * usableShare))
  const shards = Math.max(1, shardsByProcessor, shardsByDisk)
  const uses = [
    useOf('processor of the primary', mongodCores, coresPerShard * usableShare, 'cores'),
    useOf('disk', bytes / bytesPerGb, diskGbPerShard * usableShare, 'GB'),
    useOf(
      'oplog of a day, so that a member may be away for a day',
      (all.oplogBytes * secondsPerDay) / bytesPerGb,
      defaultOplogBytes(diskGbPerShard) / bytesPerGb,
      'GB',
    ),
  ] as const
  return {
    ...load,
    strategy,
    writesPerSecond: all.writes,
    oplogBytesPerSecond: all.oplogBytes,
    mongodCores,
    servers,
    workers,
    shardsByProcessor,
    shardsByDisk,
    shards,
    cores: shards * coresPerShard + servers + workers,
    firstLimit: uses.reduce((first, one) => (one.loadShare < first.loadShare ? one : first)),
  }
}

const useOf = (resource: string, needed: number, limit: number, unit: string): ResourceUse => ({
  resource,
  needed,
  limit,
  unit,
  loadShare: needed === 0 ? Number.POSITIVE_INFINITY : limit / needed,
})

/**
 * Chooses the strategy with the fewest cores. Of those within 5 %, the one with the smallest
 * storage.
 */
export function chooseStrategy(
  plans: readonly StrategyPlan[],
): Pick<CapacityPlan, 'choice' | 'reason'> {
  const fewest = Math.min(...plans.map(({ cores }) => cores))
  const bytesOf = (plan: StrategyPlan) => plan.baseBytes + plan.timelineBytes
  const near = plans.filter(({ cores }) => cores <= fewest * 1.05)
  const [chosen, ...others] = near.toSorted((a, b) => bytesOf(a) - bytesOf(b))
  const rest = plans.filter((plan) => plan !== chosen).toSorted((a, b) => a.cores - b.cores)
  const [next] = rest
  if (!chosen || !next) throw new Error('there are fewer than two strategies')
  const cores = `It needs ${formatCount(chosen.cores)} cores`
  const compared = others.includes(next)
    ? `${next.strategy} needs about as many (${formatCount(next.cores)}), and stores more`
    : `${next.strategy} needs ${formatCount(next.cores)}, because of ${mainDifference(chosen, next)}`
  return { choice: chosen.strategy, reason: `${cores}. ${compared}.` }
}

/** Where the cores are that another plan needs more. */
function mainDifference(chosen: StrategyPlan, other: StrategyPlan): string {
  const shardCores = other.cores - other.servers - other.workers
  const differences = [
    ['its servers', other.servers - chosen.servers],
    ['its workers', other.workers - chosen.workers],
    [
      other.shardsByDisk > other.shardsByProcessor ? 'the disks of its shards' : 'its mongods',
      shardCores - (chosen.cores - chosen.servers - chosen.workers),
    ],
  ] as const
  return differences.reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US')

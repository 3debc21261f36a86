import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import measured from './constants.json' with { type: 'json' }

/** What one operation costs. */
export interface OperationCost {
  /** Microseconds of processor time of the server process, or of the worker. */
  readonly serverUs: number
  /** Microseconds of processor time of the primary's mongod. */
  readonly mongodUs: number
  /** Bytes of the oplog, which every secondary copies. */
  readonly oplogBytes: number
  /** Documents that are inserted, updated or deleted. */
  readonly writes: number
}

/** The costs of an operation at some sizes, by size. */
export type CostBySize = Readonly<Record<string, OperationCost>>

/** The measured costs of a strategy. */
export interface StrategyConstants {
  /** A post with its deliveries, by the number of followers. */
  readonly post: CostBySize
  /** A page of 20 posts that is read, by the number of followees. */
  readonly page: CostBySize
  /** A page that a server answers from memory. */
  readonly pageKept: OperationCost
  /** A poll that is read, with nothing new. */
  readonly poll: OperationCost
  /** A poll that a server answers from memory. */
  readonly pollKept: OperationCost
  /** A follow with its back-fill of six posts. */
  readonly follow: OperationCost
  /** Bytes on disk of one entry. `CACHE`: of one cache. */
  readonly bytesPerStored: number
}

/** Where and when a part of the constants was measured. */
export interface MeasuringRun {
  readonly machine: string
  /** As YYYY-MM-DD. */
  readonly date: string
}

/** All constants of the model, with their units and the command that measured them. */
export interface Constants {
  readonly command: string
  /** The run of each part: the bytes of the graph, likes, and each strategy. */
  readonly runs: Readonly<Record<'graph' | 'likes' | FeedStrategyName, MeasuringRun>>
  readonly units: Readonly<Record<string, string>>
  /** Bytes on disk of one document with its index entries. */
  readonly bytes: Readonly<Record<'user' | 'edge' | 'post' | 'like', number>>
  readonly like: OperationCost
  /** Does not compile if a strategy has no row. */
  readonly strategies: Readonly<Record<FeedStrategyName, StrategyConstants>>
}

/** The constants that the command in `command` measured. Its JSON is the file, unchanged. */
export const constants: Constants = measured

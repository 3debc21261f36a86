import { createHash } from 'node:crypto'
import type { StrategyDoc, TimelineFloorDoc } from '../../db/collections.ts'
import type { Collection } from '../../db/mongo.ts'
import type { Transactions, Tx } from '../../db/transaction.ts'
import type { IdMint, PostId, UserId } from '../../lib/ids.ts'
import type { Retention } from './retention.ts'

/** The most deliveries to a reader between two trims, on average. */
const intervalMax = 64

/** The bounds of a trim. */
export interface TrimBounds extends Retention {
  /** Younger posts are kept. Undefined: the age of a post does not count. */
  readonly firstKept: PostId | undefined
  readonly registration: StrategyDoc
}

/** The stored entries of a strategy, as its {@link Floors} need them. */
export interface TrimmedStore {
  /** Finds the readers who have entries beyond the bounds, and their new floors. One command. */
  findFloors(readers: readonly UserId[], bounds: TrimBounds): Promise<ReadonlyMap<UserId, PostId>>
  /** Removes some entries below the floors. @returns whether entries may be left. */
  removeBelow(
    floors: ReadonlyMap<UserId, PostId>,
    registration: StrategyDoc,
    tx: Tx,
  ): Promise<boolean>
}

/** The parts that {@link Floors} work with. */
export interface FloorParts {
  readonly floors: Collection<TimelineFloorDoc>
  readonly store: TrimmedStore
  readonly transactions: Transactions
  /**
   * Whether no process of the previous release runs. Its pages ignore floors, so until then nothing is left out or
   * removed.
   */
  readonly isPreviousStopped: () => Promise<boolean>
  /** Whether the reads of this process are visits. Checks are none. */
  readonly notesVisits: boolean
  /** Queues the job that fills the timelines of a reader. */
  readonly requestFill: (reader: UserId) => Promise<void>
  readonly mint: IdMint
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** After how many deliveries a reader's timeline is trimmed, on average. */
export const trimInterval = ({ entriesMax }: Retention): number =>
  entriesMax === Infinity ? intervalMax : Math.max(1, Math.floor(entriesMax / 8))

/** The highest floor of each reader. */
export function highestFloors(
  rows: Iterable<readonly [UserId, PostId]>,
): ReadonlyMap<UserId, PostId> {
  const floors = new Map<UserId, PostId>()
  for (const [reader, floor] of rows) {
    if (floor > (floors.get(reader) ?? '')) floors.set(reader, floor)
  }
  return floors
}

/** Whether a key has its turn. The same answer in every process and at every try. */
export const hasTurn = (key: string, interval: number): boolean =>
  createHash('sha1').update(key).digest().readUInt32BE() % interval === 0

import type { StrategyDoc, TimelineFloorDoc } from '../../db/collections.ts'
import { fromObjectId, highestId } from '../../db/object-id.ts'
import { neighbour, type PostId, timeIdAt } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import { decimal, wholeNumber, zeroOrDecimal } from '../../lib/variables.ts'
import type { Setting } from './setting.ts'
import type { Candidates, Entry } from './strategy.ts'

const dayMs = 86_400_000

/** How much of each reader's timeline a registration stores. */
export interface Retention {
  /** The number of newest entries that are stored at least. Infinity: no limit. */
  readonly entriesMax: number
  /** How long entries are stored, in milliseconds after the creation of their posts. Infinity: no limit. */
  readonly ageMaxMs: number
  /** How long a reader may be away before the timeline is dropped, in milliseconds. Infinity: for ever. */
  readonly awayMaxMs: number
}

/** The retention of a registration. Undefined if it stores everything. */
export function retentionOf({ options }: StrategyDoc): Retention | undefined {
  const { entriesMax = 0, ageMaxMs = 0, awayMaxMs = 0 } = options
  if (entriesMax + ageMaxMs + awayMaxMs === 0) return undefined
  return {
    entriesMax: entriesMax || Infinity,
    ageMaxMs: ageMaxMs || Infinity,
    awayMaxMs: awayMaxMs || Infinity,
  }
}

/** The first id of the posts that are young enough to be stored. Undefined: all posts are. */
export const firstKeptId = ({ ageMaxMs }: Retention, now: number): PostId | undefined =>
  ageMaxMs === Infinity ? undefined : timeIdAt<PostId>(Math.max(0, now - ageMaxMs), '0'.repeat(12))

const dropAll = (strategies: readonly string[]) =>
  `run ${strategies
    .map((name) => `"feedline timelines drop ${name}"`)
    .join(' and ')} and start again`

const namesOf = (strategies: readonly string[]) =>
  strategies.map((name) => `\`${name}\``).join(' and ')

/**
 * The setting of {@link Retention.entriesMax}. 0: no limit.
 * @param strategies those that have it, because they store in the same collection.
 */
export const entriesMaxSetting = (variable: string, strategies: readonly string[]) =>
  ({
    variable,
    schema: wholeNumber(0, 1e9).default(0),
    reason: `${namesOf(strategies)}: the newest entries of a reader that are [kept](../explanation/strategies.md#retention). 0: all`,
    option: {
      name: 'entriesMax',
      toStored: (entries: number) => entries,
      toVariable: (entries: number) => entries,
      howToChange: () => dropAll(strategies),
      whenLacking: 0,
    },
    whenChecked: undefined,
  }) satisfies Setting

/** A setting in days that a registration stores in milliseconds. 0: no limit. */
const daysSetting = (
  { variable, reason }: Pick<Setting, 'variable' | 'reason'>,
  name: string,
  howToChange: (strategy: string) => string,
) =>
  ({
    variable,
    schema: decimal(0, 3660).default(0),
    reason,
    option: {
      name,
      toStored: (days: number) => Math.round(days * dayMs),
      toVariable: (ms: number) => ms / dayMs,
      howToChange,
      whenLacking: 0,
    },
    whenChecked: undefined,
  }) satisfies Setting

/** The setting of {@link Retention.ageMaxMs}, in days. 0: no limit. */
export const daysMaxSetting = (variable: string, strategies: readonly string[]) =>
  daysSetting(
    {
      variable,
      reason: `${namesOf(strategies)}: the days for which entries are kept. 0: for ever`,
    },
    'ageMaxMs',
    () => dropAll(strategies),
  )

/** A check is no visit: see {@link Floors.noteVisit}. */
export const checkedAway = -1

/**
 * The setting of {@link Retention.awayMaxMs}, in days. 0: for ever. One setting for all strategies that are back-filled.
 * At least a day, because a reader is served from memory for up to two hours without a visit.
 */
export const awaySetting = {
  timelineAwayDays: {
    ...daysSetting(
      {
        variable: 'TIMELINE_AWAY_DAYS',
        reason:
          'Days without a visit after which the timelines of a reader are [dropped](../explanation/strategies.md#readers-who-are-away), under every strategy but `CACHE`. 0: never',
      },
      'awayMaxMs',
      (strategy) => dropAll([strategy]),
    ),
    schema: zeroOrDecimal(1, 3660).default(0),
    whenChecked: checkedAway,
  },
}

/** Stored entries of a range, and the reader's floor. */
export interface StoredRange {
  /** In the order of the range. They may include entries below the floor. */
  readonly entries: readonly Entry[]
  /** Undefined: the entries are complete. */
  readonly floor: PostId | undefined
}

/** The state of a reader's timeline, as a page reads it. */
export type ReaderState = Pick<TimelineFloorDoc, 'floor' | 'token' | 'visitedAt' | 'away'>

/** The id above all posts, as the floor of a timeline that stores nothing. */
export const nothingStored = fromObjectId<PostId>(highestId)

/**
 * The floor of entries that were read between states of their timeline. Without a trim and without the begin of a
 * back-fill in between, it is the highest one: a back-fill that ended in between has lowered the floor, and its entries
 * may have been stored after they were read. Otherwise, the entries say nothing.
 * @returns undefined if the entries are complete.
 */
export function floorAmong(states: readonly (ReaderState | undefined)[]): PostId | undefined {
  const tokens = new Set(states.map((state) => state?.token.toHexString()))
  if (tokens.size > 1) return nothingStored
  const floors = states.flatMap((state) => state?.floor ?? [])
  return floors
    .map((floor) => fromObjectId<PostId>(floor))
    .sort()
    .at(-1)
}

/**
 * The candidates of a page from stored entries that are complete from `floor` on. FANOUT_ON_READ continues below it.
 * @param entries in the order of the range. They may include entries below the floor.
 * @param floor as {@link floorAmong} says. Undefined: the entries are complete.
 */
export function cutAtFloor(
  entries: readonly Entry[],
  range: Range,
  floor: PostId | undefined,
): Candidates {
  const { newerThan, oldestFirst } = range
  const isAbove =
    newerThan !== undefined && floor !== undefined && newerThan >= neighbour(floor, -1)
  if (floor === undefined || isAbove) return { entries, complete: true }
  if (oldestFirst) return { entries: [], complete: false }
  return { entries: entries.filter(({ id }) => id >= floor), complete: false }
}

import type { BenchOptions } from '../options.ts'

/** The bound that a value has to keep. */
export type Bound = { readonly least: number } | { readonly most: number }

/** A value that the benchmark reports. */
export interface ScaleKey {
  /** What the value is, with its unit, for the table. */
  readonly meaning: string
  /** Undefined for a value that only explains another one. */
  readonly wanted?: Bound
}

/**
 * One subject of the benchmark. It measures its ratios against something that it runs beside them.
 */
export interface ScaleSide<Key extends string = string> {
  readonly name: string
  readonly keys: Readonly<Record<Key, ScaleKey>>
  /** Set if it takes so long that it runs only if it is named. */
  readonly isLong?: true
  /** @returns the values of all rounds by key. It may prepare its data once for all rounds. */
  measure(options: BenchOptions): Promise<Readonly<Record<Key, readonly number[]>>>
}

/** Types a side by its keys. */
export const defineSide = <Key extends string>(side: ScaleSide<Key>): ScaleSide => side

/** Turns the values of each round into the values of each key. */
export function collectRounds<Key extends string>(
  rounds: readonly Readonly<Record<Key, number>>[],
): Record<Key, number[]> {
  const keys = Object.keys(rounds[0] ?? {}) as Key[]
  const values = keys.map((key) => [key, rounds.map((round) => round[key])])
  return Object.fromEntries(values) as Record<Key, number[]>
}

/** Whether a value keeps its bound. A value that is not a number keeps none. */
export const keepsBound = (value: number, bound: Bound): boolean =>
  'least' in bound ? value >= bound.least : value <= bound.most

/** Formats a bound for the table. */
export const formatBound = (bound: Bound): string =>
  'least' in bound
    ? `≥ ${bound.least.toLocaleString('en')}`
    : `≤ ${bound.most.toLocaleString('en')}`

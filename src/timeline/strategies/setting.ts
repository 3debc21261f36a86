import type { z } from 'zod'
import type { StrategyDoc } from '../../db/collections.ts'
import { wholeNumber } from '../../lib/variables.ts'

/** A number that an environment variable sets for one strategy. */
export interface Setting {
  /** The name of the environment variable. */
  readonly variable: string
  /** Checks the value of the variable, and holds the default. */
  readonly schema: z.ZodDefault<z.ZodType<number>>
  /** What it does, and why one would set it, as docs/reference/configuration.md says it. */
  readonly reason: string
  /** The option that a registration stores. Undefined: each process uses its own value. */
  readonly option: StoredOption | undefined
  /**
   * The value for commands that read every strategy in order to check it. Undefined: the configured
   * value.
   */
  readonly whenChecked: number | undefined
}

/**
 * An option that stored timelines depend on. The database stores it, and every process uses the
 * stored value.
 */
export interface StoredOption {
  /** The name of the option in the registration. Persisted. */
  readonly name: string
  /** Converts the variable's value into the stored value. */
  toStored(value: number): number
  /** Converts the stored value into the unit of the variable. */
  toVariable(stored: number): number
  /**
   * How an operator changes the stored value, as the end of a sentence that begins with "To change
   * it, ".
   */
  howToChange(strategy: string): string
}

/** The settings of a strategy, by their names in the configuration. */
export type Settings = Readonly<Record<string, Setting>>

/** {@link StoredOption.howToChange} of an option that changes with a new registration only. */
export const dropAndStart = (strategy: string): string =>
  `run "feedline timelines drop ${strategy}" and start again`

/**
 * Number of entries in one document. With 3,000 bytes of text per entry, the document stays below
 * MongoDB's 16 MB.
 */
export const entriesOfDocument = wholeNumber(1, 4_000)

/**
 * The value that the database stores for one option of a strategy.
 * @throws {Error} when the registration has no such option.
 */
export function optionOf({ _id, options }: StrategyDoc, name: string): number {
  const value = options[name]
  if (value === undefined) throw new Error(`the registration of ${_id} has no option "${name}"`)
  return value
}

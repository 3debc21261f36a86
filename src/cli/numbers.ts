import { InvalidArgumentError } from 'commander'
import { type NumberRule, numberRule, wholeNumberRule } from '../lib/numbers.ts'

const option =
  ({ problem, read }: NumberRule) =>
  (text: string): number => {
    const value = read(text)
    if (value !== undefined) return value
    throw new InvalidArgumentError(`It ${problem}.`)
  }

/** Reads an option's value as a whole number within bounds, both included. */
export const wholeNumber = (min: number, max: number) => option(wholeNumberRule(min, max))

/** Reads an option's value as a number within bounds, both included. `1e8` is a number. */
export const numberBetween = (min: number, max: number) => option(numberRule(min, max))

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
}

/**
 * Reads a duration, e.g. `90`, `90s`, `15m`, `1h`, `7d`, `2w`. @returns seconds, from 1 to a
 * hundred years.
 */
export function durationSeconds(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,10})([smhdw]?)$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit || 's'] ?? Number.NaN)
  if (seconds >= 1 && seconds <= 3_155_760_000) return seconds
  throw new InvalidArgumentError('It must be seconds, or a number with s, m, h, d or w, e.g. 1h.')
}

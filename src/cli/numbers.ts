import { InvalidArgumentError } from 'commander'

/** Reads an option's value as a whole number within bounds, both included. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }

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

/** Reads an option's value as a number within bounds, both included. `1e8` is a number. */
export const numberBetween =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^(\d+\.?\d*|\.\d+)(e\+?\d+)?$/i.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`)
  }

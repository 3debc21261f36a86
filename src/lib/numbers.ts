/** What a variable or an option accepts as a number. */
export interface NumberRule {
  /** What is wrong with a text that it refuses, as the end of a sentence: "must be …". */
  readonly problem: string
  /** The number of a text. Undefined if the text is refused. */
  readonly read: (text: string) => number | undefined
}

const rule = (
  shape: RegExp,
  accepts: (value: number) => boolean,
  expected: string,
): NumberRule => ({
  problem: `must be ${expected}`,
  read: (text) => (shape.test(text) && accepts(Number(text)) ? Number(text) : undefined),
})

const within = (min: number, max: number) => (value: number) => value >= min && value <= max
const digits = /^\d+$/
const decimal = /^(\d+\.?\d*|\.\d+)(e\+?\d+)?$/i

/** Digits alone, within bounds that are both included. */
export const wholeNumberRule = (min: number, max: number): NumberRule =>
  rule(digits, within(min, max), `a whole number from ${min} to ${max}`)

/** As {@link wholeNumberRule}, or 0. */
export const zeroOrWholeNumberRule = (min: number, max: number): NumberRule =>
  rule(
    digits,
    (value) => value === 0 || within(min, max)(value),
    `0, or a whole number from ${min} to ${max}`,
  )

/** A decimal number within bounds that are both included. `1e8` is a number. */
export const numberRule = (min: number, max: number): NumberRule =>
  rule(decimal, within(min, max), `a number from ${min} to ${max}`)

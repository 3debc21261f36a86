import { randomAt } from '../../packages/drive/random.ts'

/** A generated post. */
export interface SyntheticPost {
  /** From 0, in the order of time. */
  readonly index: number
  readonly text: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

const daysMs = 30 * 86_400_000
const streams = { time: 2, length: 3, words: 16 }

/**
 * Generates posts, the same for equal arguments. Their times are even over the 30 days before
 * `untilMs`.
 * @param seed an integer from 0 to 4,294,967,295.
 * @param untilMs milliseconds since 1970.
 */
export const syntheticPosts = (total: number, seed: number, untilMs: number): SyntheticPost[] =>
  Array.from({ length: total }, (_, index) => {
    const part = (index + randomAt(seed, index, streams.time)) / total
    const atMs = untilMs - daysMs + Math.floor(part * daysMs)
    return { index, text: textOf(seed, index), atMs }
  })

const words = (
  'morning coffee rain again with friends on the way home a long walk and old songs tonight ' +
  'new book finally done good news from work lunch in the park who else is watching this great game'
).split(' ')

/** Three to twelve words. */
function textOf(seed: number, index: number): string {
  const length = 3 + Math.floor(randomAt(seed, index, streams.length) * 10)
  const word = (_: unknown, at: number) =>
    words[Math.floor(randomAt(seed, index, streams.words + at) * words.length)]
  return Array.from({ length }, word).join(' ')
}

import type { UserId } from '../lib/ids.ts'
import { randomAt, shuffled, zipf } from './random.ts'

/** A generated post. */
export interface SyntheticPost {
  /** From 0, in the order of time. */
  readonly index: number
  readonly author: UserId
  readonly text: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** Each post depends on these parameters and its index alone. */
export interface SyntheticPostOptions {
  readonly authors: readonly UserId[]
  readonly total: number
  /** An integer from 0 to 4,294,967,295. */
  readonly seed: number
  /** Milliseconds since 1970. */
  readonly untilMs: number
}

const daysMs = 30 * 86_400_000
const streams = { order: 0, author: 1, time: 2, length: 3, words: 16 }

/**
 * Generates the posts from index `from` to the last. The number of posts per author follows Zipf's law; the seed
 * decides which authors post most. Times are even over the 30 days before `untilMs`. Holds 12 bytes per author.
 */
export function* syntheticPosts(
  { authors, total, seed, untilMs }: SyntheticPostOptions,
  from: number,
): Generator<SyntheticPost> {
  const order = shuffled(authors.length, seed, streams.order)
  const rankOf = zipf(authors.length)
  for (let index = from; index < total; index++) {
    const author = authors[order[rankOf(randomAt(seed, index, streams.author))] as number] as UserId
    const part = (index + randomAt(seed, index, streams.time)) / total
    const atMs = untilMs - daysMs + Math.floor(part * daysMs)
    yield { index, author, text: textOf(seed, index), atMs }
  }
}

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

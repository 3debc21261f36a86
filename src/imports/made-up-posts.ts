import type { UserId } from '../lib/ids.ts'
import { randomAt, shuffled, zipf } from './random.ts'

/** A post that nobody wrote. */
export interface MadeUpPost {
  readonly author: UserId
  readonly text: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

const daysMs = 30 * 86_400_000
const streams = { order: 0, author: 1, time: 2, length: 3, words: 16 }

/**
 * Makes up posts: who wrote the `index`-th, what and when depends on nothing but the arguments.
 * Authors are drawn by Zipf's law, which of them are the busy ones by the seed. Times rise with the
 * index, evenly over the 30 days before `untilMs`.
 * @param authors at least one; 12 bytes are held for each.
 */
export function madeUpPosts(
  authors: readonly UserId[],
  total: number,
  seed: number,
  untilMs: number,
): (index: number) => MadeUpPost {
  const order = shuffled(authors.length, seed, streams.order)
  const rankOf = zipf(authors.length)
  return (index) => {
    const author = authors[order[rankOf(randomAt(seed, index, streams.author))] ?? 0]
    if (author === undefined) throw new RangeError('there are no authors')
    const part = (index + randomAt(seed, index, streams.time)) / total
    const atMs = untilMs - daysMs + Math.floor(part * daysMs)
    return { author, text: textOf(seed, index), atMs }
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

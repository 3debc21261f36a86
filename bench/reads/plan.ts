import { randomAt, shuffled } from '../../packages/drive/random.ts'

/** Pages and posts of a block of the mix. */
const [pages, posts] = [6, 1]

/**
 * Whether operation number `at` of the mix is a post: one in each block of seven, in an order that
 * depends on `seed`.
 */
export function isPostAt(at: number, seed: number): boolean {
  const length = pages + posts
  const order = shuffled(length, seed, Math.floor(at / length))
  return (order[at % length] ?? 0) < posts
}

/** One of `items` for operation number `at`. All are equally likely. */
export function pickAt<T>(items: readonly T[], at: number, seed: number): T {
  const item = items[Math.floor(randomAt(seed, at, 0) * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick')
  return item
}

/** The items in an order that depends on `seed`, and is the same for all sides. */
export const shuffle = <T>(items: readonly T[], seed: number): T[] =>
  [...shuffled(items.length, seed, 0)].map((at) => items[at] as T)

import { randomAt, shuffled } from '../../packages/drive/random.ts'

/** An operation of a mix. */
export type MixKind = 'home' | 'profile' | 'compose'

const repeat = (kind: MixKind, times: number) => Array<MixKind>(times).fill(kind)

/** How often each operation is in a block of each mix: a home page, a profile, or a new post. */
export const mixes = {
  pagesAndPosts: [...repeat('home', 6), 'compose'],
  everything: [...repeat('home', 6), ...repeat('profile', 3), 'compose'],
} as const satisfies Record<string, readonly MixKind[]>

/**
 * The kind of operation number `at`. Each block has the exact shares of the mix, in an order that depends on `seed` and is
 * the same for all sides.
 */
export function mixKindAt(mix: readonly MixKind[], at: number, seed: number): MixKind {
  const block = Math.floor(at / mix.length)
  const order = shuffled(mix.length, seed, block)
  return mix[order[at % mix.length] ?? 0] as MixKind
}

/** One of `items` for operation number `at`. All are equally likely. */
export function pickAt<T>(items: readonly T[], at: number, seed: number): T {
  const item = items[Math.floor(randomAt(seed, at, 0) * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick')
  return item
}

/** The growth of the rate from step to step. */
export const rateStep = 1.15
const triesMax = 2

/**
 * Raises a rate by 15 % until it is not sustained twice in a row. If the first rate is not sustained, it is halved first.
 * @returns the highest sustained rate, 0 if none of at least 10 is.
 */
export async function findSustainedRate(
  first: number,
  isSustained: (rate: number) => Promise<boolean>,
): Promise<number> {
  const isHeld = async (rate: number) => {
    for (let tries = 1; tries <= triesMax; tries++) if (await isSustained(rate)) return true
    return false
  }
  let rate = Math.round(first)
  while (!(await isHeld(rate))) {
    rate = Math.round(rate / 2)
    if (rate < 10) return 0
  }
  for (;;) {
    const next = Math.ceil(rate * rateStep)
    if (!(await isHeld(next))) return rate
    rate = next
  }
}

/** The readers in an order that depends on `seed`, and is the same for all sides. */
export const shuffleReaders = <T>(readers: readonly T[], seed: number): T[] =>
  [...shuffled(readers.length, seed, 0)].map((at) => readers[at] as T)

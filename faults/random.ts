import { randomAt } from '../packages/drive/random.ts'

/** Seeded random choices. Each stream of a seed is independent of the others. */
export class Random {
  private index = 0

  constructor(
    private readonly seed: number,
    private readonly stream: number,
  ) {}

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    return randomAt(this.seed, this.index++, this.stream)
  }

  /** A number from `min` (inclusive) to `max` (exclusive). */
  between(min: number, max: number): number {
    return min + this.next() * (max - min)
  }

  /** One of `items`. Undefined if there are no items. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.next() * items.length)]
  }

  /** The items in random order. */
  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item)
  }
}

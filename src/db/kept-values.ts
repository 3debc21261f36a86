import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'

/** The bounds of {@link KeptValues}. */
export interface KeptBounds {
  /** Estimated bytes in memory. 0: nothing is kept. */
  readonly bytesMax: number
  /** How long a value is kept, in milliseconds. */
  readonly keptMsMax: number
}

/** The share of the memory that one value may take. */
const largestShare = 1 / 64

/** Values in memory, by key, within a number of bytes. The value used longest ago is dropped first. */
export class KeptValues<V extends object> {
  private readonly values: LRUCache<string, V> | undefined
  /** Counts whether a request was served from memory. */
  readonly countServed: (isKept: boolean) => void

  /**
   * @param name of the cache in metrics.
   * @param bytesOf estimates the bytes of a value.
   */
  constructor(name: string, bounds: KeptBounds, bytesOf: (value: V, key: string) => number) {
    const maxSize = Math.floor(bounds.bytesMax)
    if (maxSize > 0) {
      this.values = new LRUCache<string, V>({
        maxSize,
        maxEntrySize: Math.ceil(maxSize * largestShare),
        ttl: Math.max(1, Math.ceil(bounds.keptMsMax)),
        sizeCalculation: bytesOf,
      })
    }
    this.countServed = measureCache(name, () => this.values?.calculatedSize ?? 0).countRead
  }

  get(key: string): V | undefined {
    return this.values?.get(key)
  }

  /** Keeps a value, unless it is too large. */
  set(key: string, value: V): void {
    this.values?.set(key, value)
  }
}

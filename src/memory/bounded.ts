import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'

/** The bounds of a {@link BoundedMap}. */
export interface Bounds<V> {
  /** The label of its metrics. */
  readonly name: string
  /** Estimated bytes. 0: nothing is kept. */
  readonly bytesMax: number
  /** The share of the memory that one value may take. Default: a 64th. */
  readonly largestShare?: number
  /** An estimate of the bytes of a value. It is asked when the value is set. */
  readonly bytesOf: (value: V, key: string) => number
}

/**
 * Values in the memory of a process, bounded in bytes. The value used longest ago is dropped first.
 */
export class BoundedMap<V extends object> {
  private readonly values: LRUCache<string, V> | undefined
  /** Counts whether a read was answered from memory. */
  readonly countRead: (isHit: boolean) => void

  constructor({ name, bytesMax, largestShare = 1 / 64, bytesOf }: Bounds<V>) {
    const maxSize = Math.floor(bytesMax)
    if (maxSize > 0) {
      this.values = new LRUCache<string, V>({
        maxSize,
        maxEntrySize: Math.ceil(maxSize * largestShare),
        sizeCalculation: bytesOf,
      })
    }
    this.countRead = measureCache(name, () => this.values?.calculatedSize ?? 0).countRead
  }

  get(key: string): V | undefined {
    return this.values?.get(key)
  }

  /**
   * Sets a value, unless it is larger than its share of the memory: then there is none for its key.
   */
  set(key: string, value: V): void {
    this.values?.set(key, value)
  }

  delete(key: string): void {
    this.values?.delete(key)
  }

  clear(): void {
    this.values?.clear()
  }
}

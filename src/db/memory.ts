import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'

/** The bounds of a {@link Memory}. */
export interface MemoryBounds<V> {
  /** The label of its metrics. */
  readonly name: string
  /** Estimated bytes. 0: nothing is kept. */
  readonly bytesMax: number
  /** How long a value is kept, in milliseconds. */
  readonly keptMsMax: number
  /** The share of the memory that one value may take. Default: a 64th. */
  readonly largestShare?: number
  /** An estimate of the bytes of a value. It is asked when the value is kept. */
  readonly bytesOf: (value: V, key: string) => number
}

/** Values in the memory of a process, bounded in bytes and in age. The value used longest ago is dropped first. */
export class Memory<V extends object> {
  private readonly values: LRUCache<string, V> | undefined
  /** Counts whether a read was answered from memory. */
  readonly countRead: (isHit: boolean) => void

  constructor({ name, bytesMax, keptMsMax, largestShare = 1 / 64, bytesOf }: MemoryBounds<V>) {
    const maxSize = Math.floor(bytesMax)
    if (maxSize > 0) {
      this.values = new LRUCache<string, V>({
        maxSize,
        maxEntrySize: Math.ceil(maxSize * largestShare),
        ttl: Math.max(1, Math.ceil(keptMsMax)),
        // Otherwise a page reads the clock a hundred times.
        ttlResolution: 100,
        sizeCalculation: bytesOf,
      })
    }
    this.countRead = measureCache(name, () => this.values?.calculatedSize ?? 0).countRead
  }

  /** Whether anything is kept. */
  get isOn(): boolean {
    return this.values !== undefined
  }

  get(key: string): V | undefined {
    return this.values?.get(key)
  }

  /** Keeps a value, unless it is larger than its share of the memory: then nothing is kept for its key. */
  set(key: string, value: V): void {
    this.values?.set(key, value)
  }
}

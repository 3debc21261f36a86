import { BoundedMap, type Bounds } from './bounded.ts'
import { Fills } from './fill.ts'
import type { Change } from './followed.ts'
import type { FollowedCollection } from './followed-facts.ts'
import type { Kept, ProcessMemory } from './process-memory.ts'

/**
 * A read whose results are kept, unless they have changed since it began. Dispose of it afterwards.
 */
export interface Filling<V> extends Disposable {
  /** Keeps a value that was read after {@link KeptValues.beginFilling}. */
  keep(key: string, value: V): void
}

/** How values are kept. */
export interface KeptValuesOptions<V> extends Bounds<V> {
  readonly memory: ProcessMemory
  readonly follows: readonly FollowedCollection[]
  /** The key whose value a change has made wrong. Undefined: it changes none. */
  readonly changedBy: (change: Change) => string | undefined
}

/**
 * Values by key in the memory of a process, which the log keeps true: a change drops the value, and
 * no read that a change of its key overtook is kept. Read them only after
 * {@link ProcessMemory.isCurrent} has said true for the request.
 */
export class KeptValues<V extends object> implements Kept {
  readonly follows: readonly FollowedCollection[]
  private readonly values: BoundedMap<V>
  private readonly fills: Fills<string>

  constructor(private readonly options: KeptValuesOptions<V>) {
    this.follows = options.follows
    this.values = new BoundedMap(options)
    this.fills = new Fills(options.memory)
    options.memory.add(this)
  }

  get(key: string): V | undefined {
    const value = this.values.get(key)
    this.values.countRead(value !== undefined)
    return value
  }

  /** Estimates the bytes of a value again, because it has grown. */
  resize(key: string, value: V): void {
    if (this.values.get(key) === value) this.values.set(key, value)
  }

  /** Call it before the read is sent. */
  beginFilling(): Filling<V> {
    const fill = this.fills.begin()
    return {
      keep: (key, value) => {
        if (fill.isValid(key)) this.values.set(key, value)
      },
      [Symbol.dispose]: () => fill[Symbol.dispose](),
    }
  }

  /**
   * The values of keys: from memory, and those that are missing by `read`, whose results are kept.
   * @param isCurrent whether memory is current. Otherwise all are read.
   * @param read returns no value for a key that has none.
   */
  async load<K extends string>(
    keys: readonly K[],
    isCurrent: boolean,
    read: (missing: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  ): Promise<Map<K, V>> {
    const values = new Map<K, V>()
    const missing: K[] = []
    for (const key of keys) {
      const value = isCurrent ? this.get(key) : undefined
      if (value) values.set(key, value)
      else missing.push(key)
    }
    if (missing.length === 0) return values
    using filling = this.beginFilling()
    for (const [key, value] of await read(missing)) {
      filling.keep(key, value)
      values.set(key, value)
    }
    return values
  }

  apply(change: Change): void {
    const key = this.options.changedBy(change)
    if (key === undefined) return
    this.values.delete(key)
    this.fills.touch(key)
  }

  /** Fills that are under way belong to an epoch that has ended. */
  drop(): void {
    this.values.clear()
  }
}

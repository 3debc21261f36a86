import type { Timestamp } from '../db/mongo.ts'

/** What a fill needs to know of the log. */
interface Position {
  readonly epoch: number
  readonly position: Timestamp | undefined
}

/**
 * A read whose results may be kept in memory. Dispose of it once they are kept, or the read has
 * failed.
 */
export interface Fill<Key> extends Disposable {
  /**
   * Whether what the read found about `key` may be kept now: it is not older than any change that
   * was applied.
   */
  isValid(key: Key): boolean
}

/**
 * Makes sure that no read puts a value into memory that is older than the log. A value may be kept
 * if
 * - its read began after `isCurrent` was true, and waited for the position of the log, as all reads
 *   of the client do (`readNotBefore` of `db/client.ts`),
 * - no change of its key was applied since then,
 * - nothing was dropped since then.
 * It keeps a key of each change for as long as a fill is under way that began before it.
 */
export class Fills<Key> {
  /** In the order in which they began, with the number of changes at that time. */
  private readonly underWay = new Map<object, number>()
  /** The keys of changes in the order of their last change, with its number. */
  private readonly changed = new Map<Key, number>()
  private changes = 0

  constructor(private readonly log: Position) {}

  /** Begins a fill. Call it before its read is sent. */
  begin(): Fill<Key> {
    const { epoch, position } = this.log
    const begun = this.changes
    const fill: Fill<Key> = {
      isValid: (key) =>
        position !== undefined &&
        epoch === this.log.epoch &&
        this.underWay.has(fill) &&
        (this.changed.get(key) ?? 0) <= begun,
      [Symbol.dispose]: () => this.end(fill),
    }
    this.underWay.set(fill, begun)
    return fill
  }

  /**
   * Records a change of `key`. Call it for each change that is applied, also if nothing is kept of
   * the key.
   */
  touch(key: Key): void {
    if (this.underWay.size === 0) return
    this.changed.delete(key)
    this.changed.set(key, ++this.changes)
  }

  private end(fill: Fill<Key>): void {
    this.underWay.delete(fill)
    const [oldest = this.changes] = this.underWay.values()
    for (const [key, change] of this.changed) {
      if (change > oldest) return
      this.changed.delete(key)
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Timestamp } from '../db/mongo.ts'
import { stopwatch } from '../lib/stopwatch.ts'
import type { Log as Logger } from '../log.ts'
import type { Change } from './followed.ts'
import type { FollowedCollection } from './followed-facts.ts'
import type { Log } from './log.ts'

/** Something that a process keeps in memory. */
export interface Kept {
  /** The collections whose changes it gets. */
  readonly follows: readonly FollowedCollection[]
  /** Drops what a change has made wrong, or adds it. Synchronous. */
  apply(change: Change): void
  /** Drops everything. Synchronous. */
  drop(): void
}

/**
 * What a process keeps in memory, and the log that keeps it true. Without a log, nothing is kept.
 */
export class ProcessMemory {
  private readonly kept: Kept[] = []
  private readonly byCollection = new Map<string, Kept[]>()
  private log: Log | undefined

  /** From now on, passes changes to `kept`. Call it before {@link start}. */
  add<K extends Kept>(kept: K): K {
    this.kept.push(kept)
    for (const name of kept.follows)
      this.byCollection.set(name, [...(this.byCollection.get(name) ?? []), kept])
    return kept
  }

  /** Follows a log until {@link close}. */
  start(log: Log, logger: Logger): void {
    this.log = log
    log.start(
      {
        apply: (change) => {
          for (const kept of this.byCollection.get(change.collection) ?? []) kept.apply(change)
        },
        drop: () => {
          for (const kept of this.kept) kept.drop()
        },
      },
      logger,
    )
  }

  /** Waits until values may be kept, at most for a time in milliseconds. Without a log, at once. */
  async waitUntilOpen(msMax: number): Promise<void> {
    const elapsedMs = stopwatch()
    while (this.log && !this.position && elapsedMs() < msMax) await sleep(10)
  }

  async close(): Promise<void> {
    const { log } = this
    this.log = undefined
    await log?.close()
    for (const kept of this.kept) kept.drop()
  }

  /** As of the {@link Log}. */
  get position(): Timestamp | undefined {
    return this.log?.position
  }

  /** As of the {@link Log}. */
  get epoch(): number {
    return this.log?.epoch ?? 0
  }

  /**
   * Waits until memory holds all that was acknowledged before the call, in any process. Mostly one
   * command, shared by all that wait.
   * @returns false in doubt: the caller reads the database, and nothing from memory.
   */
  async isCurrent(): Promise<boolean> {
    return this.log?.isCurrent() ?? false
  }
}

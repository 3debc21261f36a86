import type { Collection } from 'mongodb'
import { findAtOnce } from '../../../src/db/find-at-once.ts'
import { Fills } from '../../../src/memory/fill.ts'
import type { Change, Followed, Follower } from '../../../src/memory/followed.ts'
import type { Log } from '../../../src/memory/log.ts'

/** A document whose number rises with each write. */
export interface Numbered {
  readonly _id: string
  readonly n: number
}

/** The number of a document. Null: there is no document. */
export type State = number | null

/** How a memory reads a document from the database. */
export type Load = (key: string) => Promise<State>

export const followed: Followed = {
  collection: 'numbered',
  updates: ['n'],
  inserts: true,
  carries: ['n'],
}

/** Reads as a request does. */
export const loadFrom =
  (collection: Collection<Numbered>): Load =>
  async (_id) =>
    (await findAtOnce(collection, { _id })).at(0)?.n ?? null

/**
 * Documents in memory: what is inserted, replaced or deleted joins, what is updated is dropped, and
 * reads fill.
 */
export class NumberedMemory implements Follower {
  readonly kept = new Map<string, State>()
  private readonly fills: Fills<string>

  constructor(
    private readonly log: Log,
    private readonly load: Load,
  ) {
    this.fills = new Fills(log)
  }

  apply({ operation, key, document }: Change): void {
    const id = String(key)
    this.fills.touch(id)
    if (operation === 'update') this.kept.delete(id)
    else this.kept.set(id, document ? document.n : null)
  }

  drop(): void {
    this.kept.clear()
  }

  /** Reads from memory, or from the database as a fill. */
  async read(key: string): Promise<{
    /** Whether memory was current. If not, nothing is kept. */
    readonly isCurrent: boolean
    /** Whether the state was in memory. */
    readonly isKept: boolean
    readonly state: State
  }> {
    const isCurrent = await this.log.isCurrent()
    const kept = isCurrent ? this.kept.get(key) : undefined
    if (kept !== undefined) return { isCurrent, isKept: true, state: kept }
    if (!isCurrent) return { isCurrent, isKept: false, state: await this.load(key) }
    using fill = this.fills.begin()
    const state = await this.load(key)
    if (fill.isValid(key)) this.kept.set(key, state)
    return { isCurrent, isKept: false, state }
  }
}

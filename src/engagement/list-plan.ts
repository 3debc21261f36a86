import type { EngagementDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { type EngagementId, neighbour } from '../lib/ids.ts'
import type { EngagementKind, KindRow } from './kinds.ts'
import type { ListLimits } from './list-limits.ts'

/** How full a place is. */
export interface Fill {
  readonly count: number
  readonly bytes: number
}

/** An entry as it is stored, with the overflow document that holds it; undefined: its post does. */
export interface StoredEntry {
  readonly entry: EngagementDoc
  readonly level: { readonly number: number; readonly count: number } | undefined
}

/** What a batch of writes must know of a list. */
export interface ListState {
  /** The place that the last entry was given. */
  readonly last: EngagementId | undefined
  readonly levels: number
  readonly embedded: Fill
  /** The last overflow document, if there is any. */
  readonly tail: (Fill & { readonly number: number }) | undefined
  /** The number of a level that is opened; without it, the one after the tail's. */
  readonly nextLevel?: number
  /** The entries that the batch is about. */
  readonly stored: readonly StoredEntry[]
}

/** A new entry, before its list gives it a place. */
export type NewEntry = Omit<EngagementDoc, 'place'>

/** One change of one list of a post: an entry to add, or the key of one to take out. */
export type ListWrite = { readonly kind: EngagementKind } & (
  | { readonly add: NewEntry; readonly remove?: undefined; readonly only?: undefined }
  | {
      readonly remove: string
      /**
       * The one entry to take out: another under the same key stays. The post is then written even
       * where nothing is taken out, so that a write of the entry that is under way collides with
       * this one.
       */
      readonly only?: ObjectId
      readonly add?: undefined
    }
)

/** What a write did, and the entry it was about: added, taken out, or there already. */
export interface ListResult {
  readonly changed: boolean
  readonly entry?: NewEntry | undefined
  /**
   * Set if an earlier request made the write: the entry then has no text, and may have been removed
   * since.
   */
  readonly isRepeat?: boolean
}

/** What is to become of one overflow document. */
export interface LevelChange {
  readonly number: number
  readonly existed: boolean
  readonly count: number
  readonly adds: readonly EngagementDoc[]
  /** Ids of entries to take out. */
  readonly removes: readonly ObjectId[]
}

/** The changes of one list. */
export interface ListChange {
  readonly adds: readonly EngagementDoc[]
  /** Ids of entries to take out of the post. */
  readonly removes: readonly ObjectId[]
  readonly levels: readonly LevelChange[]
  readonly countDelta: number
  /** The place that the last entry was given. */
  readonly last: EngagementId | undefined
  readonly levelsDelta: number
}

/**
 * BSON around an entry's strings: its index in the array, field names, types, lengths, id and
 * place.
 */
const entryBytes = 80

/** BSON of a facet: its index, kind, start, end, and an account. */
const facetBytes = 50 + 80

/** No less than the bytes of BSON that an entry takes. A malformed part counts as empty. */
export const sizeOf = ({ actor, text, facets }: NewEntry): number =>
  entryBytes +
  lengthOf(actor) +
  (text === undefined ? 0 : 16 + lengthOf(text)) +
  (Array.isArray(facets) ? 16 + facetBytes * facets.length : 0)

const lengthOf = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0)

interface LevelPlan {
  readonly existed: boolean
  count: number
  bytes: number
  adds: EngagementDoc[]
  readonly removes: ObjectId[]
}

/**
 * Works out what a batch of adds and removes does to one list of the outlier pattern, and touches
 * nothing. A new entry goes to the last place that exists: the post while it has room and nothing
 * overflows, then the last overflow document, then a new one. No entry ever moves, so places rise
 * from the post through the levels, and a walk by place meets each entry once. Removals leave gaps.
 * An empty level is deleted.
 */
export class ListPlan {
  private readonly entries = new Map<string, { entry: EngagementDoc; level: number | undefined }>()
  private readonly levels = new Map<number, LevelPlan>()
  private adds: EngagementDoc[] = []
  private readonly removes: ObjectId[] = []
  private last: EngagementId | undefined
  private embedded: Fill
  private tail: number | undefined
  private nextLevel: number
  private levelsDelta = 0
  private countDelta = 0

  constructor(
    private readonly rule: Pick<KindRow, 'key'>,
    private readonly limits: ListLimits,
    private readonly state: ListState,
  ) {
    this.last = state.last
    this.embedded = state.embedded
    const { tail } = state
    this.tail = tail?.number
    this.nextLevel = state.nextLevel ?? (tail ? tail.number + 1 : 0)
    if (tail) this.levels.set(tail.number, levelPlan(tail.count, tail.bytes))
    for (const { entry, level } of state.stored) {
      this.entries.set(keyOf(rule, entry), { entry, level: level?.number })
      // A level that is not the last takes nothing more, so its bytes do not matter.
      if (level && !this.levels.has(level.number)) {
        this.levels.set(level.number, levelPlan(level.count, 0))
      }
    }
  }

  /**
   * @returns the entry that was there already, or undefined when this one was added.
   * @throws {DomainError} NOT_FOUND if an entry without an id is there.
   */
  add(newEntry: NewEntry): EngagementDoc | undefined {
    const key = keyOf(this.rule, newEntry)
    const there = this.find(key)
    if (there) return there.entry
    const entry = this.placed(newEntry)
    this.entries.set(key, { entry, level: this.place(entry) })
    this.countDelta++
    return undefined
  }

  /**
   * @returns the entry that was taken out, or undefined when there was none, or none with the id
   *   `only`.
   * @throws {DomainError} NOT_FOUND if an entry without an id is there.
   */
  remove(key: string, only?: ObjectId): EngagementDoc | undefined {
    const stored = this.find(key)
    if (!stored || (only && !stored.entry._id.equals(only))) return undefined
    this.entries.delete(key)
    this.countDelta--
    if (stored.level === undefined) this.takeFromPost(stored.entry)
    else this.takeFromLevel(stored.entry, stored.level)
    return stored.entry
  }

  private find(key: string) {
    const there = this.entries.get(key)
    if (there) fromObjectId(there.entry._id)
    return there
  }

  /** The changes, or undefined if nothing changes. */
  change(): ListChange | undefined {
    if (this.last === this.state.last && this.countDelta === 0) return undefined
    return {
      adds: this.adds,
      removes: this.removes,
      levels: [...this.levels]
        .filter(([, level]) => level.adds.length + level.removes.length > 0)
        .map(([number, { existed, count, adds, removes }]) => ({
          number,
          existed,
          count,
          adds,
          removes,
        })),
      countDelta: this.countDelta,
      last: this.last,
      levelsDelta: this.levelsDelta,
    }
  }

  /** Its own id is its place, unless one with a later id came before. */
  private placed(newEntry: NewEntry): EngagementDoc {
    const id = fromObjectId<EngagementId>(newEntry._id)
    const late = this.last !== undefined && id <= this.last
    this.last = late ? neighbour(this.last as EngagementId, 1) : id
    return late ? { ...newEntry, place: toObjectId(this.last) } : newEntry
  }

  private place(entry: EngagementDoc): number | undefined {
    const size = sizeOf(entry)
    // Without a text an entry is as small as an id: its list's count bounds it.
    const bounded = entry.text === undefined
    const { threshold, embeddedBytesMax, capacity, levelBytesMax } = this.limits
    if (this.state.levels + this.levelsDelta === 0) {
      const { count, bytes } = this.embedded
      if (count < threshold && (bounded || bytes + size <= embeddedBytesMax)) {
        this.embedded = { count: count + 1, bytes: bytes + size }
        this.adds.push(entry)
        return undefined
      }
    }
    const last = this.tail === undefined ? undefined : this.levels.get(this.tail)
    if (this.tail !== undefined && last) {
      if (last.count < capacity && (bounded || last.bytes + size <= levelBytesMax)) {
        last.count++
        last.bytes += size
        last.adds.push(entry)
        return this.tail
      }
    }
    this.tail = this.nextLevel++
    this.levelsDelta++
    this.levels.set(this.tail, { ...levelPlan(1, size, false), adds: [entry] })
    return this.tail
  }

  private takeFromPost(entry: EngagementDoc): void {
    const { count, bytes } = this.embedded
    this.embedded = { count: count - 1, bytes: bytes - sizeOf(entry) }
    const own = this.adds.indexOf(entry)
    if (own < 0) this.removes.push(entry._id)
    else this.adds.splice(own, 1)
  }

  private takeFromLevel(entry: EngagementDoc, number: number): void {
    const level = this.levels.get(number)
    if (!level) throw new Error(`level ${number} is not in the plan`)
    level.count--
    const own = level.adds.indexOf(entry)
    if (own < 0) level.removes.push(entry._id)
    else level.adds.splice(own, 1)
    if (level.count > 0) return
    if (this.tail === number) this.tail = undefined
    this.levelsDelta--
    if (!level.existed) this.levels.delete(number)
  }
}

/** What identifies an entry in its list. */
const keyOf = ({ key }: Pick<KindRow, 'key'>, entry: Pick<EngagementDoc, 'actor' | '_id'>) =>
  key === 'actor' ? entry.actor : entry._id.toHexString()

const levelPlan = (count: number, bytes: number, existed = true): LevelPlan => ({
  existed,
  count,
  bytes,
  adds: [],
  removes: [],
})

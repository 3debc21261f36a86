import type { TimeId } from './ids.ts'

/** The most items of a page. */
export const pageSizeMax = 100

/**
 * The part of a list that a client requests. Most lists are sorted newest first, and their places
 * are ids.
 */
export interface Window<Place = TimeId> {
  /** 0 to {@link pageSizeMax} items. */
  readonly limit: number
  /** Only items past this place: older ones, if the list is sorted newest first. */
  readonly after?: Place | undefined
  /** Only items up to this place, without it: newer ones, if the list is sorted newest first. */
  readonly before?: Place | undefined
  /**
   * Returns the last `limit` items of the part instead of the first (Relay's `last`). The order
   * stays the list's.
   */
  readonly backward: boolean
}

/** A range of ids to read, bounds excluded. */
export interface Range {
  readonly olderThan?: TimeId | undefined
  readonly newerThan?: TimeId | undefined
  /** Reads from the oldest to the newest, and returns the items in this order. */
  readonly oldestFirst: boolean
  readonly limit: number
}

/** A page in the order of its list, whose two booleans are exact. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly hasNextPage: () => boolean | Promise<boolean>
  readonly hasPreviousPage: () => boolean | Promise<boolean>
}

import { neighbour, type TimeId } from './ids.ts'

/** The most items any page holds. */
export const pageSizeMax = 100

/** What a client asks for: a part of a list that runs from newest to oldest. */
export interface Window {
  /** 0 to {@link pageSizeMax} items. */
  readonly limit: number
  /** Only what is older than this (Relay's `after`, since lists run newest first). */
  readonly after?: TimeId | undefined
  /** Only what is newer than this (Relay's `before`). */
  readonly before?: TimeId | undefined
  /** Takes the last `limit` items of that part instead of the first (Relay's `last`). The order stays newest first. */
  readonly backward: boolean
}

/** One stretch of ids to read, bounds excluded. */
export interface Range {
  readonly olderThan?: TimeId | undefined
  readonly newerThan?: TimeId | undefined
  /** Walks from the oldest to the newest; the items come in that order. */
  readonly oldestFirst: boolean
  readonly limit: number
}

/** A page, newest first, whose two booleans are exact. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly hasNextPage: () => boolean | Promise<boolean>
  readonly hasPreviousPage: () => boolean | Promise<boolean>
}

/** The range that holds a window's page and one item more, which tells whether the walk goes on. */
export const rangeOf = (window: Window): Range => ({
  olderThan: window.after,
  newerThan: window.before,
  oldestFirst: window.backward,
  limit: window.limit + 1,
})

/**
 * Makes the page of a window from the items of {@link rangeOf}.
 * The side that the walk goes towards is known from the extra item; the side it came from is probed
 * only when asked, and only when a cursor bounds it.
 * @param any whether a range holds anything: one bounded command.
 */
export function pageFrom<T>(
  window: Window,
  found: readonly T[],
  any: (range: Range) => Promise<boolean>,
): Page<T> {
  const items = found.slice(0, window.limit)
  const more = found.length > window.limit
  const { after, before } = window
  const newer = () =>
    after !== undefined && any({ newerThan: neighbour(after, -1), oldestFirst: false, limit: 1 })
  const older = () =>
    before !== undefined && any({ olderThan: neighbour(before, 1), oldestFirst: false, limit: 1 })
  return window.backward
    ? { items: items.reverse(), hasPreviousPage: () => more || newer(), hasNextPage: older }
    : { items, hasNextPage: () => more || older(), hasPreviousPage: newer }
}

/** A page of a list that is known to be empty. */
export const emptyPage = <T>(): Page<T> => ({
  items: [],
  hasNextPage: () => false,
  hasPreviousPage: () => false,
})

/**
 * Fills a page from candidates of which a filter may drop some, asking for more until it is full or the end is reached.
 * Rounds double up to `roundMax`, so a long stretch of dropped candidates costs few rounds and bounded memory.
 * @param next candidates past `last` (undefined: from the start of the range), in walking order; fewer than `limit` means the end.
 * @param keep what survives of the candidates, in the order given.
 */
export async function fillPage<C, T>(
  limit: number,
  next: (last: C | undefined, limit: number) => Promise<readonly C[]>,
  keep: (candidates: readonly C[]) => Promise<readonly T[]>,
  roundMax = 1000,
): Promise<T[]> {
  const page: T[] = []
  let last: C | undefined
  for (let round = limit; page.length < limit; round = Math.min(round * 2, roundMax)) {
    const candidates = await next(last, round)
    if (candidates.length > 0) page.push(...(await keep(candidates)))
    if (candidates.length < round) break
    last = candidates.at(-1)
  }
  return page.slice(0, limit)
}

import { neighbour, type TimeId } from './ids.ts'

/** The most items of a page. */
export const pageSizeMax = 100

/** The part of a list, sorted newest first, that a client requests. */
export interface Window {
  /** 0 to {@link pageSizeMax} items. */
  readonly limit: number
  /** Only items older than this (Relay's `after`, since lists are sorted newest first). */
  readonly after?: TimeId | undefined
  /** Only items newer than this (Relay's `before`). */
  readonly before?: TimeId | undefined
  /** Returns the last `limit` items of the part instead of the first (Relay's `last`). The order stays newest first. */
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

/** A page, newest first, whose two booleans are exact. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly hasNextPage: () => boolean | Promise<boolean>
  readonly hasPreviousPage: () => boolean | Promise<boolean>
}

/** The range of a window's page plus one item, which shows whether more items follow. */
export const rangeOf = (window: Window): Range => ({
  olderThan: window.after,
  newerThan: window.before,
  oldestFirst: window.backward,
  limit: window.limit + 1,
})

/**
 * Creates the page of a window from the items of {@link rangeOf}. The extra item shows whether items follow in the
 * direction of the walk. The other direction is read only if requested, and only if a cursor bounds the page.
 * @param any whether a range has an item. One bounded command, or two for a stored timeline.
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

/** The page of an empty list. */
export const emptyPage = <T>(): Page<T> => ({
  items: [],
  hasNextPage: () => false,
  hasPreviousPage: () => false,
})

/**
 * Fills a page from filtered candidates. Reads more candidates until the page is full or the list ends. Rounds double
 * up to `roundMax`, which means that many dropped candidates cost few rounds and bounded memory.
 * @param next reads candidates past `last` (undefined: from the start of the range), in walking order. Fewer than
 * `limit` candidates mean the end.
 * @param keep filters candidates and keeps their order.
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

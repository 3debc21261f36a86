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
  read: readonly T[],
  any: (range: Range) => Promise<boolean>,
): Page<T> {
  const items = read.slice(0, window.limit)
  const more = read.length > window.limit
  const { after, before } = window
  const newer = keepFirst(
    () =>
      after !== undefined && any({ newerThan: neighbour(after, -1), oldestFirst: false, limit: 1 }),
  )
  const older = keepFirst(
    () =>
      before !== undefined &&
      any({ olderThan: neighbour(before, 1), oldestFirst: false, limit: 1 }),
  )
  return window.backward
    ? { items: items.reverse(), hasPreviousPage: () => more || newer(), hasNextPage: older }
    : { items, hasNextPage: () => more || older(), hasPreviousPage: newer }
}

/** A function that calls `read` once and always returns its first result. Aliases of a list share one page. */
function keepFirst<T>(read: () => NonNullable<T>): () => NonNullable<T> {
  let first: NonNullable<T> | undefined
  return () => {
    first ??= read()
    return first
  }
}

/** A read of ranges that reads each range once, for the pages of all owners of a batch together. */
export function shareRanges<Found>(
  read: (range: Range) => Promise<Found>,
): (range: Range) => Promise<Found> {
  const reads = new Map<string, Promise<Found>>()
  return (range) => {
    const key = JSON.stringify(range)
    const found = reads.get(key) ?? read(range)
    reads.set(key, found)
    return found
  }
}

/** The page of a smaller window with the same bounds and direction. Reads nothing. */
export function narrowPage<T>(page: Page<T>, { limit, backward }: Window): Page<T> {
  const { length } = page.items
  if (length <= limit) return page
  return backward
    ? { ...page, items: page.items.slice(length - limit), hasPreviousPage: () => true }
    : { ...page, items: page.items.slice(0, limit), hasNextPage: () => true }
}

/** The page of an empty list. */
export const emptyPage = <T>(): Page<T> => ({
  items: [],
  hasNextPage: () => false,
  hasPreviousPage: () => false,
})

/** The most candidates of an owner that one round of {@link fillPages} reads. */
const roundMax = 1000

/**
 * Fills a page from filtered candidates, as {@link fillPages} does for the pages of several owners.
 * @param next reads candidates past `last` (undefined: from the start of the range), in walking order. Fewer than
 * `limit` candidates mean the end.
 * @param keep filters candidates and keeps their order.
 */
export async function fillPage<C, T>(
  limit: number,
  next: (last: C | undefined, limit: number) => Promise<readonly C[]>,
  keep: (candidates: readonly C[]) => Promise<readonly T[]>,
  max = roundMax,
): Promise<readonly T[]> {
  const owner = ''
  const pages = await fillPages<string, C, T>(
    [owner],
    { limit, max },
    async (_, last, size) => new Map([[owner, await next(last.get(owner), size)]]),
    async (found) => new Map([[owner, await keep(found.get(owner) ?? [])]]),
  )
  return pages.get(owner) ?? []
}

/**
 * Fills the pages of several owners from filtered candidates. Reads more candidates of all unfilled pages together, until
 * every page is full or its list ends. Rounds double up to `max`, which means that many dropped candidates cost few
 * rounds and bounded memory.
 * @param next reads candidates of each owner past the last one (absent: from the start of the range), in walking order.
 * Fewer than `limit` candidates mean the end.
 * @param keep filters the candidates of each owner and keeps their order.
 */
export async function fillPages<Owner, C, T>(
  owners: readonly Owner[],
  { limit, max = roundMax }: { readonly limit: number; readonly max?: number },
  next: (
    owners: readonly Owner[],
    last: ReadonlyMap<Owner, C>,
    limit: number,
  ) => Promise<ReadonlyMap<Owner, readonly C[]>>,
  keep: (found: ReadonlyMap<Owner, readonly C[]>) => Promise<ReadonlyMap<Owner, readonly T[]>>,
): Promise<Map<Owner, T[]>> {
  const pages = new Map(owners.map((owner) => [owner, [] as T[]]))
  const last = new Map<Owner, C>()
  let open = limit > 0 ? owners : []
  for (let round = limit; open.length > 0; round = Math.min(round * 2, max)) {
    const candidatesBy = await next(open, last, round)
    const hasAny = [...candidatesBy.values()].some((candidates) => candidates.length > 0)
    const kept = hasAny ? await keep(candidatesBy) : new Map<Owner, readonly T[]>()
    open = open.filter((owner) => {
      const candidates = candidatesBy.get(owner) ?? []
      const page = pages.get(owner) as T[]
      page.push(...(kept.get(owner) ?? []))
      const end = candidates.at(-1)
      if (end !== undefined) last.set(owner, end)
      return candidates.length >= round && page.length < limit
    })
  }
  for (const page of pages.values()) page.splice(limit)
  return pages
}

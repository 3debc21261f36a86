import type { ConnectionSource, WindowOf } from './connection.ts'

/** A sorted list that is completely in memory. A place is the position of an item, which stays after the item is gone. */
export interface SortedList<Item, Place> {
  readonly items: readonly Item[]
  readonly placeOf: (item: Item) => Place
  /** Negative if the first place precedes the second, zero if they are equal. */
  readonly compare: (one: Place, other: Place) => number
  readonly cursorOf: (place: Place) => string
}

/** Compares texts by their bytes, as MongoDB sorts handles. */
export const compareTexts = (one: string, other: string): number =>
  one < other ? -1 : Number(one > other)

/** A page of a sorted list, with the items in place of nodes. */
export function pageOfSorted<Item, Place>(
  { items, placeOf, compare, cursorOf }: SortedList<Item, Place>,
  { limit, backward, after: from, before: to }: WindowOf<Place>,
): ConnectionSource<{ readonly cursor: string; readonly item: Item }> {
  const isPast = (item: Item) => from === undefined || compare(placeOf(item), from) > 0
  const isUpTo = (item: Item) => to === undefined || compare(placeOf(item), to) < 0
  const within = items.filter((item) => isPast(item) && isUpTo(item))
  const page = backward ? within.slice(Math.max(0, within.length - limit)) : within.slice(0, limit)
  const edges = page.map((item) => ({ cursor: cursorOf(placeOf(item)), item }))
  const beyond = within.length > page.length
  return {
    edges,
    pageInfo: {
      hasNextPage: () => (!backward && beyond) || items.some((item) => !isUpTo(item)),
      hasPreviousPage: () => (backward && beyond) || items.some((item) => !isPast(item)),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}

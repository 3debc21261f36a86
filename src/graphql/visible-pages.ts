import type { TimeId, UserId } from '../lib/ids.ts'
import { type Page, pageFrom, type Range, rangeOf, shareRanges, type Window } from '../lib/page.ts'

/** The users among `users` that a block hides from the viewer, in either direction. */
export type HiddenAmong = (users: readonly UserId[]) => Promise<ReadonlySet<UserId>>

/** Reads the same page of many owners' lists, by the name of the owner. */
export type ReadPages<Owner, T> = (
  owners: readonly Owner[],
  window: Window,
) => Promise<ReadonlyMap<string, Page<T>>>

/** Lists in which each item belongs to a person. */
export interface PersonalLists<Owner, T> {
  readonly read: ReadPages<Owner, T>
  readonly nameOf: (owner: Owner) => string
  readonly personOf: (item: T) => UserId
  readonly hiddenAmong: HiddenAmong
}

interface Item {
  readonly id: TimeId
  readonly place?: TimeId | undefined
}

/** The most items of a list that one read returns to fill a page. */
const readMax = 1000

/**
 * Loads the same page of many owners' lists without the items of hidden persons. Pages are full and their booleans exact,
 * as if these items did not exist. Their cursors stay valid.
 *
 * Costs one read for all owners. If a block hides items of a page, the lists of all such pages are read again together,
 * twice as far, until every page is full. Beyond 1,000 items, the read of each list continues separately.
 */
export async function loadVisiblePages<Owner, T extends Item>(
  lists: PersonalLists<Owner, T>,
  owners: readonly Owner[],
  window: Window,
): Promise<Map<string, Page<T>>> {
  const found = await readVisible(lists, owners, rangeOf(window))
  const probe = shareRanges((range) => readVisible(lists, owners, range))
  return new Map(
    owners.map(lists.nameOf).map((name) => {
      const hasAny = async (range: Range) => (await probe(range)).get(name)?.length !== 0
      return [name, pageFrom(window, found.get(name) ?? [], hasAny)]
    }),
  )
}

/** The first visible items of a range of each list, in the order of the range. */
async function readVisible<Owner, T extends Item>(
  lists: PersonalLists<Owner, T>,
  owners: readonly Owner[],
  range: Range,
): Promise<Map<string, T[]>> {
  const { nameOf, personOf, hiddenAmong } = lists
  const pages = new Map<string, T[]>()
  let open = owners
  for (let size = range.limit; open.length > 0; size = Math.min(size * 2, readMax)) {
    const found = await readRanges(lists, open, { ...range, limit: size })
    const hidden = await hiddenAmong([...found.values()].flat().map(personOf))
    const unfilled: Owner[] = []
    for (const owner of open) {
      const items = found.get(nameOf(owner)) ?? []
      const visible = items.filter((item) => !hidden.has(personOf(item)))
      const last = items.at(-1)
      if (visible.length >= range.limit || items.length < size || !last) {
        pages.set(nameOf(owner), visible.slice(0, range.limit))
      } else if (size < readMax) {
        unfilled.push(owner)
      } else {
        const rest = rangePast(range, last, range.limit - visible.length)
        const more = await readVisible(lists, [owner], rest)
        pages.set(nameOf(owner), [...visible, ...(more.get(nameOf(owner)) ?? [])])
      }
    }
    open = unfilled
  }
  return pages
}

/** The part of a range after an item, with another limit. */
function rangePast(range: Range, { id, place = id }: Item, limit: number): Range {
  return { ...range, ...(range.oldestFirst ? { newerThan: place } : { olderThan: place }), limit }
}

/** The items of a range of each list, in the order of the range. */
async function readRanges<Owner, T>(
  { read }: PersonalLists<Owner, T>,
  owners: readonly Owner[],
  { olderThan, newerThan, oldestFirst, limit }: Range,
): Promise<Map<string, readonly T[]>> {
  const pages = await read(owners, {
    limit,
    after: olderThan,
    before: newerThan,
    backward: oldestFirst,
  })
  return new Map(
    [...pages].map(([name, { items }]) => [name, oldestFirst ? items.toReversed() : items]),
  )
}

import type { StrategyDoc } from '../../db/collections.ts'
import { fromObjectId } from '../../db/object-id.ts'
import { neighbour, type PostId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'

/**
 * The first id from which stored timelines are complete under a registration. Undefined: they are
 * complete.
 */
export const floorOf = ({ floor }: StrategyDoc): PostId | undefined =>
  floor && fromObjectId<PostId>(floor)

/**
 * Whether the floor has risen between two reads of a registration, so that entries may have been
 * removed meantime.
 */
export const hasRisen = (then: StrategyDoc, now: StrategyDoc): boolean =>
  (floorOf(now) ?? '') > (floorOf(then) ?? '')

/**
 * The candidates of a page from stored entries that are complete from the floor on. FANOUT_ON_READ
 * continues below it.
 * @param entries in the order of the range. They may include entries below the floor.
 * @param registration under which they were read.
 */
export function cutAtFloor<Entry extends { readonly id: PostId }>(
  entries: readonly Entry[],
  { newerThan, oldestFirst }: Range,
  registration: StrategyDoc,
): { readonly entries: readonly Entry[]; readonly complete: boolean } {
  const floor = floorOf(registration)
  const isAbove =
    newerThan !== undefined && floor !== undefined && newerThan >= neighbour(floor, -1)
  if (floor === undefined || isAbove) return { entries, complete: true }
  if (oldestFirst) return { entries: [], complete: false }
  return { entries: entries.filter(({ id }) => id >= floor), complete: false }
}

import type { PostFacts } from '../db/collections.ts'
import { neighbour, type PostId, type PostRef, type TimeId, type UserId } from '../lib/ids.ts'
import type { Page, Range, Window } from '../lib/page.ts'
import type { PostPurpose, UserPurpose, Visibility } from '../visibility/visibility.ts'

/**
 * Whose list it is: a user's, that of a post, which is its author's, or that of something that is
 * no user's, such as a tag.
 */
export type Owner = UserId | PostRef | { readonly name: string }

/** By the name of an owner: the id of a user or of a post, or its own. */
type ByOwner<Value> = ReadonlyMap<string, Value>

/**
 * A list of each owner, newest first. Each page passes the same four steps: the source proposes
 * candidates, the facts about all of them are loaded together, rules drop candidates, and the rest
 * is presented. What the rules drop is refilled.
 */
export interface List<O extends Owner, Candidate, Item = Candidate, Known = unknown> {
  /**
   * The source: the candidates of a range of each list, in the order of the range. Fewer than its
   * limit mean the end.
   * @param past for each of several owners, the place after which the read continues. Default: the
   *   start of the range.
   */
  read(
    owners: readonly O[],
    range: Range,
    past?: ByOwner<TimeId>,
  ): Promise<ByOwner<readonly Candidate[]>>
  /** The place of a candidate, which its cursor carries. */
  placeOf(candidate: Candidate): TimeId
  /**
   * Loads the facts about candidates of all owners, at least one.
   * @param visibility of the viewer. Undefined: the server itself asks, and no rule applies.
   */
  loadFacts(candidates: readonly Candidate[], visibility: Visibility | undefined): Promise<Known>
  /** The item of a candidate on a page. Undefined: a rule drops it. */
  present(candidate: Candidate, known: Known): Item | undefined
}

/**
 * The last two steps of a list whose items each belong to a user: an item shows if the viewer may
 * see the user.
 */
export const shownWithUser = <Item>(purpose: UserPurpose, userOf: (item: Item) => UserId) => ({
  loadFacts: async (items: readonly Item[], visibility: Visibility | undefined) =>
    visibility?.hiddenAmong(purpose, items.map(userOf)),
  present: (item: Item, hidden: ReadonlySet<UserId> | undefined) =>
    hidden?.has(userOf(item)) ? undefined : item,
})

/** The same of a list of posts: one shows if the viewer may see the post. */
export const shownWithPost = <Item extends PostFacts>(purpose: PostPurpose) => ({
  loadFacts: async (posts: readonly Item[], visibility: Visibility | undefined) =>
    visibility?.shownAmong(purpose, posts),
  present: (post: Item, shown: ReadonlySet<PostId> | undefined) =>
    shown === undefined || shown.has(post.id) ? post : undefined,
})

/** The most candidates of an owner that one round of {@link readRange} reads. */
const roundMax = 1000

/**
 * The items of a range of each list, in its order. Reads more candidates of all unfilled lists
 * together, until each has `range.limit` items or ends. Rounds double up to 1,000 candidates of an
 * owner, so that many dropped candidates cost few rounds and bounded memory.
 */
export async function readRange<O extends Owner, Candidate, Item, Known>(
  list: List<O, Candidate, Item, Known>,
  owners: readonly O[],
  range: Range,
  visibility?: Visibility,
): Promise<Map<string, Item[]>> {
  const items = new Map(owners.map((owner) => [nameOf(owner), [] as Item[]]))
  const past = new Map<string, TimeId>()
  let open = range.limit > 0 ? owners : []
  for (let limit = range.limit; open.length > 0; limit = Math.min(2 * limit, roundMax)) {
    const candidatesOf = await list.read(open, ...next(open, { ...range, limit }, past))
    const candidates = [...candidatesOf.values()].flat()
    const facts = candidates.length > 0 ? await list.loadFacts(candidates, visibility) : undefined
    open = open.filter((owner) => {
      const proposed = candidatesOf.get(nameOf(owner)) ?? []
      const own = items.get(nameOf(owner)) as Item[]
      for (const candidate of proposed) {
        const item = list.present(candidate, facts as Known)
        if (item !== undefined) own.push(item)
      }
      const last = proposed.at(-1)
      if (last !== undefined) past.set(nameOf(owner), list.placeOf(last))
      return proposed.length >= limit && own.length < range.limit
    })
  }
  for (const own of items.values()) own.splice(range.limit)
  return items
}

/**
 * Where a read continues. One owner's range continues by its bound, so that sources read a plain
 * range.
 */
function next(
  owners: readonly Owner[],
  range: Range,
  past: ByOwner<TimeId>,
): [range: Range, past?: ByOwner<TimeId>] {
  const [first, ...others] = owners
  if (past.size === 0 || !first) return [range]
  const place = past.get(nameOf(first))
  if (others.length > 0) return [range, past]
  return [{ ...range, ...(range.oldestFirst ? { newerThan: place } : { olderThan: place }) }]
}

/**
 * Loads the same page of each list. Pages are full and their booleans exact, as if what the rules
 * drop did not exist. A list whose owner's lists are hidden from the viewer has an empty page.
 *
 * Costs one read for all owners, and one for each round of {@link readRange}. Reading `hasNextPage`
 * or `hasPreviousPage` of the far side costs as much again, for all pages together.
 */
export async function readPages<O extends Owner, Candidate, Item, Known>(
  list: List<O, Candidate, Item, Known>,
  owners: readonly O[],
  window: Window,
  visibility?: Visibility,
): Promise<Map<string, Page<Item>>> {
  const [hidden, itemsOf] = await Promise.all([
    visibility?.hiddenAmong(
      'LISTS',
      owners.flatMap((owner) => userOf(owner) ?? []),
    ),
    readRange(list, owners, rangeOf(window), visibility),
  ])
  const probe = shareRanges((range) => readRange(list, owners, range, visibility))
  const pageOf = (owner: O): Page<Item> => {
    const user = userOf(owner)
    if (user !== undefined && hidden?.has(user)) return emptyPage
    const any = async (range: Range) => (await probe(range)).get(nameOf(owner))?.length !== 0
    return pageFrom(window, itemsOf.get(nameOf(owner)) ?? [], any)
  }
  return new Map(owners.map((owner) => [nameOf(owner), pageOf(owner)]))
}

/** The name of an owner in the results of reads. */
export const nameOf = (owner: Owner): string => {
  if (typeof owner === 'string') return owner
  return 'name' in owner ? owner.name : owner.id
}

/** The user of a list, which is empty for a viewer who may not see the lists of the user. */
const userOf = (owner: Owner): UserId | undefined => {
  if (typeof owner === 'string') return owner
  return 'name' in owner ? undefined : owner.author
}

const emptyPage: Page<never> = {
  items: [],
  hasNextPage: () => false,
  hasPreviousPage: () => false,
}

/** The range of a window's page plus one item, which shows whether more items follow. */
export const rangeOf = (window: Window): Range => ({
  olderThan: window.after,
  newerThan: window.before,
  oldestFirst: window.backward,
  limit: window.limit + 1,
})

/**
 * Creates the page of a window from the items of {@link rangeOf}. The extra item shows whether
 * items follow in the direction of the walk. The other direction is read only if requested, and
 * only if a cursor bounds the page.
 * @param any whether a range has an item.
 */
export function pageFrom<Item>(
  window: Window,
  inRange: readonly Item[],
  any: (range: Range) => Promise<boolean>,
): Page<Item> {
  const items = inRange.slice(0, window.limit)
  const more = inRange.length > window.limit
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

/**
 * A function that calls `read` once and always returns its first result. Aliases of a list share
 * one page.
 */
function keepFirst<T>(read: () => NonNullable<T>): () => NonNullable<T> {
  let first: NonNullable<T> | undefined
  return () => {
    first ??= read()
    return first
  }
}

/** A read of ranges that reads each range once, for the pages of all owners together. */
function shareRanges<Found>(
  read: (range: Range) => Promise<Found>,
): (range: Range) => Promise<Found> {
  const begun = new Map<string, Promise<Found>>()
  return (range) => {
    const key = JSON.stringify(range)
    const found = begun.get(key) ?? read(range)
    begun.set(key, found)
    return found
  }
}

/** The page of a smaller window with the same bounds and direction. Reads nothing. */
export function narrowPage<Item>(page: Page<Item>, { limit, backward }: Window): Page<Item> {
  const { length } = page.items
  if (length <= limit) return page
  return backward
    ? { ...page, items: page.items.slice(length - limit), hasPreviousPage: () => true }
    : { ...page, items: page.items.slice(0, limit), hasNextPage: () => true }
}

/** The order of a list that is completely in memory. A place stays after its item is gone. */
export interface Order<Item, Place> {
  readonly placeOf: (item: Item) => Place
  /** Negative if the first place precedes the second, zero if they are equal. */
  readonly compare: (one: Place, other: Place) => number
}

/**
 * The page of a list that is completely in memory, and from which rules have dropped what they
 * hide. Reads nothing.
 */
export function cutPage<Item, Place>(
  items: readonly Item[],
  { placeOf, compare }: Order<Item, Place>,
  { limit, backward, after, before }: Window<Place>,
): Page<Item> {
  const isPast = (item: Item) => after === undefined || compare(placeOf(item), after) > 0
  const isUpTo = (item: Item) => before === undefined || compare(placeOf(item), before) < 0
  const within = items.filter((item) => isPast(item) && isUpTo(item))
  const isCut = within.length > limit
  return {
    items: backward ? within.slice(Math.max(0, within.length - limit)) : within.slice(0, limit),
    hasNextPage: () => (!backward && isCut) || items.some((item) => !isUpTo(item)),
    hasPreviousPage: () => (backward && isCut) || items.some((item) => !isPast(item)),
  }
}

/** Compares texts by their bytes, as MongoDB sorts ids. */
export const compareTexts = (one: string, other: string): number =>
  one < other ? -1 : Number(one > other)

import { createHash } from 'node:crypto'
import { neighbour, type TimeId } from '../../lib/ids.ts'
import type { Window } from '../../lib/page.ts'

/** Number of posts above the watermark that a cursor lists. */
export const recentMax = 100
/** Number of posts that a cursor covers. With more, it is outdated. */
export const coveredMax = 200

/** What a poller holds of a timeline: all its items above `floor`, each by its place. */
export interface PollCursor {
  /** The poller holds posts above this id only. */
  readonly floor: TimeId
  /** The low watermark: every post that is new to the timeline will be above it. */
  readonly watermark: TimeId
  /** The number of held posts between floor and watermark. */
  readonly settled: number
  /** The {@link digestOf} these posts, 16 hex digits. */
  readonly digest: string
  /** The held posts above the watermark, newest first, at most {@link recentMax}. */
  readonly recent: readonly TimeId[]
  /**
   * The newest post of a page that more posts follow, if it is above the watermark. The next page
   * begins there.
   */
  readonly next?: TimeId | undefined
  /** Whether the poller holds a post that the timeline lost, or more posts than a cursor covers. */
  readonly outdated: boolean
}

/** A page that a poller adds to the posts it holds. */
export interface HeldPage {
  /** The places of its items, newest first. */
  readonly posts: readonly TimeId[]
  /** Read before the page. */
  readonly watermark: TimeId
  /** Whether newer posts follow the page. */
  readonly isCut: boolean
}

/** The cursor of a poller that holds no post. */
export const startingAt = (floor: TimeId): PollCursor => ({
  floor,
  watermark: floor,
  settled: 0,
  digest: digestOf([]),
  recent: [],
  outdated: false,
})

/** The position above which a poller reads its next page. */
export const positionOf = ({ next, watermark }: PollCursor): TimeId => next ?? watermark

/**
 * The cursor of a poller after a page of its timeline.
 * @param base the cursor before which the page was read; a place in the list; or undefined for a
 *   page of the whole list.
 * @returns undefined for a page after a cursor, because newer posts are not on it.
 */
export function cursorAfterPage(
  window: Window,
  base: PollCursor | TimeId | undefined,
  page: HeldPage,
): PollCursor | undefined {
  if (window.after !== undefined) return undefined
  const known = typeof base === 'object' ? base : startingAt(base ?? lowest)
  if (window.backward || !page.isCut) return addPage(known, page)
  // Older posts follow below the page, so the poller holds nothing below it.
  const oldest = page.posts.at(-1)
  const floor = oldest === undefined ? page.watermark : neighbour(oldest, -1)
  return addPage(startingAt(floor), { ...page, isCut: false })
}

/** Adds the page that follows the position of a cursor. */
export function addPage(cursor: PollCursor, { posts, watermark, isCut }: HeldPage): PollCursor {
  const position = positionOf(cursor)
  const newest = posts[0]
  if (newest === undefined && isCut) return cursor
  const end = isCut && newest ? newest : highest
  const shown = new Set(posts)
  const isLost = cursor.recent.some((id) => id > position && id <= end && !shown.has(id))
  const before = cursor.recent.filter((id) => !shown.has(id))
  // Posts below the position may have been added since they were read, so a walk keeps the
  // watermark of its first page.
  const mark = cursor.next === undefined ? lowestOf(watermark, end) : cursor.watermark
  return settle(
    {
      ...cursor,
      recent: sortNewestFirst([...posts, ...before]),
      next: isCut && newest ? newest : undefined,
      outdated: cursor.outdated || isLost,
    },
    mark,
  )
}

/**
 * Raises the watermark of a cursor, and counts the posts that are below it then. Never lowers it.
 */
export function settle(cursor: PollCursor, mark: TimeId): PollCursor {
  const watermark = mark > cursor.watermark ? mark : cursor.watermark
  const below = cursor.recent.filter((id) => id <= watermark)
  const recent = cursor.recent.filter((id) => id > watermark)
  const settled = cursor.settled + below.length
  const next = cursor.next !== undefined && cursor.next > watermark ? cursor.next : undefined
  return {
    floor: cursor.floor,
    watermark,
    settled: Math.min(settled, coveredMax),
    digest: digestOf(below, cursor.digest),
    recent: recent.slice(0, recentMax),
    next,
    outdated: cursor.outdated || recent.length > recentMax || settled + recent.length > coveredMax,
  }
}

/**
 * Whether posts above the floor, in any order, are exactly those that the poller held, apart from
 * posts above the watermark.
 */
export function isAsHeld(cursor: PollCursor, shown: readonly TimeId[]): boolean {
  const all = new Set(shown)
  const settled = shown.filter((id) => id <= cursor.watermark)
  return (
    !cursor.outdated &&
    cursor.recent.every((id) => all.has(id)) &&
    settled.length === cursor.settled &&
    digestOf(settled) === cursor.digest
  )
}

/**
 * A digest of a set of posts that does not depend on their order: the sum of their hashes, 16 hex
 * digits.
 * @param added the digest of further posts, which are added.
 */
export function digestOf(posts: readonly TimeId[], added = '0'): string {
  const sum = posts.reduce(
    (total, id) => total + createHash('sha256').update(id).digest().readBigUInt64BE(),
    BigInt(`0x${added}`),
  )
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
}

const lowest = '0'.repeat(24) as TimeId
const highest = 'f'.repeat(24) as TimeId
const lowestOf = (one: TimeId, other: TimeId) => (one < other ? one : other)
const sortNewestFirst = (ids: readonly TimeId[]) => [...ids].sort().reverse()

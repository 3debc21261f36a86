import { describe, expect, test } from 'vitest'
import { neighbour, type PostId } from '../../src/lib/ids.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import {
  addPage,
  coveredMax,
  cursorAfterPage,
  digestOf,
  isAsHeld,
  type PollCursor,
  positionOf,
  recentMax,
  settle,
  startingAt,
} from '../../src/timeline/pages/poll-cursor.ts'

const id = (n: number) => n.toString(16).padStart(24, '0') as PostId
/** The ids from `last` down to `first`. */
const ids = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => id(last - at))
const first = { limit: 3, backward: false }
const last = { limit: 3, backward: true }
const whole = (posts: readonly PostId[], watermark: PostId) =>
  cursorAfterPage(first, undefined, { posts, watermark, isCut: false }) as PollCursor

describe('a first page', () => {
  test('a cursor covers the posts down to the oldest post of a full page', () => {
    const page = { posts: ids(7, 9), watermark: id(8), isCut: true }
    const cursor = cursorAfterPage(first, undefined, page)
    expect(cursor).toMatchObject({ floor: id(6), watermark: id(8), settled: 2, recent: [id(9)] })
  })

  test('a cursor covers the whole timeline if the page does, also an empty timeline', () => {
    expect(whole(ids(7, 9), id(8))).toMatchObject({ floor: id(0), settled: 2 })
    expect(whole([], id(8))).toMatchObject({ floor: id(0), watermark: id(8), settled: 0 })
  })

  test('a watermark below the page does not lower the floor', () => {
    const page = { posts: ids(7, 9), watermark: id(3), isCut: true }
    const cursor = cursorAfterPage(first, undefined, page)
    expect(cursor).toMatchObject({ floor: id(6), watermark: id(6), recent: ids(7, 9) })
  })

  test('a page of no post begins at the watermark', () => {
    const page = { posts: [], watermark: id(8), isCut: true }
    const cursor = cursorAfterPage({ limit: 0, backward: false }, undefined, page)
    expect(cursor).toEqual(startingAt(id(8)))
  })

  test('a page after a cursor has no poll cursor', () => {
    const page = { posts: ids(1, 3), watermark: id(8), isCut: false }
    expect(cursorAfterPage({ ...first, after: id(4) }, undefined, page)).toBeUndefined()
  })
})

describe('pages of new posts', () => {
  test('a page that holds the recent posts and new posts raises the watermark', () => {
    const base = whole(ids(5, 9), id(7))
    const page = { posts: ids(8, 12), watermark: id(10), isCut: false }
    const cursor = cursorAfterPage({ ...last, before: positionOf(base) }, base, page)
    expect(cursor).toEqual({ ...whole(ids(5, 12), id(10)), next: undefined })
  })

  test('a walk of cut pages goes on behind each page, and keeps the watermark of the first page', () => {
    const base = whole(ids(5, 9), id(7))
    const one = addPage(base, { posts: ids(8, 10), watermark: id(8), isCut: true })
    expect(one).toMatchObject({ watermark: id(8), recent: ids(9, 10), next: id(10) })
    expect(positionOf(one)).toBe(id(10))
    const two = addPage(one, { posts: ids(11, 12), watermark: id(12), isCut: false })
    expect(two).toEqual({ ...whole(ids(5, 12), id(8)), next: undefined })
    expect(positionOf(two)).toBe(id(8))
  })

  test('a cut page below the watermark raises the watermark to its end', () => {
    const one = addPage(whole(ids(5, 6), id(6)), {
      posts: ids(7, 9),
      watermark: id(20),
      isCut: true,
    })
    expect(one).toMatchObject({ watermark: id(9), recent: [], next: undefined, settled: 5 })
  })

  test('a recent post that is missing on the page makes the cursor outdated', () => {
    const base = whole(ids(5, 9), id(7))
    const page = { posts: [id(10), id(9)], watermark: id(7), isCut: false }
    expect(addPage(base, page).outdated).toBe(true)
    // The page ends below the missing post.
    expect(addPage(base, { posts: [id(8)], watermark: id(7), isCut: true }).outdated).toBe(false)
  })

  test('the watermark never falls', () => {
    const base = whole(ids(5, 9), id(7))
    expect(addPage(base, { posts: ids(8, 9), watermark: id(2), isCut: false }).watermark).toBe(
      id(7),
    )
    expect(settle(base, id(2)).watermark).toBe(id(7))
  })

  test('a cursor of too many posts is outdated', () => {
    const full = whole(ids(1, coveredMax), id(coveredMax))
    expect(full.outdated).toBe(false)
    const one = { posts: [id(coveredMax + 1)], watermark: id(coveredMax), isCut: false }
    expect(addPage(full, one).outdated).toBe(true)
    expect(whole(ids(1, recentMax), id(0)).outdated).toBe(false)
    const many = whole(ids(1, recentMax + 1), id(0))
    expect([many.outdated, many.recent.length]).toEqual([true, recentMax])
  })
})

describe('the comparison', () => {
  const cursor = whole(ids(5, 9), id(7))

  test.each([
    ['the same posts', ids(5, 9), true],
    ['new posts above the watermark', ids(5, 12), true],
    ['a settled post is gone', ids(5, 9).filter((one) => one !== id(6)), false],
    ['a recent post is gone', ids(5, 8), false],
    ['a post appeared below the watermark', ids(4, 9), false],
    ['a settled post replaced another', [...ids(6, 9), id(4)], false],
  ])('%s', (_, shown, expected) => {
    expect(isAsHeld(cursor, shown)).toBe(expected)
  })

  test('a digest depends on the set of posts and not on their order', () => {
    expect(digestOf(ids(1, 5))).toBe(digestOf(ids(1, 5).reverse()))
    expect(digestOf(ids(4, 5), digestOf(ids(1, 3)))).toBe(digestOf(ids(1, 5)))
    expect(digestOf([id(1), id(4)])).not.toBe(digestOf([id(2), id(3)]))
  })
})

describe('the text of a cursor', () => {
  test.each([
    ['an empty cursor', startingAt(id(3))],
    [
      'a walk',
      addPage(whole(ids(5, 9), id(7)), { posts: ids(8, 10), watermark: id(8), isCut: true }),
    ],
    ['the longest cursor', { ...whole(ids(1, recentMax), id(0)), next: id(1) }],
    ['an outdated cursor', { ...startingAt(id(3)), outdated: true }],
  ])('encodes and decodes: %s', (_, cursor) => {
    expect(pollCursors.decode(pollCursors.encode(cursor))).toEqual({ next: undefined, ...cursor })
  })

  const parts = [id(3), id(4), '0', '0'.repeat(16), '', '', ''] as const
  const forged = (at: number, part: string) =>
    encodeOpaque('Poll', ...parts.map((one, n) => (n === at ? part : one)))

  test.each([
    ['nothing', ''],
    ['an ordinary cursor', encodeOpaque('Cursor', id(3))],
    ['another tag', encodeOpaque('Pool', ...parts)],
    ['a missing part', encodeOpaque('Poll', ...parts.slice(1))],
    ['a floor that is no id', forged(0, 'x')],
    ['a watermark that is no id', forged(1, '')],
    ['a number beyond the bound', forged(2, String(coveredMax + 1))],
    ['a number that is none', forged(2, 'NaN')],
    ['a digest that is none', forged(3, 'g'.repeat(16))],
    ['a next place that is no id', forged(4, 'x')],
    ['too many ids', forged(6, Buffer.alloc(12 * (recentMax + 1)).toString('base64url'))],
    ['a part of an id', forged(6, Buffer.alloc(13).toString('base64url'))],
  ])('refuses %s', (_, text) => {
    expect(pollCursors.decode(text)).toBeUndefined()
    expect(() => pollCursors.parse('since', text)).toThrow('since')
  })

  test('a forged cursor with the extreme ids is compared, not an error', () => {
    const forgedCursor = { ...startingAt('f'.repeat(24) as PostId), recent: [id(0)] }
    const page = { posts: [id(1)], watermark: id(1), isCut: true }
    expect(addPage(forgedCursor, page).watermark).toBe('f'.repeat(24))
    expect(neighbour(forgedCursor.floor, 1)).toBe(forgedCursor.floor)
  })
})

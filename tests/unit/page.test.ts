import { describe, expect, test } from 'vitest'
import { type PostId, timeIdAt } from '../../src/lib/ids.ts'
import { emptyPage, fillPage, pageFrom, type Range, rangeOf } from '../../src/lib/page.ts'

const id = (n: number) => timeIdAt<PostId>(n * 1000, '0'.repeat(12))
const never = () => Promise.reject(new Error('nobody asked'))

/** Candidates 1 to `count`, and the sizes that were asked for. */
function source(count: number) {
  const rounds: number[] = []
  const next = async (last = 0, limit: number) => {
    rounds.push(limit)
    return Array.from({ length: Math.min(limit, count - last) }, (_, n) => last + n + 1)
  }
  return { rounds, next }
}

describe('fillPage', () => {
  test('fillPage reads one round if the filter drops nothing', async () => {
    const { rounds, next } = source(100)
    expect(await fillPage(3, next, async (all) => all)).toEqual([1, 2, 3])
    expect(rounds).toEqual([3])
  })

  test('fillPage reads on past dropped candidates, in rounds that double up to the maximum', async () => {
    const { rounds, next } = source(1000)
    const late = async (all: readonly number[]) => all.filter((n) => n > 60)
    expect(await fillPage(2, next, late, 16)).toEqual([61, 62])
    expect(rounds).toEqual([2, 4, 8, 16, 16, 16])
  })

  test('fillPage returns a short page when the candidates end', async () => {
    const { rounds, next } = source(5)
    expect(await fillPage(4, next, async (all) => all.filter((n) => n % 2 === 0))).toEqual([2, 4])
    expect(rounds).toEqual([4, 8])
  })

  test('fillPage reads nothing for a limit of 0', async () => {
    const { rounds, next } = source(5)
    expect(await fillPage(0, next, async (all) => all)).toEqual([])
    expect(rounds).toEqual([])
  })

  test('fillPage continues after a full round of dropped candidates', async () => {
    const { next } = source(3)
    expect(await fillPage(1, next, async (all) => all.filter((n) => n === 3))).toEqual([3])
  })
})

describe('page', () => {
  test('a page knows from its extra item whether more items follow, without a command', async () => {
    const window = { limit: 2, backward: false }
    const page = pageFrom(window, [3, 2, 1], never)
    expect(page.items).toEqual([3, 2])
    expect(await page.hasNextPage()).toBe(true)
    expect(await page.hasPreviousPage()).toBe(false)
    expect(await pageFrom(window, [3, 2], never).hasNextPage()).toBe(false)
  })

  test('a backward page is sorted newest first', async () => {
    const page = pageFrom({ limit: 2, backward: true }, [1, 2, 3], never)
    expect(page.items).toEqual([2, 1])
    expect(await page.hasPreviousPage()).toBe(true)
    expect(await page.hasNextPage()).toBe(false)
  })

  test('a page reads the side of its cursor, including the item at the cursor', async () => {
    const probes: Range[] = []
    const any = async (range: Range) => probes.push(range) > 0
    const after = pageFrom({ limit: 2, backward: false, after: id(5) }, [4], any)
    expect(await after.hasPreviousPage()).toBe(true)
    const before = pageFrom({ limit: 2, backward: true, before: id(5) }, [6], any)
    expect(await before.hasNextPage()).toBe(true)
    const [newer, older] = probes
    expect(newer?.newerThan && newer.newerThan < id(5)).toBe(true)
    expect(older?.olderThan && older.olderThan > id(5)).toBe(true)
    expect([newer?.limit, older?.limit]).toEqual([1, 1])
  })

  test('a page reads one item more than it returns', () => {
    const window = { limit: 20, backward: true, after: id(1), before: id(9) }
    const bounds = { olderThan: id(1), newerThan: id(9) }
    expect(rangeOf(window)).toEqual({ ...bounds, oldestFirst: true, limit: 21 })
  })

  test('an empty page has no next and no previous page', () => {
    const page = emptyPage()
    expect([page.items, page.hasNextPage(), page.hasPreviousPage()]).toEqual([[], false, false])
  })
})

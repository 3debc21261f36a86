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
  test('takes one round when nothing is dropped', async () => {
    const { rounds, next } = source(100)
    expect(await fillPage(3, next, async (all) => all)).toEqual([1, 2, 3])
    expect(rounds).toEqual([3])
  })

  test('goes on past what is dropped, in rounds that double up to the maximum', async () => {
    const { rounds, next } = source(1000)
    const late = async (all: readonly number[]) => all.filter((n) => n > 60)
    expect(await fillPage(2, next, late, 16)).toEqual([61, 62])
    expect(rounds).toEqual([2, 4, 8, 16, 16, 16])
  })

  test('ends with what there is when the candidates end', async () => {
    const { rounds, next } = source(5)
    expect(await fillPage(4, next, async (all) => all.filter((n) => n % 2 === 0))).toEqual([2, 4])
    expect(rounds).toEqual([4, 8])
  })

  test('asks for nothing when nothing is wanted', async () => {
    const { rounds, next } = source(5)
    expect(await fillPage(0, next, async (all) => all)).toEqual([])
    expect(rounds).toEqual([])
  })

  test('a round that is full and dropped whole is not the end', async () => {
    const { next } = source(3)
    expect(await fillPage(1, next, async (all) => all.filter((n) => n === 3))).toEqual([3])
  })
})

describe('page', () => {
  test('knows its far side from the extra item, without a command', async () => {
    const window = { limit: 2, backward: false }
    const page = pageFrom(window, [3, 2, 1], never)
    expect(page.items).toEqual([3, 2])
    expect(await page.hasNextPage()).toBe(true)
    expect(await page.hasPreviousPage()).toBe(false)
    expect(await pageFrom(window, [3, 2], never).hasNextPage()).toBe(false)
  })

  test('that runs backwards is newest first still', async () => {
    const page = pageFrom({ limit: 2, backward: true }, [1, 2, 3], never)
    expect(page.items).toEqual([2, 1])
    expect(await page.hasPreviousPage()).toBe(true)
    expect(await page.hasNextPage()).toBe(false)
  })

  test('probes the side it came from, its cursor counted in', async () => {
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

  test('reads one item more than it shows', () => {
    const window = { limit: 20, backward: true, after: id(1), before: id(9) }
    const bounds = { olderThan: id(1), newerThan: id(9) }
    expect(rangeOf(window)).toEqual({ ...bounds, oldestFirst: true, limit: 21 })
  })

  test('of a list known to be empty has nothing on any side', () => {
    const page = emptyPage()
    expect([page.items, page.hasNextPage(), page.hasPreviousPage()]).toEqual([[], false, false])
  })
})

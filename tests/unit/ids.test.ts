import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  clockSkewMaxMs,
  IdMint,
  mintUserId,
  neighbour,
  type PostId,
  parseHandle,
  parseTimeId,
  parseUserId,
  timeIdAt,
  timeOf,
} from '../../src/lib/ids.ts'

const tail = '0000deadbeef'
const fixed = (bytes: number) => Buffer.alloc(bytes, 0xab)

describe('mint', () => {
  test('minted ids rise while the clock stands still or steps back', () => {
    const times = [1000, 1000, 999, 5, 1001, 1000]
    const mint = new IdMint(() => times.shift() ?? 0)
    const ids = Array.from({ length: 6 }, () => mint.next())
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(6)
    expect(ids.map((id) => timeOf(id).getTime())).toEqual([1000, 1000, 1000, 1000, 1001, 1001])
  })

  test('the mint uses the next millisecond after 65,536 ids, and ids keep rising', () => {
    let now = 1000
    const mint = new IdMint(() => now, fixed)
    let last = mint.next()
    for (let n = 1; n < 65_536; n++) {
      const id = mint.next()
      if (id <= last) expect.unreachable(`${id} after ${last}`)
      last = id
    }
    expect(timeOf(last).getTime()).toBe(1000)
    const borrowed = mint.next()
    expect(timeOf(borrowed).getTime()).toBe(1001)
    now = 1001
    expect(mint.next() > borrowed).toBe(true)
  })

  test('the mint is never ahead of its clock by more than the bound, and recovers at once after a correction', () => {
    const steps = fc.array(
      fc.oneof(
        fc.integer({ min: 0, max: 50 }),
        fc.constantFrom(-100, -1_000, -2_000, 2_000, -3_600_000, 3_600_000),
      ),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        let now = 1_000_000_000_000
        const mint = new IdMint(() => now)
        const seen = new Set<string>()
        let last: string | undefined
        let lastNow = now
        for (const step of all) {
          now += step
          const id = mint.next()
          const ahead = timeOf(id).getTime() - now
          expect(ahead).toBeGreaterThanOrEqual(0)
          expect(ahead).toBeLessThanOrEqual(clockSkewMaxMs)
          expect(seen.has(id)).toBe(false)
          if (last && now >= lastNow) expect(id > last).toBe(true)
          seen.add(id)
          last = id
          lastNow = now
        }
      }),
    )
  })

  test('ids minted above another id are distinct and above it, and affect no later id', () => {
    const others = fc.record({
      ms: fc.integer({ min: -7_200_000, max: 7_200_000 }),
      tail: fc.constantFrom('000000000000', '0001ffffffff', 'ffffffffffff', 'fffe00000000'),
    })
    fc.assert(
      fc.property(fc.array(others, { minLength: 1, maxLength: 20 }), (all) => {
        const now = 1_000_000_000_000
        const mint = new IdMint(() => now)
        for (const { ms, tail: end } of all) {
          const above = timeIdAt<PostId>(now + ms, end)
          const ids = [mint.next(above), mint.next(above), mint.next(above)]
          for (const id of ids) expect(id > above).toBe(true)
          expect(new Set(ids).size).toBe(3)
          expect(timeOf(mint.next()).getTime()).toBe(now)
        }
      }),
    )
  })

  test('ids of two processes at the same instant differ', () => {
    const at = () => 1000
    expect(new IdMint(at).next()).not.toBe(new IdMint(at).next())
  })
})

describe('time', () => {
  test.each([0, 999, 1000, 1_732_000_000_123, 4_294_967_295_999])(
    '%i is read back from an id',
    (ms) => {
      const id = timeIdAt<PostId>(ms, tail)
      expect(id).toMatch(/^[0-9a-f]{24}$/)
      expect(timeOf(id).getTime()).toBe(ms)
    },
  )

  test('later ids sort after earlier ids, also across a second', () => {
    const ids = [0, 1, 999, 1000, 1001, 1e12].map((ms) => timeIdAt(ms, tail))
    expect([...ids].sort()).toEqual(ids)
  })
})

describe('neighbour', () => {
  const id = (text: string) => text as PostId

  test('neighbour adds or subtracts one, with carry', () => {
    expect(neighbour(id('0000000000000000000000ff'), 1)).toBe('000000000000000000000100')
    expect(neighbour(id('000000000000000000000100'), -1)).toBe('0000000000000000000000ff')
  })

  test('the lowest and the highest id have neighbours that are ids', () => {
    expect(neighbour(id('0'.repeat(24)), -1)).toBe('0'.repeat(24))
    expect(neighbour(id('f'.repeat(24)), 1)).toBe('f'.repeat(24))
  })
})

describe('parsing', () => {
  test.each(['a', 'ann', 'a.b-c_d', '0', 'a'.repeat(64)])('%s is a handle', (text) => {
    expect([parseHandle(text), parseUserId(text)]).toEqual([text, text])
  })

  test.each(['', '.a', 'a.', '-', 'a b', '$ne', 'a\n', 'é', 'a'.repeat(65)])(
    '%j is no handle, and no id of an account',
    (text) => {
      expect([parseHandle(text), parseUserId(text)]).toEqual([undefined, undefined])
    },
  )

  test('an id is exactly 24 lower-case hex digits', () => {
    const id = 'abcdef0123456789abcdef01'
    expect(parseTimeId(id)).toBe(id)
    for (const bad of [id.toUpperCase(), id.slice(1), `${id}0`, `${id}\n`, '']) {
      expect(parseTimeId(bad)).toBeUndefined()
    }
  })
})

test('a minted id is no handle, and each character of it takes all of its values', () => {
  const ids = Array.from({ length: 5_000 }, () => mintUserId())
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) {
    expect(id).toMatch(/^[A-Z][A-Za-z0-9]{10}$/)
    expect([parseUserId(id), parseHandle(id)]).toEqual([id, undefined])
  }
  for (let at = 0; at < 10; at++)
    expect(new Set(ids.map((id) => id[at])).size).toBe(at === 0 ? 26 : 62)
  // The highest random number has no more characters.
  expect(mintUserId(() => Buffer.alloc(8, 0xff))).toMatch(/^[A-Z][A-Za-z0-9]{10}$/)
})

import { expect, test } from 'vitest'
import type { StrategyDoc } from '../../src/db/collections.ts'
import { lowestId, toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import { cutAtFloor, hasRisen } from '../../src/timeline/strategies/floor.ts'

const id = (n: number) => n.toString(16).padStart(24, '0') as PostId
const registration = (floor?: number): StrategyDoc => ({
  ...{ _id: 'INBOX', epoch: lowestId, covered: '', complete: true, options: {} },
  ...(floor === undefined ? {} : { floor: toObjectId(id(floor)) }),
})
const entries = [5, 4, 3, 2].map((n) => ({ id: id(n) }))
const newest = { oldestFirst: false, limit: 4 }

test('a page ends at the floor, and FANOUT_ON_READ continues unless the range ends above the floor', () => {
  const cut = cutAtFloor(entries, newest, registration(4))
  expect(cut).toEqual({ entries: entries.slice(0, 2), complete: false })
  const above = { ...newest, newerThan: id(3) }
  expect(cutAtFloor(entries.slice(0, 2), above, registration(4)).complete).toBe(true)
  const across = { ...newest, newerThan: id(2) }
  expect(cutAtFloor(entries.slice(0, 3), across, registration(4)).complete).toBe(false)
  const oldest = { ...across, oldestFirst: true }
  const none = { entries: [], complete: false }
  expect(cutAtFloor(entries.toReversed(), oldest, registration(4))).toEqual(none)
})

test('without a floor, stored entries are the whole range', () => {
  expect(cutAtFloor(entries, newest, registration())).toEqual({ entries, complete: true })
})

test('only a higher floor than before may have removed entries', () => {
  expect(hasRisen(registration(), registration())).toBe(false)
  expect(hasRisen(registration(), registration(1))).toBe(true)
  expect(hasRisen(registration(1), registration(2))).toBe(true)
  expect(hasRisen(registration(2), registration(2))).toBe(false)
  expect(hasRisen(registration(2), registration(1))).toBe(false)
})

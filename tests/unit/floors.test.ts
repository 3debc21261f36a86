import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { cutAtFloor, floorAmong, nothingStored } from '../../src/feed/strategies/retention.ts'
import type { PostId } from '../../src/lib/ids.ts'

const id = (n: number) => n.toString(16).padStart(24, '0') as PostId
const state = (token: number, floor?: number) => ({
  token: toObjectId(id(token)),
  ...(floor === undefined ? {} : { floor: toObjectId(id(floor)) }),
})
const entries = [5, 4, 3, 2].map((n) => ({ id: id(n) }))
const newest = { oldestFirst: false, limit: 4 }

test('a page uses the highest floor, because a back-fill that lowered it may have stored entries after the read', () => {
  expect(floorAmong([state(1, 9), state(1, 2)])).toBe(id(9))
  expect(floorAmong([state(1, 2), state(1)])).toBe(id(2))
  expect(floorAmong([state(1), state(1)])).toBeUndefined()
  expect(floorAmong([])).toBeUndefined()
})

test('a page uses no entries if a trim or a back-fill began while it read them', () => {
  expect(floorAmong([state(1, 2), state(2, 2)])).toBe(nothingStored)
  expect(floorAmong([undefined, state(2, 2)])).toBe(nothingStored)
  expect(floorAmong([state(1), undefined])).toBe(nothingStored)
  const cut = cutAtFloor(entries, newest, nothingStored)
  expect(cut).toEqual({ entries: [], complete: false })
})

test('a page ends at the floor, and FANOUT_ON_READ continues unless the range ends above the floor', () => {
  const cut = cutAtFloor(entries, newest, id(4))
  expect(cut).toEqual({ entries: entries.slice(0, 2), complete: false })
  const above = { ...newest, newerThan: id(3) }
  expect(cutAtFloor(entries.slice(0, 2), above, id(4)).complete).toBe(true)
  const across = { ...newest, newerThan: id(2) }
  expect(cutAtFloor(entries.slice(0, 3), across, id(4)).complete).toBe(false)
  const oldest = { ...across, oldestFirst: true }
  expect(cutAtFloor(entries.toReversed(), oldest, id(4))).toEqual({ entries: [], complete: false })
})

import { setTimeout as sleep } from 'node:timers/promises'
import type { Document, MongoClient } from 'mongodb'
import { afterEach, expect, test, vi } from 'vitest'
import { clockSkewMaxMs, DatabaseClock } from '../../src/db/clock.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()
const hourMs = 3_600_000
const wall = Date.now.bind(Date)
afterEach(() => {
  vi.restoreAllMocks()
})

/** A server whose clock and speed can be set: the commands go to the real one. */
function adjustable(client: MongoClient) {
  const setting = { aheadMs: 0, delayMs: 0 }
  const command = async (asked: Document) => {
    const answer = await client.db('admin').command(asked)
    await sleep(setting.delayMs)
    return { ...answer, localTime: new Date(answer.localTime.getTime() + setting.aheadMs) }
  }
  return { setting, client: { db: () => ({ command }) } as unknown as MongoClient }
}

/**
 * What a measurement may be wrong by: half of the longest round trip that counts, in milliseconds.
 */
const errorMsMax = 500

/** Compares a clock with that of the database, whose answer may take as long as it likes. */
async function expectRight(clock: DatabaseClock, aheadMs = 0): Promise<void> {
  const before = clock.now()
  const { localTime } = await database.client.db('admin').command({ hello: 1 })
  const after = clock.now()
  expect(localTime.getTime() + aheadMs).toBeGreaterThanOrEqual(before - errorMsMax)
  expect(localTime.getTime() + aheadMs).toBeLessThanOrEqual(after + errorMsMax)
}

test('the database clock is right on a host whose wall clock is wrong or steps', async () => {
  const warnings: string[] = []
  const host = vi.spyOn(Date, 'now').mockImplementation(() => wall() + hourMs)
  using clock = await DatabaseClock.start(database.client, (line) => warnings.push(line))
  await expectRight(clock)
  expect(clock.skewSeconds()).toBeCloseTo(3600, 0)
  expect(warnings).toEqual([
    'The clock of this host is 3600.0 s ahead of the clock of the database. Feedline uses the clock of the database. Check the time synchronisation of this host.',
  ])
  host.mockImplementation(() => wall() - hourMs)
  await expectRight(clock)
  expect(clock.skewSeconds()).toBeCloseTo(-3600, 0)
})

test('the database clock reports a wrong host clock once each time it passes the bound', async () => {
  const warnings: string[] = []
  using clock = await DatabaseClock.start(database.client, (line) => warnings.push(line))
  const host = vi.spyOn(Date, 'now')
  for (const aheadMs of [-2_000, -2_000, 0, 2_000]) {
    host.mockImplementation(() => wall() + aheadMs)
    await clock.adjust()
  }
  expect(warnings.map((line) => /behind|ahead/.exec(line)?.[0])).toEqual(['behind', 'ahead'])
})

test('the database clock follows a step of the database at the next measurement, and reports it', async () => {
  const warnings: string[] = []
  const { setting, client } = adjustable(database.client)
  using clock = await DatabaseClock.start(client, (line) => warnings.push(line))
  for (const aheadMs of [hourMs, 0, -2 * clockSkewMaxMs]) {
    setting.aheadMs = aheadMs
    await clock.adjust()
    await expectRight(clock, aheadMs)
  }
  const moves = warnings.flatMap((line) => /moved by (\S+) s/.exec(line)?.[1] ?? [])
  expect(moves.map(Number).map(Math.round)).toEqual([3600, -3600, -2])
})

test('the database clock ignores a measurement that takes too long', async () => {
  const { setting, client } = adjustable(database.client)
  using clock = await DatabaseClock.start(client, () => {})
  Object.assign(setting, { aheadMs: hourMs, delayMs: 1_100 })
  await clock.adjust()
  await expectRight(clock)
})

test('the database clock does not start on a database that does not report its time, with an error of one sentence', async () => {
  const broken = { db: () => ({ command: async () => ({ ok: 1 }) }) } as unknown as MongoClient
  await expect(DatabaseClock.start(broken, () => {})).rejects.toThrow(
    'The clock of the database cannot be read: the server did not report its time.',
  )
})

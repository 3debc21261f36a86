import { beforeEach, expect, test } from 'vitest'
import { type PeriodicJob, PeriodicJobs } from '../../src/jobs/periodic.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { useServices } from '../support/services.ts'

const harness = useServices()
const hourMs = 3_600_000
let isNeeded = true
const jobs: readonly PeriodicJob[] = [
  { kind: 'test.hourly', everyMs: hourMs, isNeeded: async () => isNeeded },
  { kind: 'test.daily', everyMs: 24 * hourMs, isNeeded: async () => true },
]
/** What a process of the database has. */
const createProcess = () => new PeriodicJobs(harness.services, jobs)
const queued = async () => {
  const docs = await harness.services.collections.outbox.find({ kind: /^test/ }).toArray()
  return docs.map(({ kind }) => kind).sort()
}

beforeEach(async () => {
  const { meta, outbox } = harness.services.collections
  await Promise.all([meta.deleteMany({ _id: /^test/ }), outbox.deleteMany({ kind: /^test/ })])
  isNeeded = true
})

test('a periodic job is queued once in each period, by processes that begin at the same time', async () => {
  const processes = Array.from({ length: 4 }, createProcess)
  const queueAll = () => Promise.all(processes.map((one) => one.queueDue()))
  await queueAll()
  expect(await queued()).toEqual(['test.daily', 'test.hourly'])
  harness.clock.advance(hourMs / 2)
  await queueAll()
  expect(await queued()).toHaveLength(2)
  harness.clock.advance(hourMs / 2)
  await queueAll()
  await queueAll()
  expect(await queued()).toEqual(['test.daily', 'test.hourly', 'test.hourly'])
})

test('a periodic job without work is not queued, and begins its period when it has some', async () => {
  isNeeded = false
  await createProcess().queueDue()
  expect(await queued()).toEqual(['test.daily'])
  isNeeded = true
  await createProcess().queueDue()
  expect(await queued()).toEqual(['test.daily', 'test.hourly'])
})

test('a check of periodic jobs that are not due costs one command each', async () => {
  const periodic = createProcess()
  await periodic.queueDue()
  const { commands } = await recorded(harness.database.client, () => periodic.queueDue())
  expect(labelsOf(commands)).toEqual(['read meta', 'read meta'])
})

test('after a clock that was wrong, a periodic job goes on', async () => {
  const { meta } = harness.services.collections
  const value = `${harness.clock.now() + 40 * 24 * hourMs}`
  await meta.insertOne({ _id: 'test.hourly', value })
  await createProcess().queueDue()
  expect(await queued()).toEqual(['test.daily', 'test.hourly'])
})

test('a periodic job that fails keeps no other from its turn', async () => {
  const failing: PeriodicJob = {
    kind: 'test.failing',
    everyMs: hourMs,
    isNeeded: () => Promise.reject(new Error('cannot say')),
  }
  const periodic = new PeriodicJobs(harness.services, [failing, ...jobs])
  await expect(periodic.queueDue()).rejects.toThrow('cannot say')
  expect(await queued()).toEqual(['test.daily', 'test.hourly'])
})

import { expect, test } from 'vitest'
import { DriftWatch } from '../../src/integrity/watch.ts'
import { drift } from '../../src/metrics/drift.ts'
import { registry } from '../../src/metrics/registry.ts'
import { recordingLog } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'

const harness = useServices()
const people = Array.from({ length: 6 }, (_, n) => handle(`w${n}`))

test('a sample logs drift and repairs it', async () => {
  const { services } = harness
  for (const one of [services.collections.users, services.collections.user_stats]) {
    await (one as { deleteMany(filter: object): Promise<unknown> }).deleteMany({})
  }
  await openAccounts(services, people)
  await services.collections.user_stats.updateOne({ _id: 'w3' }, { $inc: { followers: 5 } })
  for (const counter of Object.values(drift)) counter.reset()
  const { lines, log } = recordingLog()
  const watch = new DriftWatch(services, { sharePerHour: 1 }, log)
  await watch.sample(100)
  expect(lines).toMatchObject([
    { msg: 'counters have drifted', drifted: 1, largest: [{ id: 'w3', delta: { followers: -5 } }] },
  ])
  const text = await registry.metrics()
  expect(text).toMatch(/^feedline_drift_checked_total 6$/m)
  expect(text).toMatch(/^feedline_drift_off_total 1$/m)
  expect(text).toMatch(/^feedline_drift_repaired_total 1$/m)
  expect(await problemsOf(harness, 'w')).toEqual([])

  lines.length = 0
  await watch.sample(100)
  expect(lines).toEqual([])
  expect(await registry.metrics()).toMatch(/^feedline_drift_checked_total 12$/m)
  await watch.stop()
})

test('a share of 0 disables the drift samples', async () => {
  const { log } = recordingLog()
  const watch = new DriftWatch(harness.services, { sharePerHour: 0 }, log)
  const { commands } = await recorded(harness.database.client, async () => {
    watch.start()
    await watch.stop()
  })
  expect(commands).toEqual([])
})

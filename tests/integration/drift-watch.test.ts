import { expect, test } from 'vitest'
import { Metrics } from '../../src/integrity/metrics.ts'
import { DriftWatch } from '../../src/integrity/watch.ts'
import { recordingLog } from '../support/jobs.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'

const harness = useServices()
const people = Array.from({ length: 6 }, (_, n) => handle(`w${n}`))

test.each([false, true])('a sample logs drift, and repairs it: %s', async (repair) => {
  const { services } = harness
  for (const one of [services.collections.users, services.collections.user_stats]) {
    await (one as { deleteMany(filter: object): Promise<unknown> }).deleteMany({})
  }
  await openAccounts(services, people)
  await services.collections.user_stats.updateOne({ _id: 'w3' }, { $inc: { followers: 5 } })
  const metrics = new Metrics({ clockSkewSeconds: () => 0 })
  const { lines, log } = recordingLog()
  const watch = new DriftWatch(services, { sharePerHour: 1, repair }, log, metrics.sampled)
  await watch.sample(100)
  expect(lines).toMatchObject([
    { msg: 'counters have drifted', drifted: 1, largest: [{ id: 'w3', delta: { followers: -5 } }] },
  ])
  const text = await metrics.text()
  expect(text).toMatch(/^feedline_drift_checked_total 6$/m)
  expect(text).toMatch(/^feedline_drift_off_total 1$/m)
  expect(text).toMatch(repair ? /^feedline_drift_repaired_total 1$/m : /repaired_total 0$/m)
  expect((await problemsOf(harness, 'w')).length).toBe(repair ? 0 : 1)

  await services.collections.user_stats.updateOne({ _id: 'w3' }, { $set: { followers: 0 } })
  lines.length = 0
  await watch.sample(100)
  expect(lines).toEqual([])
  expect(await metrics.text()).toMatch(/^feedline_drift_checked_total 12$/m)
  await watch.stop()
})

test('a share of 0 disables the drift samples', async () => {
  const { log } = recordingLog()
  const watch = new DriftWatch(harness.services, { sharePerHour: 0, repair: true }, log, () => {
    throw new Error('it looked')
  })
  watch.start()
  await watch.stop()
})

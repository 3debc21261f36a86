import { beforeAll, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../support/command-line.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import { newId } from '../support/verify.ts'

const harness = useServices()
const people = Array.from({ length: 5 }, (_, n) => handle(`c${n}`))
beforeAll(() => openAccounts(harness.services, people))

beforeEach(async () => {
  const { user_stats } = harness.services.collections
  await user_stats.updateMany({}, { $set: { followers: 0 } })
  await user_stats.updateOne({ _id: 'c1' }, { $set: { followers: 10_324 } })
  await user_stats.updateOne({ _id: 'c4' }, { $set: { followers: 2 } })
})

const run = (command: string, ...args: string[]) =>
  runCommand([command, ...args], {
    MONGODB_URI: harness.database.uri,
    MONGODB_DATABASE: harness.database.name,
  })

const lastOf = (stdout: string) => JSON.parse(stdout.trim().split('\n').at(-1) ?? '')

test('verify prints what reconcile would repair, and changes nothing', async () => {
  const { stdout, code } = await run('verify')
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'L3 followers  c1: expected 0; found 10324',
    'L3 followers  c4: expected 0; found 2',
  ])
  expect(stdout).toContain('\n2 differences, 0 in flight.\n')
  expect((await run('verify', '--json')).code).toBe(1)
})

test('reconcile repairs drifted counters, verify agrees, and a repeat finds nothing', async () => {
  const { stdout, code } = await run('reconcile', '--json')
  expect(code).toBe(0)
  expect(lastOf(stdout)).toMatchObject({
    ...{ differences: 2, repaired: 2, remaining: 0, seconds: expect.any(Number) },
    checked: { users: 5, posts: 0, edges: 0 },
    sample: [
      { subject: 'c1', expected: 0, found: 10_324, repaired: true },
      { subject: 'c4', expected: 0, found: 2, repaired: true },
    ],
  })
  const verified = await run('verify', '--json')
  expect(verified.code).toBe(0)
  expect(lastOf(verified.stdout)).toMatchObject({ differences: 0, repaired: 0 })
  const again = await run('reconcile', '--json')
  expect(lastOf(again.stdout)).toMatchObject({ differences: 0, sample: [] })
})

test('reconcile reports a history that contradicts both collections, and exits with 2', async () => {
  const { user_stats, follow_events } = harness.services.collections
  await user_stats.updateMany({}, { $set: { followers: 0 } })
  await follow_events.insertOne({
    ...{ _id: newId(), user: 'c1', followee: 'c2', type: 'FOLLOWED', source: 'FEEDLINE' },
    at: new Date(),
  })
  const { stdout, code } = await run('reconcile', '--json')
  await follow_events.deleteMany({})
  expect(code).toBe(2)
  expect(lastOf(stdout)).toMatchObject({
    ...{ differences: 1, repaired: 0, remaining: 0, unrepairable: 1 },
    sample: [{ law: 'L3', invariant: 'edges', kind: 'history', subject: 'c1>c2' }],
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../support/command-line.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import { newId } from '../support/verify.ts'

const harness = useServices()
const people = Array.from({ length: 5 }, (_, n) => handle(`c${n}`))
let folder: string
let users: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-reconcile-'))
  users = join(folder, 'users.txt')
  await writeFile(users, 'c1\n\nc2\n')
  await openAccounts(harness.services, people)
})
afterAll(() => rm(folder, { recursive: true }))

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

test('reconcile --dry-run prints the differences and their reasons, largest first, and changes nothing', async () => {
  const { stdout, code } = await run('reconcile', '--dry-run')
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'c1  followers 10324 − 10324  (edges and history agree: only the counter was wrong)',
    'c4  followers 2 − 2  (edges and history agree: only the counter was wrong)',
  ])
  expect(stdout).toContain('Wrong counters: 2 users or posts, 0 repaired')
  expect((await run('verify', '--json')).code).toBe(1)
})

test('reconcile repairs drifted counters, verify agrees, and a repeat finds nothing', async () => {
  const { stdout, code } = await run('reconcile', '--json', '--rate', '100000')
  expect(code).toBe(0)
  expect(lastOf(stdout)).toMatchObject({
    ...{ dryRun: false, drifted: 2, repaired: 2, remaining: 0, seconds: expect.any(Number) },
    checked: { users: 5, posts: 0, documents: expect.any(Number) },
    largest: [
      { id: 'c1', delta: { followers: -10_324 } },
      { id: 'c4', delta: { followers: -2 } },
    ],
  })
  const verified = await run('verify', '--json')
  expect(verified.code).toBe(0)
  expect(lastOf(verified.stdout)).toMatchObject({ drifted: 0, repaired: 0 })
  expect(lastOf((await run('reconcile', '--json')).stdout)).toMatchObject({
    drifted: 0,
    largest: [],
  })
})

test('reconcile --users repairs the users of a file only, and refuses a file with an invalid handle', async () => {
  expect(lastOf((await run('reconcile', '--users', users, '--json')).stdout)).toMatchObject({
    ...{ drifted: 1, repaired: 1, checked: { users: 2 } },
  })
  const wrong = join(folder, 'wrong.txt')
  await writeFile(wrong, 'c4\n$where\n')
  const { stderr, code } = await run('reconcile', '--users', wrong)
  expect(code).toBe(1)
  expect(stderr).toContain('wrong.txt: line 2 is not a handle')
  const { user_stats } = harness.services.collections
  expect(await user_stats.findOne({ _id: 'c4' })).toMatchObject({ followers: 2 })
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
    ...{ drifted: 0, edges: 0, others: 0, remaining: 0, reported: 1 },
    unrepairable: [{ law: 'L3', invariant: 'edge-history', kind: 'history', subject: 'c1>c2' }],
  })
})

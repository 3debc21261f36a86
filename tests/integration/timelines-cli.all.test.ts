import { beforeAll, expect, test } from 'vitest'
import { runCommand } from '../support/command-line.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, {
  maintained: ['FANOUT_ON_READ', 'INBOX', 'CACHE', 'TIME_BUCKETS'],
})
const [reader, author] = [handle('reader'), handle('author')]

const run = (...args: string[]) =>
  runCommand(['timelines', ...args], {
    MONGODB_URI: harness.database.uri,
    MONGODB_DATABASE: harness.database.name,
  })

beforeAll(async () => {
  await openAccounts(harness.services, [reader, author])
  await harness.services.follows.follow(reader, author)
  await harness.services.posts.create(author, { text: 'x' })
  await harness.rest()
})

test('feedline timelines lists the strategies that the database maintains', async () => {
  const { stdout, code } = await run('--json')
  const { strategies } = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(
    strategies.map(({ strategy, state }: Record<string, string>) => [strategy, state]),
  ).toEqual([
    ['TIME_BUCKETS', 'COMPLETE'],
    ['CACHE', 'COMPLETE'],
    ['INBOX', 'COMPLETE'],
  ])
  expect((await run()).stdout).toMatch(/^INBOX {9}complete$/m)
})

test('feedline timelines rebuild queues a back-fill that any worker runs', async () => {
  const { inbox, outbox } = harness.services.collections
  await inbox.deleteMany({})
  expect((await run('rebuild', 'INBOX')).code).toBe(0)
  expect((await run()).stdout).toMatch(/^INBOX {9}backfilling, 0 of about 2 readers$/m)
  expect(await outbox.countDocuments({ kind: 'strategy.backfill' })).toBe(1)
  await harness.rest()
  expect(await inbox.countDocuments()).toBe(2)
  expect((await run()).stdout).toMatch(/^INBOX {9}complete$/m)
})

test('feedline timelines drop deletes a strategy with its stored timelines', async () => {
  expect(await run('drop', 'TIME_BUCKETS')).toMatchObject({
    code: 0,
    stdout: 'TIME_BUCKETS is dropped.\n',
  })
  expect(await harness.services.collections.timed_buckets.countDocuments()).toBe(0)
  expect(await harness.services.collections.inbox.countDocuments()).toBe(2)
  expect((await run()).stdout).not.toContain('TIME_BUCKETS')
})

test('feedline timelines reports why a command is refused', async () => {
  const not = {
    code: 1,
    stderr: expect.stringContaining('SIZED_BUCKETS is not maintained in this database'),
  }
  expect(await run('drop', 'SIZED_BUCKETS')).toMatchObject(not)
  expect(await run('rebuild', 'SIZED_BUCKETS')).toMatchObject(not)
  expect((await run('drop', 'SOMETHING')).code).toBe(1)
})

import { ObjectId } from 'mongodb'
import { beforeAll, expect, test } from 'vitest'
import { type CompactionOptions, compactHistory } from '../../src/follows/compact-history.ts'
import { runCommand } from '../support/command-line.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const harness = useServices()
const [ann, ben, cat] = [handle('ann'), handle('ben'), handle('cat')]
const { signal } = new AbortController()

const run = (...args: string[]) =>
  runCommand(['history', 'compact', ...args], {
    MONGODB_URI: harness.database.uri,
    MONGODB_DATABASE: harness.database.name,
  })

const typesOf = async (user: string, followee: string) => {
  const { follow_events } = harness.services.collections
  const found = await follow_events.find({ user, followee }).sort({ _id: 1 }).toArray()
  return found.map(({ type }) => type)
}

const compact = (options: Partial<CompactionOptions> = {}) => {
  const { collections, transactions } = harness.services
  return compactHistory(collections, transactions, { dryRun: false, signal, ...options })
}

beforeAll(async () => {
  const { follows } = harness.services
  await openAccounts(harness.services, [ann, ben, cat])
  for (let n = 0; n < 3; n++) {
    await follows.follow(ann, ben)
    await follows.unfollow(ann, ben)
    await follows.follow(ben, ann)
    if (n < 2) await follows.unfollow(ben, ann)
  }
  await follows.follow(cat, ann)
  await harness.rest()
})

test('feedline history compact --dry-run counts the events, and removes none', async () => {
  const { code, stdout } = await run('--dry-run', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ dryRun: true, pairs: 3, events: 12, removed: 8, disordered: 0, upTo: 'cat' },
  })
  expect(await harness.services.collections.follow_events.countDocuments()).toBe(12)
})

test('a compaction that fails at its removal leaves whole histories, and a repeat continues it', async () => {
  const failure = { failCommands: ['delete'], errorCode: 2 }
  await using _failpoint = await failCommand(harness.database.client, failure)
  await expect(compact()).rejects.toThrow('Failing command')
  expect(await problemsOf(harness, '')).toEqual([])
})

test('feedline history compact keeps the last follow of a pair and the unfollow after it', async () => {
  expect((await run('--after', 'ann')).stdout).toContain('4 events are removed')
  expect(await typesOf(ann, ben)).toHaveLength(6)
  expect((await run()).stdout).toBe('3 pairs have 8 events. 4 events are removed.\n')
  expect(await typesOf(ann, ben)).toEqual(['FOLLOWED', 'UNFOLLOWED'])
  expect(await typesOf(ben, ann)).toEqual(['FOLLOWED'])
  expect(await typesOf(cat, ann)).toEqual(['FOLLOWED'])
  expect(await problemsOf(harness, '')).toEqual([])
  expect((await verified(harness.services)).differences).toEqual([])
})

test('a compacted database costs one command, and a pair out of order keeps its events', async () => {
  const { client } = harness.database
  const { commands } = await recorded(client, () => compact())
  expect(commands.map(({ name }) => name)).toEqual(['find'])
  const { follow_events } = harness.services.collections
  const [one] = await follow_events.find({ user: ann }).toArray()
  await follow_events.deleteOne({ _id: one?._id as never })
  expect(await compact()).toMatchObject({ removed: 0, disordered: 1 })
  expect(await typesOf(ann, ben)).toEqual(['UNFOLLOWED'])
})

test('progress names a follower only after all pairs of the follower', async () => {
  const { follow_events } = harness.services.collections
  const zed = handle('zed')
  const events = [ann, ben].flatMap((followee, pair) =>
    Array.from({ length: 503 }, (_, n) => ({
      ...{ _id: ObjectId.createFromTime(pair * 1_000 + n + 1), user: zed, followee },
      ...{ type: n % 2 ? ('UNFOLLOWED' as const) : ('FOLLOWED' as const), source: 'API' as const },
    })),
  )
  await follow_events.insertMany(events as never[])
  const reached: string[] = []
  expect(
    await compact({ after: 'cat', onProgress: ({ upTo }) => reached.push(upTo) }),
  ).toMatchObject({
    ...{ pairs: 2, removed: 1_004, upTo: 'zed' },
  })
  expect(reached).toEqual(['cat', 'cat', 'zed'])
})

import { afterEach, beforeAll, expect, test } from 'vitest'
import { timelineCollectionNames } from '../../src/db/collections.ts'
import { materialisedNames } from '../../src/feed/strategies/list.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts } from '../support/services.ts'

const separate = useSeparateTimelines({
  maintained: ['FANOUT_ON_READ', ...materialisedNames],
  cacheSize: 4,
  hybridThreshold: 2,
})
let scenes = 0
// Its checks would be counted.
beforeAll(() => separate.services.clusterRepair.stop())

async function pair() {
  const { services } = separate
  const [reader, author] = ['reader', 'author'].map((name) => handle(`${name}${scenes++}`))
  await openAccounts(services, [reader, author] as UserId[])
  await services.follows.follow(reader as UserId, author as UserId)
  await separate.rest()
  return { reader: reader as UserId, author: author as UserId }
}

const page = (reader: UserId, strategy: (typeof materialisedNames)[number]) =>
  separate.services.feed.timeline(reader, {
    window: { limit: 10, backward: false },
    projection: 'ref',
    strategy,
    pending: true,
  })

afterEach(() => separate.rest())

test('timelines are stored on their own cluster, and the database holds none', async () => {
  const { reader, author } = await pair()
  const { id } = await separate.services.posts.create(author, { text: 'hello' })
  await separate.rest()
  for (const strategy of materialisedNames) {
    const found = await page(reader, strategy)
    expect(
      found.items.map((item) => item.id),
      strategy,
    ).toEqual([id])
    expect(found.servedBy).toBe(strategy)
  }
  const { db } = separate.database
  for (const name of timelineCollectionNames)
    expect(await db.collection(name).countDocuments(), name).toBe(0)
  expect(await separate.services.collections.inbox.countDocuments()).toBeGreaterThan(0)
})

/** The commands that the cluster ran for Feedline during `work`, as `operation collection`, sorted. */
async function profiled(work: () => Promise<unknown>): Promise<string[]> {
  const { db } = separate.cluster
  await db.command({ profile: 2, slowms: 0 })
  try {
    await work()
  } finally {
    await db.command({ profile: 0 })
  }
  const found = await db
    .collection('system.profile')
    .find({ appName: 'feedline', ns: { $not: /system\.profile|\$cmd/ } })
    .toArray()
  await db.dropCollection('system.profile')
  return found.map(({ op, ns }) => `${op} ${String(ns).split('.').at(-1)}`).sort()
}

test('a page costs the commands of before in the database, and two on the cluster', async () => {
  const { reader, author } = await pair()
  await separate.services.posts.create(author, { text: 'hello' })
  await separate.rest()
  await page(reader, 'INBOX')
  const { client } = separate.database
  let commands: readonly RecordedCommand[] = []
  const onCluster = await profiled(async () => {
    commands = (await recorded(client, () => page(reader, 'INBOX'))).commands
  })
  expect(labelsOf(commands)).toEqual([
    'read following, restrictions, user_stats, posts, registration_copies',
    'read outbox, outbox, following, restrictions, user_stats',
  ])
  expect(onCluster).toEqual(['query inbox', 'query timeline_marks'])
})

/** Runs the task of the only waiting job of a kind. */
async function runJob(kind: string): Promise<unknown> {
  const { tasks, collections } = separate.services
  const job = await collections.outbox.findOne({ kind })
  return tasks[kind]?.(job?.payload ?? {}, joblessRun())
}

test('the jobs of a follow and of an unfollow take one and two more commands on the cluster, for the guard of the reader', async () => {
  const { follows, posts } = separate.services
  const { reader, author } = await pair()
  await posts.create(author, { text: 'hello' })
  await separate.rest()
  const guards = (labels: readonly string[]) =>
    labels.filter((label) => label.endsWith(' timeline_marks'))
  await follows.unfollow(reader, author)
  const removal = await profiled(() => runJob('follow.ended'))
  // All strategies are removed from in one transaction.
  expect(guards(removal)).toEqual(['query timeline_marks', 'update timeline_marks'])
  await separate.rest()
  await follows.follow(reader, author)
  const addition = await profiled(() => runJob('follow.created'))
  expect(guards(addition)).toEqual(['update timeline_marks'])
})

test('a post takes four commands in the database, and its job one insert into the inboxes on the cluster', async () => {
  const { author } = await pair()
  const { services, database } = separate
  const { commands } = await recorded(database.client, () =>
    services.posts.create(author, { text: 'hello' }),
  )
  expect(labelsOf(commands)).toEqual([
    ...['commitTransaction', 'findAndModify user_stats', 'insert posts', 'update outbox'],
  ])
  const onCluster = await profiled(() => runJob('post.created'))
  expect(onCluster.filter((label) => label.endsWith('inbox'))).toEqual(['insert inbox'])
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { materialisedNames } from '../../src/feed/strategies/list.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { openTimelines } from '../../src/open-timelines.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { patient } from '../support/patience.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts, servicesOver } from '../support/services.ts'

const feed = {
  maintained: ['FANOUT_ON_READ' as const, ...materialisedNames],
  cacheSize: 4,
  hybridThreshold: 2,
}
const separate = useSeparateTimelines(feed)
/** Longer than an election and the check that follows it. */
const recoveryMsMax = patient(60_000)

const page = (reader: UserId, strategy: (typeof materialisedNames)[number]) =>
  separate.services.feed.timeline(reader, {
    window: { limit: 50, backward: false },
    ...{ projection: 'ref', strategy, pending: true },
  })

let scenes = 0
/** A reader who follows an author, with delivered posts. */
async function followed() {
  const { services } = separate
  const [reader, author] = ['reader', 'author'].map((name) => handle(`${name}${scenes++}`)) as [
    UserId,
    UserId,
  ]
  await openAccounts(services, [reader, author])
  await services.follows.follow(reader, author)
  const posts: PostId[] = []
  const post = async () => {
    posts.unshift((await services.posts.create(author, { text: 'hello' })).id)
  }
  await post()
  await separate.rest()
  return { reader, author, post, posts }
}

/** Each page has all posts, or says that one is pending. */
async function checkPages(reader: UserId, posts: readonly PostId[]) {
  for (const strategy of materialisedNames) {
    const { items, pending } = await page(reader, strategy)
    const ids = items.map(({ id }) => id)
    if (!pending) expect(ids, strategy).toEqual(posts)
  }
}

const registration = async () => (await separate.services.registry.read()).get('INBOX') ?? {}

/** Waits until the cluster is used again. Pages are right all the time. */
async function recovered(reader: UserId, posts: readonly PostId[]) {
  const giveUpAt = performance.now() + recoveryMsMax
  for (;;) {
    await checkPages(reader, posts)
    if (separate.services.placement.isUsable(await registration())) {
      await separate.rest()
      if ((await page(reader, 'INBOX')).servedBy === 'INBOX') break
    }
    expect(performance.now()).toBeLessThan(giveUpAt)
    await sleep(100)
  }
  for (const strategy of materialisedNames) {
    const { items, pending, servedBy } = await page(reader, strategy)
    expect([strategy, items.map(({ id }) => id), pending, servedBy]).toEqual([
      ...[strategy, posts, false, strategy],
    ])
  }
}

const epochs = async () =>
  [...(await separate.services.registry.read()).values()].map(({ epoch }) => epoch.toHexString())

test('timelines of a killed and emptied cluster are built again, and no page lacks a post', async () => {
  const { reader, posts, post } = await followed()
  const { set, services } = separate
  await checkPages(reader, posts)
  await set.kill()
  await post()
  await checkPages(reader, posts)
  expect((await page(reader, 'INBOX')).servedBy).toBe('FANOUT_ON_READ')
  const job = await services.collections.outbox.findOne({ kind: 'post.created' })
  expect(job).toMatchObject({ state: 'READY' })
  const before = await epochs()
  await set.start('empty')
  await recovered(reader, posts)
  expect(await epochs()).not.toContain(before[0])
  const options = (
    await services.collections.inbox.aggregate([{ $collStats: { count: {} } }]).toArray()
  )[0]
  expect(options?.count).toBeGreaterThan(0)
})

test('a cluster that restarts with its data is used again without a rebuild', async () => {
  const { reader, posts, post } = await followed()
  const before = await epochs()
  await separate.set.kill()
  await post()
  await separate.set.start()
  await recovered(reader, posts)
  expect(await epochs()).toEqual(before)
})

test('the next page after the timelines were deleted by hand comes from FANOUT_ON_READ', async () => {
  const { reader, posts } = await followed()
  expect((await page(reader, 'INBOX')).servedBy).toBe('INBOX')
  await separate.cluster.db.dropDatabase()
  await checkPages(reader, posts)
  await recovered(reader, posts)
  const [inbox] = await separate.cluster.db.listCollections({ name: 'inbox' }).toArray()
  expect(inbox).toMatchObject({ options: { clusteredIndex: { unique: true } } })
})

test('a page waits for no cluster that does not answer', async () => {
  const { reader, posts } = await followed()
  separate.set.freeze()
  try {
    const { items, servedBy } = await page(reader, 'INBOX')
    expect(items.map(({ id }) => id)).toEqual(posts)
    expect(servedBy).toBe('FANOUT_ON_READ')
  } finally {
    separate.set.thaw()
  }
  await recovered(reader, posts)
})

const start = (timelinesUri: string | undefined) =>
  openTimelines(
    { database: { name: separate.database.name } as never, feed: { timelinesUri } },
    separate.database.db,
    { profile: 'serving', prepare: true },
  )

test.each([
  ['find', 11_600],
  ['listCollections', 91],
  ['createIndexes', 10_107],
])(
  'a process starts while the timelines cluster answers %s with error %i',
  async (command, errorCode) => {
    const opening = async () => {
      await using _ = await separate.set.fail({ failCommands: [command], errorCode })
      return await start(separate.set.uri)
    }
    await using cluster = await opening()
    const place = await separate.services.collections.meta.findOne({ _id: 'timelines' })
    expect(await cluster?.loadMark()).toMatchObject({ value: place?.value })
    // The repair creates what the start could not.
    expect(cluster?.lacksCollections).toBe(true)
    const { database, clock, engagement } = separate
    const services = servicesOver(database, clock, engagement, 'collection', feed, cluster)
    await services.clusterRepair.run()
    expect([cluster?.lacksCollections, services.placement.isAway]).toEqual([false, false])
  },
)

test('a process without TIMELINES_URI, or with w=1 beside a majority, does not start', async () => {
  const { database, set } = separate
  await expect(start(undefined)).rejects.toThrow(ConfigError)
  await expect(start(undefined)).rejects.toThrow(
    'TIMELINES_URI: this database stores its timelines',
  )
  await expect(start(`${set.uri}&w=1`)).rejects.toThrow('w=1 is not what the other processes use')
  await expect(start(database.uri)).rejects.toThrow('it names the deployment of MONGODB_URI')
})

test('a late removal of an unfollow leaves the posts of a new follow', async () => {
  const { services } = separate
  const { reader, author, posts } = await followed()
  await services.follows.unfollow(reader, author)
  const { outbox } = services.collections
  const ended = await outbox.findOne({ kind: 'follow.ended' })
  const run = joblessRun()
  const isEdge = services.follows.followeesAmong.bind(services.follows)
  let calls = 0
  // The edge is committed again after the removal has read that there is none.
  services.follows.followeesAmong = async (...given) => {
    const found = await isEdge(...given)
    if (calls++ === 0) {
      services.follows.followeesAmong = isEdge
      await services.follows.follow(reader, author)
      const created = await outbox.findOne({ kind: 'follow.created' })
      await services.tasks['follow.created']?.(created?.payload ?? {}, run)
    }
    return found
  }
  await services.tasks['follow.ended']?.(ended?.payload ?? {}, run)
  await separate.rest()
  for (const strategy of materialisedNames) {
    const { items } = await page(reader, strategy)
    expect(
      items.map(({ id }) => id),
      strategy,
    ).toEqual(posts)
  }
  expect(calls).toBe(1)
})

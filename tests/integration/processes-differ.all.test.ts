import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { sameLimits } from '../support/engagement.ts'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { type FeedlineProcess, feedline } from '../support/process.ts'
import { handle, openAccounts, servicesOver, testClock } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const database = useDatabase()
const running = new Set<FeedlineProcess>()
afterAll(() => {
  for (const { child } of running) child.kill('SIGKILL')
})

/**
 * Options that differ from those of the other processes, except the database's name and address.
 */
const settings = {
  first: {
    FEED_STRATEGY: 'CACHE',
    FEED_MAINTAINED: feedStrategyNames.join(),
    TIMELINE_ENTRIES: 'text',
    TIME_BUCKET_DAYS: '0.01',
    SIZED_BUCKET_SIZE: '7',
    CACHE_SIZE: '8',
    CACHE_AWAY_DAYS: '2',
    TIMELINE_DAYS_MAX: '0.00001',
    FANOUT_INLINE_MAX: '0',
    OVERFLOW_THRESHOLD: '2',
    LOG_LEVEL: 'info',
    REQUEST_TIMEOUT_SECONDS: '5',
    RATE_LIMIT_COST: '500000',
    RATE_LIMIT_MUTATIONS: '5000',
  },
  worker: {
    FEED_STRATEGY: 'SIZED_BUCKETS',
    FEED_MAINTAINED: '',
    TIMELINE_ENTRIES: 'id',
    TIME_BUCKET_DAYS: '30',
    SIZED_BUCKET_SIZE: '2',
    CACHE_SIZE: '3',
    CACHE_AWAY_DAYS: '0.01',
    TIMELINE_DAYS_MAX: '0',
    FANOUT_INLINE_MAX: '100',
    OVERFLOW_THRESHOLD: '50',
    LOG_LEVEL: 'debug',
    REQUEST_TIMEOUT_SECONDS: '6',
    RATE_LIMIT_COST: '600000',
    RATE_LIMIT_MUTATIONS: '6000',
  },
  second: {
    FEED_STRATEGY: 'INBOX',
    FEED_MAINTAINED: feedStrategyNames.join(),
    TIMELINE_ENTRIES: 'author',
    TIME_BUCKET_DAYS: '7',
    SIZED_BUCKET_SIZE: '11',
    CACHE_SIZE: '5',
    CACHE_AWAY_DAYS: '30',
    TIMELINE_DAYS_MAX: '9',
    FANOUT_INLINE_MAX: '1',
    OVERFLOW_THRESHOLD: '1',
    LOG_LEVEL: 'warn',
    REQUEST_TIMEOUT_SECONDS: '7',
    RATE_LIMIT_COST: '700000',
    RATE_LIMIT_MUTATIONS: '7000',
  },
} as const

function started(command: 'serve' | 'worker', env: Readonly<Record<string, string>>) {
  const { uri, name } = database
  const process = feedline([command], {
    ...env,
    MONGODB_URI: uri,
    MONGODB_DATABASE: name,
    PORT: '0',
  })
  running.add(process)
  return process
}

async function stopped(process: FeedlineProcess): Promise<void> {
  process.child.kill('SIGTERM')
  expect(await process.ended, process.err()).toBe(0)
  running.delete(process)
}

const [reader, fan, quiet] = [handle('reader'), handle('fan'), handle('quiet')]
const [famous, friend] = [handle('famous'), handle('friend')]
const everyone = [reader, fan, quiet, famous, friend]

test('a server, a worker and a second server with other options lose no post and duplicate none', async () => {
  const first = started('serve', settings.first)
  await first.says(/timeline strategy/)
  // A third process, with the defaults.
  const services = servicesOver(database, testClock(), sameLimits({ threshold: 3, capacity: 4 }))
  const { collections, follows, posts } = services
  await openAccounts(services, everyone)
  const followed = new Map<UserId, Set<UserId>>(everyone.map((one) => [one, new Set()]))
  const follow = async (one: UserId, other: UserId) => {
    await follows.follow(one, other)
    followed.get(one)?.add(other)
  }
  const unfollow = async (one: UserId, other: UserId) => {
    await follows.unfollow(one, other)
    followed.get(one)?.delete(other)
  }
  const written: PostRef[] = []
  const publish = async (author: UserId, times: number) => {
    for (let n = 0; n < times; n++) {
      written.unshift({ id: (await posts.create(author, { text: `${n}` })).id, author })
    }
  }
  const delivered = async () => {
    const giveUpAt = performance.now() + patient(60_000)
    for (;;) {
      const job = await collections.outbox.findOne({})
      if (!job) return
      if (performance.now() > giveUpAt) throw new Error(`left: ${JSON.stringify(job)}`)
      await sleep(20)
    }
  }

  for (const one of [reader, fan, quiet]) await follow(one, famous)
  await follow(reader, friend)
  await delivered()
  await stopped(first)

  // Only the worker delivers these posts. The readers' caches have the size of the first server.
  const maintaining = servicesOver(
    database,
    testClock(),
    sameLimits({ threshold: 1, capacity: 1 }),
    'collection',
    { maintained: feedStrategyNames, cacheSize: 9, timeBucketDays: 3 },
  )
  for (const one of everyone) await walked(maintaining, one, 'CACHE', false)
  const worker = started('worker', settings.worker)
  await publish(famous, 12)
  await publish(friend, 6)
  await delivered()
  await unfollow(quiet, famous)
  await follow(quiet, friend)
  await delivered()

  // The state of an older version: pages come from FANOUT_ON_READ, and no job changes this.
  const uncovered = { $set: { complete: false, covered: '' } }
  await collections.strategies.updateOne({ _id: 'SIZED_BUCKETS' }, uncovered)
  const second = started('serve', settings.second)
  await second.says(/CACHE_SIZE is 5 in this process, but the database stores 8 for CACHE/)
  await second.says(
    /SIZED_BUCKETS covers .* The back-fill job was missing. A new job is queued now/,
  )
  for (const name of ['TIME_BUCKET_DAYS', 'CACHE_SIZE']) expect(second.out()).toContain(name)
  await follow(quiet, famous)
  await publish(famous, 3)
  await publish(friend, 2)
  await delivered()
  await unfollow(fan, famous)
  await delivered()
  for (const [n, one] of everyone.entries()) {
    const { engagements } = n % 2 === 0 ? services : maintaining
    await engagements.add('likes', one, written[0] as PostRef)
  }

  for (const one of everyone) {
    const right = written
      .filter(({ author }) => author === one || followed.get(one)?.has(author))
      .map(({ id }) => id)
    for (const strategy of feedStrategyNames) {
      for (const backward of [false, true]) {
        const found = await walked(maintaining, one, strategy, backward)
        expect(found, `${strategy} of ${one}, backward ${backward}`).toEqual(right)
      }
    }
  }
  expect((await verified(maintaining)).differences).toEqual([])
  const registered = [...(await maintaining.registry.read()).values()]
  expect(registered.map(({ complete }) => complete)).toEqual(registered.map(() => true))
  await stopped(worker)
  await stopped(second)

  async function walked(
    { feed }: Services,
    of: UserId,
    strategy: FeedStrategyName,
    backward: boolean,
  ): Promise<PostId[]> {
    const all: PostId[] = []
    for (;;) {
      const cursor = backward ? { before: all[0] } : { after: all.at(-1) }
      const window = { limit: 7, backward, ...cursor }
      const { items } = await feed.timeline(of, { window, strategy, projection: 'ref' })
      const ids = items.map(({ post }) => post.id)
      if (backward) all.unshift(...ids)
      else all.push(...ids)
      if (ids.length < 7) return all
    }
  }
})

import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { neighbour, type PostId, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { sameLimits } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { failCommand } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import {
  handle,
  openAccounts,
  servicesOver,
  settleRegistrations,
  useServices,
} from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const readers = Array.from({ length: 250 }, (_, n) => handle(`r${String(n).padStart(3, '0')}`))
/** Every tenth reader. */
const sample = readers.filter((_, n) => n % 10 === 0)
const author = handle('author')

/** A page that a process with these services serves. */
async function page(services: Services, reader: UserId, strategy: FeedStrategyName) {
  const window = { limit: 20, backward: false }
  const found = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
  return { ids: found.items.map(({ post }) => post.id), servedBy: found.servedBy }
}

describe.each(share(2, ['TIME_BUCKETS', 'SIZED_BUCKETS', 'INBOX'] as const))('%s', (strategy) => {
  const harness = useServices()
  const maintained = ['FANOUT_ON_READ', strategy] as const
  /** Another process, which starts later with a configuration that maintains the strategy. */
  const later = () =>
    servicesOver(harness.database, harness.clock, engagement, 'collection', {
      strategy,
      maintained,
    })
  let posts: PostId[]
  const publish = async (by = author, from: Services = harness.services) => {
    posts.unshift((await from.posts.create(by, { text: 'x' })).id)
  }

  beforeAll(async () => {
    posts = []
    await openAccounts(harness.services, [author, ...readers])
    const { follows } = harness.services
    await Promise.all(readers.map((reader) => follows.follow(reader, author)))
    for (let n = 0; n < 3; n++) await publish()
    await harness.rest()
  })

  test('a new registration serves each reader as soon as the reader is back-filled', async () => {
    const services = later()
    await registerStrategies(services, maintained)
    const whole = async () => {
      // A process notices a newly covered reader on its next page, and an invalidation at once.
      await services.registry.read()
      const by = new Map<string, number>()
      for (const reader of sample) {
        const { ids, servedBy } = await page(services, reader, strategy)
        expect(ids).toEqual(posts)
        by.set(servedBy, (by.get(servedBy) ?? 0) + 1)
      }
      return Object.fromEntries(by)
    }
    expect(await whole()).toEqual({ FANOUT_ON_READ: 25 })
    await settleRegistrations(services.collections)
    const job = await services.collections.outbox.findOne({ kind: 'strategy.backfill' })
    const cut = joblessRun({ save: async () => Promise.reject(new Error('cut off')) })
    await expect(services.tasks['strategy.backfill']?.(job?.payload ?? {}, cut)).rejects.toThrow(
      'cut',
    )
    // The first 200 handles: the author's, and 199 readers'.
    expect(await whole()).toEqual({ [strategy]: 20, FANOUT_ON_READ: 5 })
    // The earlier process does not know the registration, and still enqueues deliveries.
    await publish()
    expect(await page(services, readers[240] as UserId, strategy)).toEqual({
      ids: posts,
      servedBy: 'FANOUT_ON_READ',
    })
    await harness.rest()
    expect(await whole()).toEqual({ [strategy]: 25 })
  })

  test('a repeated registration of a strategy changes nothing', async () => {
    const before = await harness.services.collections.strategies.find().toArray()
    await registerStrategies(later(), maintained)
    expect(await harness.services.collections.strategies.find().toArray()).toEqual(before)
    expect(await harness.services.collections.outbox.countDocuments()).toBe(0)
  })

  test('an invalidated strategy serves no reader in any process until the reader is back-filled again', async () => {
    const knowing = later()
    const [reader] = readers as [UserId]
    expect(await page(knowing, reader, strategy)).toEqual({ ids: posts, servedBy: strategy })
    const { registrations } = harness.services
    await registrations.runExclusive((tx) => registrations.invalidateChanged(tx, [reader], 60_000))
    // Written without the services, as an import does.
    posts.unshift(neighbour(posts[0] as PostId, 1))
    const _id = toObjectId(posts[0] as PostId)
    await harness.services.collections.posts.insertOne({ _id, author, text: 'imported' })
    expect(await page(knowing, reader, strategy)).toEqual({
      ids: posts,
      servedBy: 'FANOUT_ON_READ',
    })
    expect(await registrations.rebuild(strategy)).toBe(true)
    expect((await page(knowing, reader, strategy)).servedBy).toBe('FANOUT_ON_READ')
    await harness.rest()
    await knowing.registry.read()
    expect(await page(knowing, reader, strategy)).toEqual({ ids: posts, servedBy: strategy })
  })

  test('a dropped strategy serves no reader at once, its stored entries are removed, and it can be registered again', async () => {
    const knowing = later()
    const [reader] = readers as [UserId]
    expect((await page(knowing, reader, strategy)).servedBy).toBe(strategy)
    const { registry, registrations } = harness.services
    const cut = registrations.drop(strategy, AbortSignal.abort(new Error('cut off')))
    await expect(cut).rejects.toThrow('cut off')
    expect((await page(knowing, reader, strategy)).servedBy).toBe('FANOUT_ON_READ')
    await expect(registerStrategies(later(), maintained)).rejects.toThrow(/is being dropped/)
    expect(await registrations.drop(strategy)).toBe(true)
    expect(await registrations.drop(strategy)).toBe(false)
    expect((await registry.read()).size).toBe(0)
    await publish()
    await harness.rest()
    expect(await page(knowing, reader, strategy)).toEqual({
      ids: posts,
      servedBy: 'FANOUT_ON_READ',
    })
    await registerStrategies(knowing, maintained)
    await harness.rest()
    await knowing.registry.read()
    expect(await page(knowing, reader, strategy)).toEqual({ ids: posts, servedBy: strategy })
  })
})

describe('a database whose accounts take long to count', () => {
  const harness = useServices()

  test('a strategy is registered and back-filled though the count of accounts takes long', async () => {
    const { services, database } = harness
    await openAccounts(services, [author, ...readers.slice(0, 2)])
    await services.follows.follow(readers[0] as UserId, author)
    const { id } = await services.posts.create(author, { text: 'x' })
    await harness.rest()
    const slow = { failCommands: ['aggregate', 'count'], blockMs: 3_200 }
    const failpoint = await failCommand(database.client, slow)
    await registerStrategies(services, ['INBOX']).finally(() => failpoint[Symbol.asyncDispose]())
    await harness.rest()
    const registration = (await services.registry.read()).get('INBOX')
    expect(registration).toMatchObject({ complete: true, readers: { done: 3, total: 0 } })
    const process = servicesOver(database, harness.clock, engagement, 'collection', {
      maintained: ['INBOX'],
    })
    const shown = await page(process, readers[0] as UserId, 'INBOX')
    expect(shown).toEqual({ ids: [id], servedBy: 'INBOX' })
  })
})

describe('a strategy whose stored form depends on an option', () => {
  const harness = useServices('collection', undefined, {
    maintained: ['FANOUT_ON_READ', 'TIME_BUCKETS', 'CACHE', 'INBOX'],
    timeBucketDays: 1,
    cacheSize: 20,
  })

  test.each([
    ['TIME_BUCKETS', { timeBucketDays: 2 }, 'TIME_BUCKET_DAYS'],
    ['CACHE', { cacheSize: 10 }, 'CACHE_SIZE'],
  ] as const)(
    'a process with another option uses the value of the registration of %s, and warns about it',
    async (name, feed, variable) => {
      const maintained = ['FANOUT_ON_READ', name] as const
      const other = { timeBucketDays: 1, cacheSize: 20, ...feed, maintained }
      const services = servicesOver(
        harness.database,
        harness.clock,
        engagement,
        'collection',
        other,
      )
      const before = await services.collections.strategies.find().toArray()
      const warnings = await registerStrategies(services, maintained)
      expect(warnings).toEqual([expect.stringMatching(`^${variable} is `)])
      expect(await services.collections.strategies.find().toArray()).toEqual(before)
    },
  )
})

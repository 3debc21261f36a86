import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { sameLimits } from '../support/engagement.ts'
import { commitRegistrationsLast } from '../support/participants.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

/** Strategies that store timelines. */
const maintained = ['INBOX', 'CACHE'] as const
/** Ben follows Ann, who has a post. */
const [ann, ben] = [handle('ann'), handle('ben')]
const harness = useServices('collection', undefined, { maintained })
const limits = sameLimits({ threshold: 3, capacity: 2 })
const request = {
  window: { limit: 9, backward: false },
  projection: 'ref',
  strategy: 'INBOX',
} as const

beforeEach(async () => {
  const { services, database } = harness
  // As on a sharded cluster, nothing is kept.
  await services.memory.close()
  // On a router no election is seen, so no read waits for the first write of a primary.
  const shared = database.client.readConcern as { afterClusterTime?: unknown }
  shared.afterClusterTime = undefined
  const { meta: _, ...collections } = services.collections
  for (const one of Object.values(collections)) await one.deleteMany({})
  await openAccounts(services, [ann, ben])
  await services.follows.follow(ben, ann)
  await services.posts.create(ann, { text: 'hello' })
  await registerStrategies(services, maintained)
  await harness.rest()
  await services.registry.read()
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** More services over the database, like another process. */
const process = () =>
  servicesOver(harness.database, harness.clock, limits, 'collection', { maintained })

/** How many posts Ben's page shows, and which strategy serves it. */
async function page(services: Services) {
  const { items, servedBy } = await services.feed.timeline(ben, request)
  return { count: items.length, servedBy }
}

const entries = () => harness.services.collections.inbox.countDocuments()

describe('while the registrations of a transaction are not visible yet, as on a sharded cluster', () => {
  /** A drop of INBOX that is visible later. */
  const dropHalf = async (mutate: (services: Services) => unknown = () => {}) => {
    return commitRegistrationsLast(harness.database, async (services) => {
      await mutate(services)
      return services.registrations.drop('INBOX')
    })
  }

  test('a drop removes no entry, so pages of other processes have no gap', async () => {
    const services = process()
    expect(await page(services)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf()
    await sleep(150)
    expect(await entries()).toBe(2)
    expect(await page(services)).toEqual({ count: 1, servedBy: 'INBOX' })
    await half.complete()
    expect(await entries()).toBe(0)
    expect(await page(services)).toEqual({ count: 1, servedBy: 'FANOUT_ON_READ' })
  })

  test('a drop that does not read them before it removes leaves a gap, so the test above can fail', async () => {
    const services = process()
    expect(await page(services)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf(({ collections: { strategies } }) => {
      vi.spyOn(strategies, 'findOne').mockResolvedValue({} as never)
    })
    await expect.poll(entries).toBe(0)
    expect(await page(services)).toEqual({ count: 0, servedBy: 'INBOX' })
    await half.complete()
  })

  test('a back-fill waits for them', async () => {
    const { inbox } = harness.services.collections
    const half = await commitRegistrationsLast(harness.database, ({ registrations }) =>
      registrations.rebuild('INBOX'),
    )
    await inbox.deleteMany({})
    const rest = harness.rest()
    await sleep(250)
    expect(await entries()).toBe(0)
    await half.complete()
    await rest
    expect(await entries()).toBe(2)
  })

  test('a delivery waits for a registration that was committed before its post', async () => {
    const { services } = harness
    await services.registrations.drop('INBOX')
    const half = await commitRegistrationsLast(harness.database, ({ registrations }) =>
      registrations.register('INBOX', {}),
    )
    await services.collections.outbox.deleteMany({ kind: 'strategy.backfill' })
    const { id } = await services.posts.create(ann, { text: 'later' })
    const rest = harness.rest()
    await sleep(150)
    expect(await entries()).toBe(0)
    await half.complete()
    await rest
    const stored = await services.collections.inbox.find().toArray()
    expect(stored.map(({ _id }) => [_id.reader, _id.post.toHexString()])).toEqual([
      ['ann', id],
      ['ben', id],
    ])
  })
})

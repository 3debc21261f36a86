import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { Services } from '../../src/services.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { keepMemory } from '../support/memory.ts'
import { recorded } from '../support/mongo.ts'
import { drain, handle, namesOf, servicesOver, useServices } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const maintained = ['INBOX', 'CACHE'] as const
const harness = useServices('collection', engagement, { maintained: [...maintained] })
const readers = ['ann', 'bob', 'cleo'].map(handle) as [never, never, never]
const [ann, bob] = readers

/** The services of another process. */
const processOf = (strategy: (typeof maintained)[number]) =>
  servicesOver(harness.database, harness.clock, engagement, 'collection', {
    ...{ strategy, maintained: [...maintained] },
  })

const commandsOf = async (work: () => Promise<unknown>) =>
  labelsOf((await recorded(harness.database.client, work)).commands)

beforeAll(async () => {
  const { services } = harness
  for (const user of readers) await services.users.create(user, { ...namesOf(user), name: user })
  await services.follows.follow(ann, bob)
  await services.posts.create(bob, { text: 'first' })
  await drain(services)
})

test('a warm process reads no account for the first page of a reader', async () => {
  const accountsRead = async ({ feed }: Services) => {
    const window = { limit: 50, backward: false }
    const labels = await commandsOf(() => feed.timeline(ann, { window, projection: 'content' }))
    return labels.filter((label) => label === 'read users')
  }
  expect(await accountsRead(processOf('INBOX'))).toEqual(['read users'])
  // On a busy machine the log may be in doubt, and memory is not asked. A page warms what it reads,
  // so each try has a process of its own.
  const readByWarmProcess = async () => {
    const warm = processOf('INBOX')
    await keepMemory(warm)
    onTestFinished(() => warm.memory.close())
    await warm.feed.warmUp(await warm.stats.sample(10))
    return accountsRead(warm)
  }
  await expect.poll(readByWarmProcess).toEqual([])
})

test('a sample has some live accounts, each once', async () => {
  const { stats } = harness.services
  expect((await stats.sample(10)).sort()).toEqual(readers)
  expect(await stats.sample(2)).toHaveLength(2)
})

test('a warm-up creates no cache', async () => {
  const { feed, collections } = processOf('CACHE')
  expect(await commandsOf(() => feed.warmUp(readers))).toEqual([])
  expect(await collections.timeline_cache.countDocuments()).toBe(0)
})

test('a warm-up ends at a failure', async () => {
  const { feed } = processOf('INBOX')
  const read = vi.spyOn(feed, 'timeline').mockRejectedValue(new Error('the database is away'))
  await feed.warmUp(Array.from({ length: 64 }, () => ann))
  expect(read).toHaveBeenCalledTimes(8)
})

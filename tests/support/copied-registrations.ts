import { beforeEach } from 'vitest'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from './engagement.ts'
import {
  handle,
  openAccounts,
  type ServicesHarness,
  servicesOver,
  useServices,
} from './services.ts'

/** Three strategies that store timelines. */
const maintained = ['INBOX', 'HYBRID', 'CACHE'] as const
/** Ben follows Ann, who has a post. */
export const [ann, ben] = [handle('ann'), handle('ben')]

export const request = {
  window: { limit: 9, backward: false },
  projection: 'ref',
  strategy: 'INBOX',
} as const

/** How many posts a page of the inbox shows, and which strategy serves it. */
export async function page(services: Services, reader: UserId) {
  const found = await services.feed.timeline(reader, request)
  return { count: found.items.length, servedBy: found.servedBy }
}

/** A database with complete registrations and their copies before each test, and more processes over it. */
export interface CopiedRegistrations {
  readonly harness: ServicesHarness
  readonly process: () => Services
}

export function useCopiedRegistrations(): CopiedRegistrations {
  const harness = useServices('collection', undefined, { maintained })
  beforeEach(async () => {
    const { services, database } = harness
    // On a router no election is seen, so no read waits for the first write of a primary.
    const shared = database.client.readConcern as { afterClusterTime?: unknown }
    shared.afterClusterTime = undefined
    const { meta: _, ...collections } = services.collections
    for (const one of Object.values(collections) as { deleteMany(all: object): Promise<unknown> }[])
      await one.deleteMany({})
    await openAccounts(services, [ann, ben])
    await services.follows.follow(ben, ann)
    await services.posts.create(ann, { text: 'hello' })
    await registerStrategies(services, maintained)
    await harness.rest()
    await services.registry.read()
  })
  const process = () =>
    servicesOver(
      harness.database,
      harness.clock,
      sameLimits({ threshold: 3, capacity: 2 }),
      'collection',
      { maintained },
    )
  return { harness, process }
}

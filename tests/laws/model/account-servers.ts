import { LRUCache } from 'lru-cache'
import type { UserId } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/log.ts'
import type { Services } from '../../../src/services.ts'
import { type AnsweringProcess, answeringProcess } from '../../support/answering.ts'
import { sameLimits } from '../../support/engagement.ts'
import {
  type ServicesHarness,
  servicesOver,
  type TestClock,
  virtualClock,
} from '../../support/services.ts'

/** The strategies that the database maintains. */
export const accountStrategies = ['INBOX', 'CACHE'] as const
/** Two servers over a database, and the clock of both, also of what they remember of subjects. */
export interface AccountServers {
  readonly servers: readonly [AnsweringProcess, AnsweringProcess]
  readonly database: ServicesHarness['database']
  readonly clock: TestClock
  readonly close: () => Promise<void>
}

/** Opens two servers of different options. */
export async function accountServers(
  { database, following }: ServicesHarness,
  mutate: (services: Services) => void = () => {},
): Promise<AccountServers> {
  const clock = virtualClock()
  // The database expires documents by the real clock, which so stays behind.
  clock.advance(7 * 86_400_000)
  const maintained = accountStrategies
  const options = [
    { strategy: 'INBOX', maintained, entries: 'text', inlineMax: 200 },
    { strategy: 'CACHE', maintained, entries: 'id', inlineMax: 0, cacheSize: 3 },
  ] as const
  const servers = options.map(async (feed) => {
    const limits = sameLimits({ threshold: 3, capacity: 2 })
    const services = servicesOver(database, clock, limits, following, feed)
    if (feed.inlineMax > 0) services.inline.start(services.tasks, createLog('silent', 'json'))
    const remembering = services.subjects as unknown as { kept: LRUCache<string, UserId> }
    const { ttl } = remembering.kept
    remembering.kept = new LRUCache({ max: 1_000, ttl, ttlResolution: 0, perf: clock })
    mutate(services)
    return answeringProcess(services)
  })
  const [one, other] = await Promise.all(servers)
  if (!one || !other) throw new Error('there are two servers')
  const close = async () => void (await Promise.all([one.close(), other.close()]))
  return { servers: [one, other], database, clock, close }
}

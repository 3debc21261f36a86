import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import type { TimelinesCluster } from '../../src/db/timelines-cluster.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import { openTimelines } from '../../src/open-timelines.ts'
import type { ServiceConfig, Services } from '../../src/services.ts'
import { sameLimits } from './engagement.ts'
import { type TestDatabase, useDatabase } from './mongo.ts'
import { drain, servicesOver, type TestClock, testClock } from './services.ts'
import { type TimelinesSet, timelinesSet } from './timelines-set.ts'

/** The services over the test file's own database, with timelines on a replica set of their own. */
export interface SeparateTimelines {
  readonly database: TestDatabase
  readonly set: TimelinesSet
  readonly clock: TestClock
  readonly engagement: ServiceConfig['engagement']
  readonly services: Services
  /** More services, like another process. @param uri another TIMELINES_URI. */
  readonly process: (uri?: string) => Promise<Services>
  /** Runs every job to its end. */
  readonly rest: () => Promise<void>
  readonly cluster: TimelinesCluster
}

const engagement = sameLimits({ threshold: 3, capacity: 2 })

/**
 * Gives a test file services whose timelines have a replica set of their own.
 * @param query of its URI, for example `&w=1`.
 */
export function useSeparateTimelines(
  feed: Partial<ServiceConfig['feed']>,
  query = '',
): SeparateTimelines {
  const database = useDatabase()
  const clock = testClock()
  const closers: (() => PromiseLike<unknown>)[] = []
  let set: TimelinesSet | undefined
  let built: { readonly services: Services; readonly cluster: TimelinesCluster } | undefined

  async function open(uri = `${set?.uri}${query}`) {
    const config = { database: { name: database.name } as never, feed: { timelinesUri: uri } }
    const options = { profile: 'serving', prepare: true } as const
    const cluster = await openTimelines(config, database.db, options)
    if (!cluster) throw new Error('no cluster was opened')
    closers.push(() => cluster[Symbol.asyncDispose]())
    const services = servicesOver(database, clock, engagement, 'collection', feed, cluster)
    services.clusterRepair.start(pino({ level: 'silent' }))
    closers.push(() => services.clusterRepair.stop())
    await services.clusterRepair.settle()
    return { services, cluster }
  }

  beforeAll(async () => {
    const started = await timelinesSet()
    set = started
    closers.push(() => started[Symbol.asyncDispose]())
    built = await open()
    await registerStrategies(built.services, feed.maintained ?? [])
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })
  const current = () => {
    if (!built) throw new Error('the services are there from beforeAll on')
    return built
  }
  return {
    ...{ database, clock, engagement },
    get set() {
      if (!set) throw new Error('the set is there from beforeAll on')
      return set
    },
    get services() {
      return current().services
    },
    get cluster() {
      return current().cluster
    },
    process: async (uri) => (await open(uri)).services,
    rest: () => drain(current().services),
  }
}

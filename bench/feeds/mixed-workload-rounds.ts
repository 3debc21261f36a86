import type { ObjectId } from 'mongodb'
import type { BenchOptions } from '../options.ts'
import type { FeedsDatabase } from './feeds-database.ts'
import type { Graph } from './graph.ts'
import { findMaxThroughput, type MaxThroughput } from './mixed-workload.ts'
import {
  deletePostsSince,
  openFeedlineSystem,
  openSocialiteSystem,
} from './mixed-workload-systems.ts'
import { fillSocialiteCaches } from './socialite.ts'

/** The maximum throughput of each system in one round. */
export type MixedWorkloadResult = Readonly<
  Record<'Socialite CACHE' | 'CACHE' | 'INBOX', MaxThroughput>
>

/**
 * Measures the mixed workload on each system in turn. New posts of a system are deleted afterwards,
 * so all systems begin with the same posts.
 */
export async function measureMixedWorkload(
  database: FeedsDatabase,
  graph: Graph,
  since: ObjectId,
  options: BenchOptions,
): Promise<MixedWorkloadResult> {
  const { services, db } = database
  await fillSocialiteCaches(db, graph.users)
  const socialiteResult = await findMaxThroughput(
    'Socialite CACHE',
    openSocialiteSystem(database, graph),
    graph,
    options,
  )
  const measureFeedline = async (strategy: 'CACHE' | 'INBOX') => {
    await deletePostsSince(database, since)
    await using system = await openFeedlineSystem(database, strategy)
    // Fills the caches.
    if (strategy === 'CACHE') for (const user of graph.users) await system.readTimeline(user)
    return await findMaxThroughput(strategy, system, graph, options)
  }
  const result = {
    'Socialite CACHE': socialiteResult,
    CACHE: await measureFeedline('CACHE'),
    INBOX: await measureFeedline('INBOX'),
  }
  await deletePostsSince(database, since)
  await services.collections.timeline_cache.deleteMany({})
  return result
}

import type { ObjectId } from 'mongodb'
import type { BenchOptions } from '../options.ts'
import type { Graph } from './graph.ts'
import { type Knee, kneeOf } from './mix.ts'
import { forgetSince, ourMix, socialiteMix } from './mix-ways.ts'
import type { FeedsDatabase } from './ours.ts'
import { fillSocialite } from './socialite.ts'

/** What each way holds out, in one round. */
export type MixResult = Readonly<Record<'Socialite CACHE' | 'CACHE' | 'INBOX', Knee>>

/** The mix in each way in turn, on the same history: what one way posts is gone before the next begins. */
export async function measureMix(
  database: FeedsDatabase,
  graph: Graph,
  since: ObjectId,
  options: BenchOptions,
): Promise<MixResult> {
  const { services, db } = database
  await fillSocialite(db, graph.people)
  const theirs = await kneeOf('Socialite CACHE', socialiteMix(database, graph), graph, options)
  const ours = async (strategy: 'CACHE' | 'INBOX') => {
    await forgetSince(database, since)
    await using way = await ourMix(database, strategy)
    // The very first page comes from fan-out on read and makes no cache: it is what tells this process of the strategy.
    const [first, ...others] = graph.people
    if (first && strategy === 'CACHE') {
      for (const person of [first, first, ...others]) await way.home(person)
    }
    return await kneeOf(strategy, way, graph, options)
  }
  const result = {
    'Socialite CACHE': theirs,
    CACHE: await ours('CACHE'),
    INBOX: await ours('INBOX'),
  }
  await forgetSince(database, since)
  await services.collections.timeline_cache.deleteMany({})
  return result
}

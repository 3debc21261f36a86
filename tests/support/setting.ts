import { toObjectId } from '../../src/db/object-id.ts'
import { reactionsTo } from '../../src/events.ts'
import type { FeedStrategyName, MaterialisedName } from '../../src/feed/strategies/list.ts'
import { type EdgeId, type PostId, type PostRef, type TimeId, timeIdAt } from '../../src/lib/ids.ts'
import type { ServiceConfig, Services } from '../../src/services.ts'
import type { Plan } from './histories.ts'
import type { Cast, Model } from './model.ts'
import { handle, openAccounts, type ServicesHarness } from './services.ts'

/** Where histories are played. */
export interface Setting {
  readonly harness: ServicesHarness
  readonly feed: Partial<ServiceConfig['feed']>
  /** The strategies that pages are asked of. */
  readonly asked: readonly FeedStrategyName[]
  /** Those of them that are registered from the start, and at rest. */
  readonly registered: readonly FeedStrategyName[]
  /** Breaks a process on purpose. */
  readonly spoil?: ((services: Services) => void) | undefined
  /** Counts what happened, by name. */
  readonly tally: Map<string, number>
}

/** So small that a few posts reach every edge: several periods, buckets, what a cache forgets, and celebrities. */
export const small = (maintained: readonly FeedStrategyName[]): Partial<ServiceConfig['feed']> => ({
  maintained: [...new Set(maintained)],
  timeBucketDays: 1 / 86_400,
  sizedBucketSize: 2,
  cacheSize: 3,
  hybridThreshold: 2,
  inlineMax: 1,
})

/** Removes what the history before left. What it left registered at rest holds nothing then, and stays. */
export async function emptied({ collections }: Services, { registered }: Setting): Promise<void> {
  const { strategies, ...others } = collections
  const resting = { _id: { $in: [...registered] }, complete: true, dropping: { $exists: false } }
  await Promise.all([
    ...Object.values(others).map((one) => (one as Emptied).deleteMany({})),
    strategies.deleteMany({ $nor: [resting] }),
  ])
}

/**
 * The cast's accounts and edges, of which no job tells: there is nothing to deliver yet. Then posts, each with the job
 * that is to deliver it.
 */
export async function begin(
  services: Services,
  { edges, posts, crowd }: Plan,
  cast: Cast,
  model: Model,
  now: () => number,
): Promise<void> {
  const names = crowd ? Array.from({ length: 20 }, (_, n) => `${cast.prefix}c${n}`) : []
  await openAccounts(services, [...cast.users, ...names.map(handle)])
  for (const user of cast.users) model.createUser(user)
  const followed = edges.flatMap(([a, b], n) => {
    const [follower, followee] = [cast.user(a), cast.user(b)]
    if (a === b || model.follow(follower, followee) !== 'changed') return []
    return { id: idAt<EdgeId>(1e12, n), follower, followee, source: 'IMPORT' as const }
  })
  const posted = posts.map((n): PostRef => ({ id: idAt<PostId>(now(), n), author: cast.user(n) }))
  cast.posts.push(...posted)
  for (const { id, author } of posted) model.post(author, id)
  const docs = posted.map(({ id, author }) => {
    return { _id: toObjectId(id), author, text: `by ${author}` }
  })
  await services.transactions.run(async (tx) => {
    if (followed.length > 0) await services.edges.insert(tx, followed)
    const counters = new Map(model.users().map((user) => [user, model.stats(user)]))
    await services.stats.change(tx, counters)
    if (docs.length > 0) await services.collections.posts.insertMany(docs, tx)
    const jobs = posted.flatMap(({ id, author }) =>
      reactionsTo('post.created', { author, post: id }),
    )
    await services.outbox.enqueue(tx, jobs)
  })
}

const idAt = <Id extends TimeId>(ms: number, n: number) =>
  timeIdAt<Id>(ms, n.toString(16).padStart(12, '0'))

/** As `feedline timelines drop` does; one that is cut off removes nothing. */
export async function drop(
  services: Services,
  name: MaterialisedName,
  cut: boolean,
): Promise<void> {
  const signal = cut ? AbortSignal.abort(new CutOff()) : undefined
  await services.registrations.drop(name, signal).catch((error) => {
    if (!(error instanceof CutOff)) throw error
  })
}

class CutOff extends Error {
  override readonly name = 'CutOff'
}

interface Emptied {
  deleteMany(filter: object): Promise<unknown>
}

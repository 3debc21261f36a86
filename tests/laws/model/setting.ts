import { toObjectId } from '../../../src/db/object-id.ts'
import {
  type EdgeId,
  type PostId,
  type PostRef,
  type TimeId,
  timeIdAt,
  type UserId,
} from '../../../src/lib/ids.ts'
import type { ServiceConfig, Services } from '../../../src/services.ts'
import type { FeedStrategyName, MaterialisedName } from '../../../src/timeline/strategies/list.ts'
import { handle, openAccounts, type ServicesHarness } from '../../support/services.ts'
import type { Plan } from './histories.ts'
import type { Actors, Model } from './model.ts'

/** The configuration of simulations. */
export interface Setting {
  readonly harness: ServicesHarness
  readonly feed: Partial<ServiceConfig['feed']>
  /** The strategies of requested pages. */
  readonly asked: readonly FeedStrategyName[]
  /** The strategies that are registered at the start and at the end. */
  readonly registered: readonly FeedStrategyName[]
  /** Mutates the services of a process. */
  readonly mutate?: ((services: Services) => void) | undefined
  /** Counts events of the simulation, by name. */
  readonly tally: Map<string, number>
}

/** Options so small that a few posts fill several periods and buckets, and overflow a cache. */
export const small = (maintained: readonly FeedStrategyName[]): Partial<ServiceConfig['feed']> => ({
  maintained: [...new Set(maintained)],
  timeBucketDays: 1 / 86_400,
  sizedBucketSize: 2,
  cacheSize: 3,
  inlineMax: 1,
})

/** As {@link small}. Stored timelines keep the entries of two seconds. */
export const fewSeconds = (maintained: readonly FeedStrategyName[]): Setting['feed'] => ({
  ...small(maintained),
  timelineDaysMax: 2 / 86_400,
})

/** Removes old entries as the daily job does. */
export async function sweepNow({ sweep }: Services): Promise<void> {
  const { signal } = new AbortController()
  const save = async () => {}
  await sweep.removeOld({ job: {} as never, checkpoint: undefined, save, signal, inline: false })
}

/**
 * Deletes the data of the last history. Keeps the registrations of complete strategies, whose
 * timelines are empty.
 */
export async function emptied({ collections }: Services, { registered }: Setting): Promise<void> {
  const { strategies, ...others } = collections
  const resting = { _id: { $in: [...registered] }, complete: true, dropping: { $exists: false } }
  await Promise.all([
    ...Object.values(others).map((one) => (one as Emptied).deleteMany({})),
    strategies.deleteMany({ $nor: [resting] }),
    strategies.updateMany(resting as object, { $unset: { floor: '' } }),
  ])
}

/**
 * Creates the actors' accounts and edges without jobs, since there is nothing to deliver yet. Then
 * creates posts, each with the job that delivers it.
 */
export async function begin(
  services: Services,
  { edges, posts, crowd }: Pick<Plan, 'edges' | 'posts' | 'crowd'>,
  actors: Actors,
  model: Model,
  now: () => number,
): Promise<void> {
  const names = crowd ? Array.from({ length: 20 }, (_, n) => `${actors.prefix}c${n}`) : []
  await openAccounts(services, [...actors.users, ...names.map(handle)])
  for (const user of actors.users) model.createUser(user)
  const followed = edges.flatMap(([a, b], n) => {
    const [follower, followee] = [actors.user(a), actors.user(b)]
    if (a === b || model.follow(follower, followee) !== 'changed') return []
    return { id: idAt<EdgeId>(1e12, n), follower, followee, source: 'IMPORT' as const }
  })
  const posted = posts.map((n): PostRef => ({ id: idAt<PostId>(now(), n), author: actors.user(n) }))
  actors.posts.push(...posted)
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
      services.outbox.reactionsTo('post.created', { author, post: id }),
    )
    await services.outbox.enqueue(tx, jobs)
  })
}

const idAt = <Id extends TimeId>(ms: number, n: number) =>
  timeIdAt<Id>(ms, n.toString(16).padStart(12, '0'))

/**
 * Drops a strategy as `feedline timelines drop` does. @param cut aborts the drop before it deletes
 * timelines.
 */
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

/**
 * Updates the model with the handles that purges released.
 * @returns the followers that each of their users had until then.
 */
export async function noteReleased(
  { collections: { users } }: Services,
  model: Model,
): Promise<ReadonlyMap<UserId, readonly UserId[]>> {
  const released = new Map<UserId, readonly UserId[]>()
  for (const user of model.leavers()) {
    const leaving = { _id: user, deletedAt: { $exists: true } }
    if (!(await users.findOne(leaving))) released.set(user, model.purged(user))
  }
  return released
}

class CutOff extends Error {
  override readonly name = 'CutOff'
}

interface Emptied {
  deleteMany(filter: object): Promise<unknown>
}

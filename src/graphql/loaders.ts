import DataLoader from 'dataloader'
import type { Truth } from '../feed/feed.ts'
import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import type { Page, Window } from '../lib/page.ts'
import type { Services } from '../services.ts'

/** A page of one owner's list; keys that differ in nothing but the owner are read together. */
export interface PageKey<More = unknown> {
  readonly owner: UserId
  readonly window: Window
  readonly more: More
}

const batchMax = 1000

/** A loader over a batch read of the core. Keys that the read leaves out give null. */
const loader = <K extends string, V>(read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>) =>
  new DataLoader<K, V | null>(
    async (keys) => {
      const found = await read(keys)
      return keys.map((key) => found.get(key) ?? null)
    },
    { maxBatchSize: batchMax },
  )

/** A loader over a membership read of the core. */
const membership = <K extends string>(read: (keys: readonly K[]) => Promise<ReadonlySet<K>>) =>
  new DataLoader<K, boolean>(
    async (keys) => {
      const found = await read(keys)
      return keys.map((key) => found.has(key))
    },
    { maxBatchSize: batchMax },
  )

/** A loader of pages: one command for every different window, whatever the number of owners. */
const pages = <T, More>(
  read: (owners: readonly UserId[], window: Window, more: More) => Promise<Map<UserId, Page<T>>>,
) =>
  new DataLoader<PageKey<More>, Page<T>, string>(
    async (keys) => {
      const kindOf = ({ window, more }: PageKey<More>) => JSON.stringify([window, more])
      const found = new Map<string, Map<UserId, Page<T>>>()
      await Promise.all(
        [...groupBy(keys, kindOf)].map(async ([kind, [first, ...rest]]) => {
          if (!first) return
          const owners = [first, ...rest].map(({ owner }) => owner)
          found.set(kind, await read(owners, first.window, first.more))
        }),
      )
      return keys.map((key) => found.get(kindOf(key))?.get(key.owner) as Page<T>)
    },
    { maxBatchSize: batchMax, cacheKeyFn: (key) => JSON.stringify(key) },
  )

/**
 * The batched look-ups of one request: each association of a page costs one command, however many items it has.
 * Made anew for every request and after every mutation; never shared.
 * @param viewer whose edges the `viewer…` loaders read; undefined: nobody's.
 */
export function createLoaders(
  { users, stats, follows, restrictions, posts }: Services,
  viewer: UserId | undefined,
) {
  const none = async () => new Set<UserId>()
  return {
    user: loader(users.byIds.bind(users)),
    stats: loader(stats.byIds.bind(stats)),
    viewerFollows: membership<UserId>(viewer ? (ids) => follows.followeesAmong(viewer, ids) : none),
    followsViewer: membership<UserId>(viewer ? (ids) => follows.followersAmong(viewer, ids) : none),
    viewerGroups: loader<UserId, readonly string[]>(async (ids) =>
      viewer ? follows.groupsAmong(viewer, ids) : new Map(),
    ),
    restrictions: loader<UserId, ReadonlySet<'MUTE' | 'BLOCK' | 'BLOCKED_BY'>>(async (ids) =>
      viewer ? restrictions.between(viewer, ids) : new Map(),
    ),
    followers: pages((owners, window) => follows.followers(owners, window)),
    following: pages((owners, window, group: string | undefined) =>
      follows.following(owners, window, group),
    ),
    posts: pages((owners, window, content: boolean) => posts.byAuthors(owners, window, content)),
  }
}

export type Loaders = ReturnType<typeof createLoaders>

/** The truth for a viewer's timeline, read through the loaders: what a page was checked by need not be read again. */
export function truthOf({ viewerFollows, restrictions, stats }: Loaders): Truth {
  const those = async <V>(
    ids: readonly UserId[],
    load: (id: UserId) => Promise<V>,
    holds: (value: V) => boolean,
  ) => {
    const values = await Promise.all(ids.map(load))
    return new Set(ids.filter((_, at) => holds(values[at] as V)))
  }
  return {
    followees: (among) => those(among, (id) => viewerFollows.load(id), Boolean),
    restricted: (among) => those(among, (id) => restrictions.load(id), Boolean),
    live: (among) => those(among, (id) => stats.load(id), Boolean),
  }
}

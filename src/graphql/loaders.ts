import DataLoader from 'dataloader'
import { type EngagementKind, viewerFields } from '../engagement/kinds.ts'
import type { PageFacts } from '../feed/timeline/page-facts.ts'
import { groupBy } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Page, Window } from '../lib/page.ts'
import type { Services } from '../services.ts'

/** A page of one owner's list; keys that differ in nothing but the owner are read together. */
export interface PageKey<Owner = UserId, More = unknown> {
  readonly owner: Owner
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

/** A loader by post: what differs in nothing but the object is the same post. */
const byPost = <V>(read: (posts: readonly PostRef[]) => Promise<ReadonlyMap<PostId, V>>) =>
  new DataLoader<PostRef, V | null, string>(
    async (posts) => {
      const found = await read(posts)
      return posts.map(({ id }) => found.get(id) ?? null)
    },
    { maxBatchSize: batchMax, cacheKeyFn: ({ author, id }) => `${author}/${id}` },
  )

/** A loader of pages: the commands of one read for every different window, whatever the number of owners. */
const pages = <Owner extends UserId | PostRef, T, More>(
  read: (
    owners: readonly Owner[],
    window: Window,
    more: More,
  ) => Promise<ReadonlyMap<string, Page<T>>>,
) =>
  new DataLoader<PageKey<Owner, More>, Page<T>, string>(
    async (keys) => {
      const kindOf = ({ window, more }: PageKey<Owner, More>) => JSON.stringify([window, more])
      const found = new Map<string, ReadonlyMap<string, Page<T>>>()
      await Promise.all(
        [...groupBy(keys, kindOf)].map(async ([kind, [first, ...rest]]) => {
          if (!first) return
          const owners = [first, ...rest].map(({ owner }) => owner)
          found.set(kind, await read(owners, first.window, first.more))
        }),
      )
      return keys.map((key) => found.get(kindOf(key))?.get(nameOf(key.owner)) as Page<T>)
    },
    { maxBatchSize: batchMax, cacheKeyFn: (key) => JSON.stringify(key) },
  )

const nameOf = (owner: UserId | PostRef): string => (typeof owner === 'string' ? owner : owner.id)

/**
 * The batched look-ups of one request: each association of a page costs one command, however many items it has.
 * Made anew for every request and after every mutation; never shared.
 * @param viewer whose edges the `viewer…` loaders read; undefined: nobody's.
 */
export function createLoaders(
  { users, stats, follows, restrictions, posts, engagementReader, liked }: Services,
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
      viewer ? restrictions.restrictionsFor(viewer, ids) : new Map(),
    ),
    post: byPost((refs) => posts.byRefs(refs)),
    viewerEngagement: byPost(async (refs) => {
      const found = viewer
        ? await engagementReader.entries([...viewerFields.values()], refs, [viewer])
        : []
      return new Map([...groupBy(found, ({ post }) => post.id)])
    }),
    engagements: pages((owners: readonly PostRef[], window, kind: EngagementKind) =>
      engagementReader.pages(kind, owners, window),
    ),
    liked: pages((owners: readonly UserId[], window) => liked.pages(owners, window, viewer)),
    followers: pages((owners: readonly UserId[], window) => follows.followers(owners, window)),
    following: pages((owners: readonly UserId[], window, group: string | undefined) =>
      follows.following(owners, window, group),
    ),
    posts: pages((owners: readonly UserId[], window, content: boolean) =>
      posts.byAuthors(owners, window, content),
    ),
  }
}

export type Loaders = ReturnType<typeof createLoaders>

/**
 * Gives the loaders what a page of the viewer's timeline was checked by, so that it is not read again.
 * @param group of a page of one group: who is not in it may be followed all the same.
 */
export function prime(
  { viewerFollows, restrictions, stats }: Loaders,
  pages: readonly PageFacts[],
  group: string | undefined,
): void {
  for (const { authors, followed, restrictions: between, stats: counted } of pages) {
    for (const author of authors) {
      if (group === undefined || followed.has(author)) {
        viewerFollows.prime(author, followed.has(author))
      }
      restrictions.prime(author, between.get(author) ?? null)
      stats.prime(author, counted.get(author) ?? null)
    }
  }
}

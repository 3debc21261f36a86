import DataLoader from 'dataloader'
import { type EngagementKind, viewerFields } from '../engagement/kinds.ts'
import type { PageFacts } from '../feed/timeline/page-facts.ts'
import { groupBy } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Page, Window } from '../lib/page.ts'
import type { Services } from '../services.ts'

/** A page of one owner's list. Keys that differ only in the owner are read together. */
export interface PageKey<Owner = UserId, More = unknown> {
  readonly owner: Owner
  readonly window: Window
  readonly more: More
}

const batchMax = 1000

/** A loader over a batch read of a service. Loads null for keys that the read omits. */
const loader = <K extends string, V>(read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>) =>
  new DataLoader<K, V | null>(
    async (keys) => {
      const found = await read(keys)
      return keys.map((key) => found.get(key) ?? null)
    },
    { maxBatchSize: batchMax },
  )

/** A loader over a membership read of a service. */
const membership = <K extends string>(read: (keys: readonly K[]) => Promise<ReadonlySet<K>>) =>
  new DataLoader<K, boolean>(
    async (keys) => {
      const found = await read(keys)
      return keys.map((key) => found.has(key))
    },
    { maxBatchSize: batchMax },
  )

/** A loader by post. Equal references to a post are the same key. */
const byPost = <V>(read: (posts: readonly PostRef[]) => Promise<ReadonlyMap<PostId, V>>) =>
  new DataLoader<PostRef, V | null, string>(
    async (posts) => {
      const found = await read(posts)
      return posts.map(({ id }) => found.get(id) ?? null)
    },
    { maxBatchSize: batchMax, cacheKeyFn: ({ author, id }) => `${author}/${id}` },
  )

/** A loader of pages. One read for each window, for any number of owners. */
const pageLoader = <Owner extends UserId | PostRef, T, More>(
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
 * Creates the batched reads of one request. Each association of a page costs one command, for any number of items.
 * Requests share no loaders. A request replaces its loaders after every mutation.
 * @param viewer the user whose edges the `viewer…` loaders read; undefined for an anonymous request.
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
    engagements: pageLoader((owners: readonly PostRef[], window, kind: EngagementKind) =>
      engagementReader.pages(kind, owners, window),
    ),
    liked: pageLoader((owners: readonly UserId[], window) => liked.pages(owners, window, viewer)),
    followers: pageLoader((owners: readonly UserId[], window) => follows.followers(owners, window)),
    following: pageLoader((owners: readonly UserId[], window, group: string | undefined) =>
      follows.following(owners, window, group),
    ),
    posts: pageLoader((owners: readonly UserId[], window, content: boolean) =>
      posts.byAuthors(owners, window, content),
    ),
  }
}

export type Loaders = ReturnType<typeof createLoaders>

/**
 * Fills the loaders with the facts of timeline pages, so that they are not read again.
 * @param group the group of the pages. The viewer may also follow authors outside the group.
 */
export function primeLoaders(
  { viewerFollows, restrictions, stats }: Loaders,
  pages: readonly PageFacts[],
  group: string | undefined,
): void {
  for (const { authors, followed, restrictions: byAuthor, stats: counted } of pages) {
    for (const author of authors) {
      if (group === undefined || followed.has(author)) {
        viewerFollows.prime(author, followed.has(author))
      }
      restrictions.prime(author, byAuthor.get(author) ?? null)
      stats.prime(author, counted.get(author) ?? null)
    }
  }
}

import DataLoader from 'dataloader'
import type { Account } from '../db/collections.ts'
import type { Lists } from '../features.ts'
import type { FollowEdge } from '../follows/edges.ts'
import type { Suggestion } from '../follows/suggestions.ts'
import { groupBy } from '../lib/batch.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import type { Page, Window } from '../lib/page.ts'
import { type List, nameOf, type Owner, readPages } from '../pages/pipeline.ts'
import type { Services } from '../services.ts'
import { readTimelines } from '../timeline/api/timeline-reads.ts'
import type { TimelinePage, TimelineRequest } from '../timeline/pages/page.ts'
import type { PageFacts } from '../timeline/pages/page-facts.ts'
import type { User } from '../users/profile.ts'
import { accountsIn, provenAccount, type Stats } from '../users/stats.ts'
import type { RestrictionKind } from '../visibility/rules.ts'
import { Visibility } from '../visibility/visibility.ts'

/** A page of one owner's list. Keys that differ only in the owner are read together. */
export interface PageKey<Owner = UserId, More = unknown> {
  readonly owner: Owner
  readonly window: Window
  readonly more: More
  /** What the page shows of its users, which also decides who is live. Default: nothing. */
  readonly part?: AccountPart
}

/** The loads of accounts. Each of them decides who is live. */
export type AccountPart = 'user' | 'stats' | 'live'

const batchMax = 1000

/**
 * A loader over a batch read of a service. Loads null for keys that the read omits.
 * @param begun keeps what was loaded or begun. Default: hidden.
 */
const loader = <K extends string, V>(
  read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  begun = new Map<K, Promise<V | null>>(),
) =>
  new DataLoader<K, V | null>(
    async (keys) => {
      const found = await read(keys)
      return keys.map((key) => found.get(key) ?? null)
    },
    { maxBatchSize: batchMax, cacheMap: begun },
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

const loadMembers = async <K extends string>(
  among: DataLoader<K, boolean>,
  keys: readonly K[],
): Promise<Set<K>> => {
  const found = await Promise.all(keys.map((key) => among.load(key)))
  return new Set(keys.filter((_, at) => found[at]))
}

/** The name of a post: its author and id. An id with another author names no post. */
const postKey = ({ author, id }: PostRef): string => `${author}/${id}`

/**
 * A loader by post. Equal references to a post are the same key. `read` returns values by
 * {@link postKey}.
 */
const byPost = <V>(read: (posts: readonly PostRef[]) => Promise<ReadonlyMap<string, V>>) =>
  new DataLoader<PostRef, V | null, string>(
    async (posts) => {
      const found = await read(posts)
      return posts.map((post) => found.get(postKey(post)) ?? null)
    },
    { maxBatchSize: batchMax, cacheKeyFn: postKey },
  )

/** A loader of pages of lists. One read for each window and list, for any number of owners. */
const listLoader = <O extends Owner, Item, More>(
  visibilityBy: (part: AccountPart) => Visibility,
  listOf: (more: More) => List<O, unknown, Item>,
) =>
  new DataLoader<PageKey<O, More>, Page<Item>, string>(
    async (keys) => {
      const kindOf = ({ window, more, part }: PageKey<O, More>) =>
        JSON.stringify([window, more, part])
      const pages = new Map<string, ReadonlyMap<string, Page<Item>>>()
      await Promise.all(
        [...groupBy(keys, kindOf)].map(async ([kind, alike]) => {
          const [{ window, more, part = 'live' }] = alike as [PageKey<O, More>]
          const owners = alike.map(({ owner }) => owner)
          pages.set(kind, await readPages(listOf(more), owners, window, visibilityBy(part)))
        }),
      )
      return keys.map((key) => pages.get(kindOf(key))?.get(nameOf(key.owner)) as Page<Item>)
    },
    { maxBatchSize: batchMax, cacheKeyFn: (key) => JSON.stringify(key) },
  )

/** A loader of the pages of each list of a feature. */
type ListLoaders = {
  readonly [Name in keyof Lists]: Lists[Name] extends (
    more: infer More,
  ) => List<infer O, infer _Candidate, infer Item, infer _Known>
    ? DataLoader<PageKey<O, More>, Page<Item>, string>
    : never
}

/**
 * Creates the batched reads of one request. Each association of a page costs one command, for any
 * number of items. Requests share no loaders. A request replaces its loaders after every mutation.
 * @param viewer the user whose edges the `viewer…` loaders read; undefined for an anonymous
 *   request.
 */
export function createLoaders(
  {
    users,
    handles,
    stats,
    follows,
    restrictions,
    mutuals,
    suggestions,
    posts,
    summaries,
    feed,
    lists,
  }: Services,
  viewer: UserId | undefined,
) {
  const none = async () => new Set<UserId>()
  const relations = loader<UserId, ReadonlySet<RestrictionKind>>(async (ids) =>
    viewer ? restrictions.restrictionsFor(viewer, ids) : new Map(),
  )
  const profiles = new Map<UserId, Promise<User | null>>()
  const counters = new Map<UserId, Promise<Stats | null>>()
  const parts = {
    user: loader(users.byIds.bind(users), profiles),
    stats: loader(stats.byIds.bind(stats), counters),
    live: loader<UserId, Account>((ids) => stats.liveAmong(ids)),
  }
  const viewerFollows = membership<UserId>(
    viewer ? (ids) => follows.followeesAmong(viewer, ids) : none,
  )
  const visibilityBy = (part: AccountPart) =>
    new Visibility(viewer, {
      live: async (users) => {
        const begun = (user: UserId) => profiles.get(user) ?? counters.get(user)
        const load = (user: UserId): Promise<Account | null> => {
          const proven = provenAccount(user)
          if (!proven) return parts.live.load(user)
          // What the request reads of an account anyway decides it too.
          const read: Promise<object | null> =
            (part === 'live' && begun(user)) || parts[part].load(user)
          return read.then((found) => found && proven)
        }
        const accounts = await Promise.all(users.map(load))
        return accountsIn(accounts.filter((account) => account !== null))
      },
      followed: (users) => loadMembers(viewerFollows, users),
      restrictions: async (users) => {
        const kinds = await Promise.all(users.map((user) => relations.load(user)))
        return new Map(users.map((user, at) => [user, kinds[at] ?? new Set()]))
      },
    })
  const visibility = visibilityBy('live')
  const hiddenAmong = (users: readonly UserId[]) => visibility.hiddenAmong('PERSON', users)
  const pages = Object.entries<(more: never) => List<never, unknown, unknown>>(lists).map(
    ([name, listOf]) => [name, listLoader(visibilityBy, listOf)],
  )
  return {
    ...parts,
    ...(Object.fromEntries(pages) as ListLoaders),
    holder: loader(handles.findHolders.bind(handles)),
    userByHandle: loader(users.byHandles.bind(users)),
    viewerFollows,
    followsViewer: membership<UserId>(viewer ? (ids) => follows.followersAmong(viewer, ids) : none),
    viewerGroups: loader<UserId, readonly string[]>(async (ids) =>
      viewer ? follows.groupsAmong(viewer, ids) : new Map(),
    ),
    restrictions: relations,
    visibility,
    hiddenAmong,
    post: byPost(async (refs) => {
      const found = await posts.byRefs(refs)
      return new Map([...found.values()].map((post) => [postKey(post), post]))
    }),
    viewerHas: byPost(async (refs) => {
      const found = viewer ? await summaries.load(refs, viewer) : new Map()
      return new Map(refs.map((ref) => [postKey(ref), found.get(ref.id)?.viewerHas ?? null]))
    }),
    mutuals: new DataLoader<UserId, readonly FollowEdge[]>(
      async (users) => {
        const [hidden, edges] = await Promise.all([
          visibility.hiddenAmong('LISTS', users),
          viewer ? mutuals.load(viewer, users) : undefined,
        ])
        return users.map((user) => (hidden.has(user) ? [] : (edges?.get(user) ?? [])))
      },
      { maxBatchSize: batchMax },
    ),
    suggestions: new DataLoader<UserId, readonly Suggestion[]>((viewers) =>
      Promise.all(viewers.map((one) => suggestions.load(one))),
    ),
    timeline: new DataLoader<TimelineRequest, TimelinePage, string>(
      async (requests) => (viewer ? readTimelines(feed, viewer, requests) : []),
      { maxBatchSize: batchMax, cacheKeyFn: (request) => JSON.stringify(request) },
    ),
  }
}

export type Loaders = ReturnType<typeof createLoaders>

/**
 * Fills the loaders with the facts of timeline pages, so that they are not read again.
 * @param group the group of the pages. The viewer may also follow authors outside the group.
 */
export function primeLoaders(
  { user, live, viewerFollows, restrictions, viewerHas }: Loaders,
  pages: readonly PageFacts[],
  group: string | undefined,
): void {
  for (const page of pages) {
    const { accounts, followed, restrictions: byAuthor } = page
    for (const author of page.authors) {
      // Of authors that the viewer does not follow, no account is loaded.
      if (!accounts.has(author)) continue
      live.prime(author, page.live.get(author) ?? null)
      if (group === undefined || followed.has(author)) {
        viewerFollows.prime(author, followed.has(author))
      }
      restrictions.prime(author, byAuthor.get(author) ?? null)
      user.prime(author, accounts.get(author)?.profile ?? null)
    }
    for (const { id, author } of page.posts.values()) {
      const known = page.summaries?.get(id)?.viewerHas
      if (known) viewerHas.prime({ id, author }, known)
    }
  }
}

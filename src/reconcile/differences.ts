import { type EngagementKind, engagementKinds } from '../config.ts'
import type { Collections, PostDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { embedded } from '../engagement/stored.ts'
import { isTorn } from './accounts.ts'
import { type CountedParts, type CountedUser, countedUsers, userCounters } from './counted.ts'

/** What counts is off by so much, as it was at one instant. */
export interface Difference {
  readonly kind: 'USER' | 'POST'
  /** A handle, or a post's id. */
  readonly id: string
  /** Of a post. */
  readonly author?: string
  /** When the account was opened: another one under the same handle is another user. */
  readonly since?: Date
  /** How often it had been repaired by then. */
  readonly repairs: number
  /** What to add to each counter that is off. */
  readonly by: Readonly<Record<string, number>>
  /** What those counters said. */
  readonly counted: Readonly<Record<string, number>>
}

/** What a look at some users or posts came to. */
export interface Looked {
  readonly checked: number
  /** Edges, posts and entries that were counted, and the documents that count them. */
  readonly documents: number
  readonly off: readonly Difference[]
}

/** What a look at users came to besides. */
export interface LookedAtUsers extends Looked {
  /** Handles with an account and no counters, or counters and no account. */
  readonly torn: readonly string[]
  /** Handles with edges and no account. */
  readonly gone: readonly string[]
}

/**
 * How far the counters of some users are from their edges and posts (seed 3), at the caller's instant. Five commands,
 * and more answers of them where there are more users; counts over indexes alone, so that a user with millions of
 * followers takes a second a million.
 * @param handles a condition on a handle.
 * @param at the snapshot on which counters and edges are of one time.
 */
export async function userDifferences(
  parts: CountedParts,
  handles: object,
  at: Tx,
): Promise<LookedAtUsers> {
  const off: Difference[] = []
  const [torn, gone]: [string[], string[]] = [[], []]
  let [checked, documents] = [0, 0]
  for await (const user of countedUsers(parts, handles, at)) {
    documents += 1 + userCounters.reduce((sum, name) => sum + (user[name] ?? 0), 0)
    if (isTorn(user)) torn.push(user.key)
    if (!user.account && (user.followers || user.following)) gone.push(user.key)
    if (user.account !== 'LIVE' || !user.stats) continue
    checked++
    const difference = differenceOf(user)
    if (difference) off.push(difference)
  }
  return { checked, documents, off, torn, gone }
}

function differenceOf({ key, stats, createdAt, ...stored }: CountedUser): Difference | undefined {
  if (!stats) return undefined
  const wrong = userCounters.filter((name) => stats[name] !== (stored[name] ?? 0))
  if (wrong.length === 0) return undefined
  return {
    kind: 'USER',
    id: key,
    ...(createdAt ? { since: createdAt } : {}),
    repairs: stats.repairs ?? 0,
    by: fromNames(wrong, (name) => (stored[name] ?? 0) - stats[name]),
    counted: fromNames(wrong, (name) => stats[name]),
  }
}

type PostCounts = Pick<PostDoc, '_id' | 'author' | 'counts' | 'levels' | 'repairs'> & {
  readonly stored: Readonly<Record<EngagementKind, number>>
}

/** Where posts and what they count are stored. */
export type CountedPosts = Pick<Collections, 'posts' | 'overflow'>

/**
 * How far the counts of likes, comments and shares of some posts are from what is stored in them and in overflow, at
 * the caller's instant. Two commands.
 * @param filter a condition on posts.
 * @returns besides, the last of them in the order of their ids.
 */
export async function postDifferences(
  { posts, overflow }: CountedPosts,
  filter: object,
  limit: number,
  at: Tx,
): Promise<Looked & { readonly last: ObjectId | undefined }> {
  const sizes = fromNames(engagementKinds, (kind) => ({ $size: embedded(kind) }))
  const found = await posts
    .aggregate<PostCounts>(
      [
        { $match: filter },
        { $sort: { _id: 1 } },
        { $limit: limit },
        { $project: { author: 1, counts: 1, levels: 1, repairs: 1, stored: sizes } },
      ],
      { ...at },
    )
    .toArray()
  const beyond = await overflowing(overflow, found, at)
  const off: Difference[] = []
  let documents = found.length
  for (const { _id, author, counts, stored, repairs = 0 } of found) {
    const id = _id.toHexString()
    const all = fromNames(
      engagementKinds,
      (kind) => stored[kind] + (beyond.get(`${id} ${kind}`) ?? 0),
    )
    documents += Object.values(all).reduce((sum, count) => sum + count, 0)
    const wrong = engagementKinds.filter((kind) => (counts?.[kind] ?? 0) !== all[kind])
    if (wrong.length === 0) continue
    off.push({
      ...{ kind: 'POST', id, author, repairs },
      by: fromNames(wrong, (kind) => all[kind] - (counts?.[kind] ?? 0)),
      counted: fromNames(wrong, (kind) => counts?.[kind] ?? 0),
    })
  }
  const last = found.length < limit ? undefined : found.at(-1)?._id
  return { checked: found.length, documents, off, last }
}

/** How many entries each list has in overflow, by post and kind. */
async function overflowing(
  overflow: Collections['overflow'],
  posts: readonly PostCounts[],
  at: Tx,
): Promise<ReadonlyMap<string, number>> {
  const some = posts.filter(({ levels }) => Object.values(levels ?? {}).some((count) => count > 0))
  if (some.length === 0) return new Map()
  const found = overflow.aggregate<{
    _id: { post: ObjectId; kind: EngagementKind }
    count: number
  }>(
    [
      { $match: { '_id.post': { $in: some.map(({ _id }) => _id) } } },
      {
        $group: {
          _id: { post: '$_id.post', kind: '$_id.kind' },
          count: { $sum: { $size: '$items' } },
        },
      },
    ],
    { ...at },
  )
  const counts = new Map<string, number>()
  for await (const { _id, count } of found) {
    counts.set(`${_id.post.toHexString()} ${_id.kind}`, count)
  }
  return counts
}

const fromNames = <Name extends string, T>(names: readonly Name[], of: (name: Name) => T) =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, T>

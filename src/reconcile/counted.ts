import type { Collections, UserDoc, UserStatsDoc } from '../db/collections.ts'
import type { Collection, Document } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { Edges } from '../follows/edges.ts'
import { aligned } from './walk.ts'

/** What users count of themselves. */
export const userCounters = ['followers', 'following', 'posts'] as const
export type UserCounter = (typeof userCounters)[number]

/** What the database says of a handle: its account, its counters, and what there is to be counted. */
export interface CountedUser extends Partial<Readonly<Record<UserCounter, number>>> {
  readonly key: string
  readonly account?: 'LIVE' | 'LEAVING'
  readonly createdAt?: Date
  readonly stats?: UserStatsDoc
}

/** Where users and what they count are stored. */
export interface CountedParts {
  readonly collections: Pick<Collections, 'users' | 'user_stats' | 'posts'>
  readonly edges: Edges
}

/**
 * Every handle that matches and is known anywhere, in order, with all that is counted. Five commands, each over a
 * stretch of an index; holds one handle of each.
 * @param handles a condition on a handle.
 */
export const countedUsers = (
  parts: CountedParts,
  handles: object,
  tx?: Tx,
): AsyncGenerator<CountedUser> => aligned(userSources(parts, handles, tx))

/** What {@link countedUsers} joins, part by part. */
export function userSources(
  { collections: { users, user_stats, posts }, edges }: CountedParts,
  handles: object,
  tx?: Tx,
): AsyncIterable<CountedUser>[] {
  const { followers, following } = edges
  return [
    accounts(users.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counters(user_stats.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counted(followers.collection, followers.owner, 'followers', handles, tx),
    counted(following.collection, following.owner, 'following', handles, tx),
    counted(posts, 'author', 'posts', handles, tx),
  ]
}

async function* accounts(found: AsyncIterable<UserDoc>): AsyncGenerator<CountedUser> {
  for await (const { _id, createdAt, deletedAt } of found) {
    yield { key: _id, createdAt, account: deletedAt ? 'LEAVING' : 'LIVE' }
  }
}

async function* counters(found: AsyncIterable<UserStatsDoc>): AsyncGenerator<CountedUser> {
  for await (const stats of found) yield { key: stats._id, stats }
}

/** Counts by owner, over the index alone. */
async function* counted<Doc extends Document>(
  collection: Collection<Doc>,
  owner: string,
  name: UserCounter,
  handles: object,
  tx: Tx | undefined,
): AsyncGenerator<CountedUser> {
  const found = collection.aggregate<{ _id: string; count: number }>(
    [
      { $match: { [owner]: handles } },
      { $group: { _id: `$${owner}`, count: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ],
    { ...tx },
  )
  for await (const { _id, count } of found) yield { key: _id, [name]: count }
}

import type { Collections, UserDoc, UserStatsDoc } from '../db/collections.ts'
import type { Collection, Document } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { Edges } from '../follows/edges.ts'
import { mergeJoin } from './merge-join.ts'

/** The counters of a user. */
export const userCounters = ['followers', 'following', 'posts'] as const
export type UserCounter = (typeof userCounters)[number]

/** The account and the counters of a handle, and the numbers of documents that the counters count. */
export interface CountedUser extends Partial<Readonly<Record<UserCounter, number>>> {
  readonly key: string
  /** MALFORMED: the invariant `document-shapes` names it. */
  readonly account?: 'LIVE' | 'LEAVING' | 'MALFORMED'
  readonly createdAt?: Date
  readonly stats?: UserStatsDoc
}

/** Where users, edges and posts are stored. */
export interface CountedParts {
  readonly collections: Pick<Collections, 'users' | 'user_stats' | 'posts'>
  readonly edges: Edges
}

/**
 * Yields every matching handle that occurs in any of the collections, in order, with its counts. Holds one handle of
 * each collection. Five commands, each over one range of an index.
 * @param handles a condition on a handle.
 */
export const countedUsers = (
  parts: CountedParts,
  handles: object,
  tx?: Tx,
): AsyncGenerator<CountedUser> => mergeJoin(userSources(parts, handles, tx))

function userSources(
  { collections: { users, user_stats, posts }, edges }: CountedParts,
  handles: object,
  tx?: Tx,
): AsyncIterable<CountedUser>[] {
  const { followers, following } = edges
  return [
    accounts(users.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counters(user_stats.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counted(followers, 'followers', handles, tx),
    counted(following, 'following', handles, tx),
    counted({ collection: posts, owner: 'author' }, 'posts', handles, tx),
  ]
}

async function* accounts(found: AsyncIterable<UserDoc>): AsyncGenerator<CountedUser> {
  for await (const doc of found) {
    yield { key: doc._id, createdAt: doc.createdAt, account: accountState(doc) }
  }
}

/** Whether an account is live, from its document. */
export function accountState(doc: UserDoc): NonNullable<CountedUser['account']> {
  const { createdAt, deletedAt } = doc
  const dates = 'deletedAt' in doc ? [createdAt, deletedAt] : [createdAt]
  if (!dates.every((date) => date instanceof Date)) return 'MALFORMED'
  return deletedAt ? 'LEAVING' : 'LIVE'
}

async function* counters(found: AsyncIterable<UserStatsDoc>): AsyncGenerator<CountedUser> {
  for await (const stats of found) yield { key: stats._id, stats }
}

/** A collection of counted documents. */
interface Owned<Doc extends Document> {
  readonly collection: Collection<Doc>
  /** The field that names the owner. */
  readonly owner: string
}

/** Counts by owner, over the index alone. */
async function* counted<Doc extends Document>(
  { collection, owner }: Owned<Doc>,
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
  for await (const { _id, count } of found) {
    // An array of handles matches a condition on a handle.
    if (typeof _id === 'string') yield { key: _id, [name]: count }
  }
}

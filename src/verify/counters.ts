import type { UserDoc, UserStatsDoc } from '../db/collections.ts'
import type { Collection, Document } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'
import { aligned, type HandleRange, within } from './walk.ts'

const names = ['followers', 'following', 'posts'] as const
type Name = (typeof names)[number]

/** What the database says of a handle. */
interface Row extends Partial<Readonly<Record<Name, number>>> {
  readonly key: string
  readonly account?: 'LIVE' | 'LEAVING'
  readonly stats?: UserStatsDoc
  readonly job?: true
}

/**
 * What is wrong with the accounts of a range and their counters (law L3): the counters equal the stored edges and
 * posts, exactly live accounts have any, and what a deleted account left is being cleared.
 * Five commands, each over a stretch of an index.
 */
export function counterDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const look = (some: readonly string[], tx: Tx) => looked(services, some, tx)
  return confirmed(services, suspects(services, range, tally), look, tally)
}

async function* suspects(
  services: VerifyServices,
  range: HandleRange,
  { checked }: Tally,
): AsyncGenerator<string> {
  for await (const row of aligned(sources(services, within(range)))) {
    if (row.account === 'LIVE') checked.users++
    checked.edges += row.followers ?? 0
    // Whether those who leave are cleared is seen by looking at their jobs.
    if (row.account === 'LEAVING' || problems(row).length > 0) yield row.key
  }
}

async function looked(
  services: VerifyServices,
  handles: readonly string[],
  tx: Tx,
): Promise<Verdict> {
  const rows: Row[] = []
  const among = { $in: handles }
  for await (const row of aligned([
    ...sources(services, among, tx),
    purges(services, handles, tx),
  ])) {
    rows.push(row)
  }
  return {
    differences: rows.flatMap(problems),
    inFlight: rows.filter(({ account, job }) => account === 'LEAVING' && job).length,
  }
}

/** What is said of the handles that match, part by part, each sorted. */
function sources(
  { collections: { users, user_stats, posts }, edges }: VerifyServices,
  handles: object,
  tx?: Tx,
): AsyncIterable<Row>[] {
  const { followers, following } = edges
  return [
    accounts(users.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counters(user_stats.find({ _id: handles }, { ...tx }).sort({ _id: 1 })),
    counted(followers.collection, followers.owner, 'followers', handles, tx),
    counted(following.collection, following.owner, 'following', handles, tx),
    counted(posts, 'author', 'posts', handles, tx),
  ]
}

async function* accounts(found: AsyncIterable<UserDoc>): AsyncGenerator<Row> {
  for await (const { _id, deletedAt } of found) {
    yield { key: _id, account: deletedAt ? 'LEAVING' : 'LIVE' }
  }
}

async function* counters(found: AsyncIterable<UserStatsDoc>): AsyncGenerator<Row> {
  for await (const stats of found) yield { key: stats._id, stats }
}

/** Counts by owner, over the index alone. */
async function* counted<Doc extends Document>(
  collection: Collection<Doc>,
  owner: string,
  name: Name,
  handles: object,
  tx: Tx | undefined,
): AsyncGenerator<Row> {
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

/** Who is promised to be cleared. Looks through the outbox. */
async function* purges(
  { collections: { outbox } }: VerifyServices,
  handles: readonly string[],
  tx: Tx,
): AsyncGenerator<Row> {
  const found = await outbox
    .find({ kind: 'user.deleted', 'payload.user': { $in: handles } }, { ...tx })
    .project<{ payload: { user: string } }>({ 'payload.user': 1 })
    .toArray()
  const leaving = new Set(found.map(({ payload }) => payload.user))
  for (const key of [...leaving].sort()) yield { key, job: true }
}

function problems(row: Row): Difference[] {
  const { key, account, stats, job } = row
  const problem = (kind: string, expected: string | number, found: string | number) => ({
    law: 'L3' as const,
    kind,
    subject: key,
    expected,
    found,
  })
  const left = names.filter((name) => row[name])
  const told = left.map((name) => `${row[name]} ${name}`).join(', ')
  const own = account === 'LIVE' ? 'the counters of a live account' : 'none without a live account'
  const parts: (Difference | false)[] = [
    (account === 'LIVE') !== (stats !== undefined) &&
      problem('counters', own, stats ? 'counters' : 'none'),
    account === undefined && left.length > 0 && problem('nobody', 'nothing of nobody', told),
    account === 'LEAVING' && !job && problem('purge', 'a job that clears it', 'none'),
    ...names.map((name) => {
      if (account !== 'LIVE' || !stats) return false
      const count = row[name] ?? 0
      return stats[name] !== count && problem(name, count, stats[name])
    }),
  ]
  return parts.filter((part) => part !== false)
}

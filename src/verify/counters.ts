import type { Tx } from '../db/transaction.ts'
import { type CountedUser, countedUsers, userCounters, userSources } from '../reconcile/counted.ts'
import { aligned, type HandleRange, within } from '../reconcile/walk.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

interface Row extends CountedUser {
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
  for await (const row of countedUsers(services, within(range))) {
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
  for await (const row of aligned<Row>([
    ...userSources(services, among, tx),
    purges(services, handles, tx),
  ])) {
    rows.push(row)
  }
  return {
    differences: rows.flatMap(problems),
    inFlight: rows.filter(({ account, job }) => account === 'LEAVING' && job).length,
  }
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
  const left = userCounters.filter((name) => row[name])
  const told = left.map((name) => `${row[name]} ${name}`).join(', ')
  const own = account === 'LIVE' ? 'the counters of a live account' : 'none without a live account'
  const parts: (Difference | false)[] = [
    (account === 'LIVE') !== (stats !== undefined) &&
      problem('counters', own, stats ? 'counters' : 'none'),
    account === undefined && left.length > 0 && problem('nobody', 'nothing of nobody', told),
    account === 'LEAVING' && !job && problem('purge', 'a job that clears it', 'none'),
    ...userCounters.map((name) => {
      if (account !== 'LIVE' || !stats) return false
      const count = row[name] ?? 0
      return stats[name] !== count && problem(name, count, stats[name])
    }),
  ]
  return parts.filter((part) => part !== false)
}

import type { Document } from '../../db/mongo.ts'
import type { Tx } from '../../db/transaction.ts'
import { changesOfAccounts, raiseVersions } from '../../db/versions.ts'
import type { UserId } from '../../lib/ids.ts'
import { deletionKind } from '../../users/deletion.ts'
import { accountState, type CountedUser } from '../counted-users.ts'
import {
  type Discrepancy,
  findingOf,
  type IntegrityServices,
  type Invariant,
  type Violation,
} from '../invariant.ts'
import type { ScannedUsers } from '../snapshot-scan.ts'

const invariant = { name: 'accounts', law: 'L3' } as const

/** Documents that a handle lacks, or has and should not have. */
type Problem = 'NO_COUNTERS' | 'NO_ACCOUNT' | 'SPARE_COUNTERS' | 'NO_JOB'

interface AccountViolation extends Violation {
  readonly handle: string
  readonly problem: Problem
}

/** Whether a handle needs a recheck. Every deleted account does, since the scan does not read its job. */
export const isSuspectAccount = ({ account, stats, ...stored }: CountedUser): boolean =>
  account === 'LEAVING' ||
  (account !== 'MALFORMED' && (account === 'LIVE') !== (stats !== undefined)) ||
  (account === undefined && Boolean(stored.followers || stored.following || stored.posts))

/**
 * Law L3: exactly the live accounts have counters. Edges and posts belong to an account. A deleted account has a job
 * that deletes its data. The suspects come from the scan of the counters. A recheck is three commands, and three more
 * for each handle without an account.
 *
 * Edges and posts without an account and without counters are deleted like the data of a deleted account. If the
 * counters still exist, only the account document is lost, and nothing is deleted.
 */
export const accounts = (
  services: IntegrityServices,
): Invariant<Pick<ScannedUsers, 'suspects'>, string, AccountViolation> => ({
  ...invariant,
  async *scan({ suspects }) {
    yield* suspects
  },
  recheck: (handles, at) => recheck(services, handles, at),
  async repair(tx, violations) {
    const { collections, outbox, stats } = services
    const { users } = collections
    const { session } = tx
    const those = (...problems: Problem[]) =>
      violations.flatMap(({ handle, problem }) =>
        problems.includes(problem) ? [handle as UserId] : [],
      )
    const [opened, spare, gone] = [
      those('NO_COUNTERS'),
      those('SPARE_COUNTERS'),
      those('NO_ACCOUNT'),
    ]
    if (opened.length > 0) {
      await stats.open(tx, opened)
      // The posts of these users were hidden.
      await raiseVersions(collections, changesOfAccounts(opened), tx)
    }
    if (spare.length > 0) await stats.close(tx, spare)
    if (gone.length > 0) {
      const now = new Date(services.now())
      await users.insertMany(
        gone.map((_id) => ({ _id, createdAt: now, deletedAt: now })),
        { session },
      )
    }
    const kind = deletionKind
    const jobs = those('NO_ACCOUNT', 'NO_JOB').map((user) => ({ kind, payload: { user } }))
    await outbox.enqueue(tx, jobs)
  },
})

async function recheck(services: IntegrityServices, handles: readonly string[], at: Tx) {
  const { users, user_stats, outbox } = services.collections
  const among = { _id: { $in: [...handles] } }
  const found = await users.find(among, { ...at }).toArray()
  const known = new Map(found.map((doc) => [doc._id, accountState(doc)]))
  const counting = await user_stats.find(among, { ...at, projection: { _id: 1 } }).toArray()
  const counted = new Set(counting.map(({ _id }) => _id))
  const kind = deletionKind
  const purge = { kind, 'payload.user': { $in: [...handles] } }
  const purges = await outbox.find(purge, { ...at }).toArray()
  const cleared = new Set(purges.map(({ payload }) => payload.user))
  const violations: AccountViolation[] = []
  let inFlight = 0
  for (const handle of handles) {
    const add = (problem: Problem, wrong: Omit<Discrepancy, 'subject'>) =>
      violations.push({
        handle,
        problem,
        finding: findingOf(invariant, { subject: handle, ...wrong }),
      })
    const account = known.get(handle)
    if (account === 'MALFORMED') continue
    const stats = counted.has(handle)
    const left = account ? '' : await storedUnder(services, handle, at)
    const spare = {
      kind: 'counters',
      expected: 'none without a live account',
      found: 'counters',
    } as const
    if (account === 'LIVE' && !stats) {
      const expected = 'the counters of a live account'
      add('NO_COUNTERS', { kind: 'counters', expected, found: 'none' })
    }
    if (account !== 'LIVE' && stats) {
      add('SPARE_COUNTERS', left ? { ...spare, unrepairable: lostAccount } : spare)
    }
    if (!account && left) {
      const wrong = { kind: 'no-account', expected: 'nothing without an account', found: left }
      add('NO_ACCOUNT', stats ? { ...wrong, unrepairable: lostAccount } : wrong)
    }
    if (account === 'LEAVING' && cleared.has(handle)) inFlight++
    else if (account === 'LEAVING') {
      add('NO_JOB', { kind: 'purge', expected: 'a job that clears it', found: 'none' })
    }
  }
  return { violations, inFlight }
}

const lostAccount =
  'The account document is lost. Restore it from a backup, or delete the counters. The next run then removes all data of the account.'

/** The kinds of data that a handle has, e.g. `followers, posts`. Three commands that read one key each. */
async function storedUnder(
  { collections: { posts }, edges }: IntegrityServices,
  handle: string,
  at: Tx,
): Promise<string> {
  const { followers, following } = edges
  const one = { ...at, projection: { _id: 1 } } as const
  const found: (Document | null)[] = [
    await followers.collection.findOne({ user: handle }, one),
    await following.collection.findOne({ [following.owner]: handle }, one),
    await posts.findOne({ author: handle }, one),
  ]
  return ['followers', 'following', 'posts'].filter((_, n) => found[n]).join(', ')
}

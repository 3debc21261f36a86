import type { UserDoc, UserStatsDoc } from '../../db/collections.ts'
import type { Collection, Document } from '../../db/mongo.ts'
import { conforms } from '../../db/shape.ts'
import { shapes } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import type { UserId } from '../../lib/ids.ts'
import { deletionKind } from '../../users/deletion.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Run, Verdict, Violation } from '../invariant.ts'
import { countersOf, type Difference, differenceOf } from '../ledger.ts'
import { mergeJoin } from '../merge-join.ts'
import { findNamed } from '../names.ts'
import { userRanges } from '../ranges.ts'
import { type Finding, findingOf } from '../report.ts'

const invariant = { name: 'accounts', law: 'L3' } as const

/** The counters of a user. */
const userCounters = ['followers', 'following', 'posts'] as const

/** The account and the counters of an id, and the numbers of documents that the counters count. */
interface CountedUser extends Partial<Readonly<Record<(typeof userCounters)[number], number>>> {
  readonly key: string
  /** MALFORMED: the invariant `document-shapes` names it. */
  readonly account?: 'LIVE' | 'LEAVING' | 'MALFORMED'
  readonly stats?: UserStatsDoc
}

/**
 * What a deleted account states that no document names. No account has an empty handle or subject.
 */
const noNames = { handle: '', subject: '' } as const

/** Documents that an id lacks, or has and should not have. */
type Problem = 'NO_COUNTERS' | 'NO_ACCOUNT' | 'SPARE_COUNTERS' | 'NO_JOB'

interface AccountViolation extends Violation {
  readonly id: string
  readonly problem?: Problem
}

/**
 * Law L3: exactly the live accounts have counters, which equal the numbers of stored edges and
 * posts. Edges and posts belong to an account. A deleted account has a job that deletes its data.
 * The range is a condition on an id. A scan is five commands, each over one range of an index, and
 * a check six.
 *
 * Edges and posts without an account are deleted like the data of a deleted account. If its
 * counters, its handle or its subject still exist, the account document is lost, and nothing is
 * deleted.
 */
export const accounts = (run: Run): Invariant<string, AccountViolation> => ({
  ...invariant,
  ranges: userRanges(run),
  async *scan(ids) {
    const { checked } = run.report
    for await (const user of countUsers(run, ids)) {
      checked.edges += user.followers ?? 0
      if (user.account === 'LIVE') checked.users++
      if (isSuspect(user)) yield user.key
    }
  },
  async check(ids, at, counts): Promise<Verdict<AccountViolation>> {
    const among = { $in: [...ids] }
    const purge = { kind: deletionKind, 'payload.user': among }
    const purges = await run.collections.outbox.find(purge, { ...at }).toArray()
    const leaving = new Set(purges.map(({ payload }) => payload.user))
    const violations: AccountViolation[] = []
    let inFlight = 0
    const users: CountedUser[] = []
    for await (const user of counts ? countUsers(run, among, at) : readUsers(run, ids, at)) {
      users.push(user)
    }
    const lost = users.filter(({ account, stats }) => !account && !stats).map(({ key }) => key)
    const named = await findNamed(run, lost, at)
    for (const user of users) {
      const known = { leaving, named }
      violations.push(...problemsOf(user, known), ...(counts ? wrongCounters(user) : []))
      if (user.account === 'LEAVING' && leaving.has(user.key)) inFlight++
    }
    return { violations, inFlight }
  },
  async repair(tx, violations) {
    const { collections, outbox, stats } = run
    const those = (...problems: Problem[]) =>
      violations.flatMap(({ id, problem }) =>
        problem && problems.includes(problem) ? [id as UserId] : [],
      )
    const [opened, spare] = [those('NO_COUNTERS'), those('SPARE_COUNTERS')]
    if (opened.length > 0) await stats.open(tx, opened)
    if (spare.length > 0) await stats.close(tx, spare)
    const now = new Date(run.now())
    const gone = those('NO_ACCOUNT').map((_id) => ({
      ...{ _id, ...noNames, createdAt: now, deletedAt: now },
    }))
    if (gone.length > 0) await collections.users.insertMany(gone, { session: tx.session })
    const jobs = those('NO_ACCOUNT', 'NO_JOB').map((user) => ({
      ...{ kind: deletionKind, payload: { user } },
    }))
    await outbox.enqueue(tx, jobs)
  },
})

export const checkAccounts: Check = walk(accounts)

/**
 * Whether an id needs a check. Every deleted account does, since the scan does not read its job.
 */
const isSuspect = (user: CountedUser): boolean =>
  user.account === 'LEAVING' ||
  problemsOf(user, { leaving: new Set(), named: new Set() }).length > 0 ||
  differenceIn(user) !== undefined

const lostAccount =
  'The account document is lost. Restore it from a backup, or delete the counters, the handle and the subject. The next run then removes all data of the account.'
const notDeleted =
  'Nothing but deletedAt says that the account is deleted. Remove it from users, or delete the counters.'

/** What the jobs and the documents of names say about accounts. */
interface KnownAccounts {
  /** The accounts with a job that clears them. */
  readonly leaving: ReadonlySet<unknown>
  /** The lost accounts that have a handle or a subject. */
  readonly named: ReadonlySet<string>
}

function problemsOf(user: CountedUser, { leaving, named }: KnownAccounts): AccountViolation[] {
  const { key: id, account, stats } = user
  const violations: AccountViolation[] = []
  const add = (problem: Problem, wrong: Omit<Finding, 'law' | 'invariant' | 'subject'>) =>
    violations.push({
      ...{ id, problem, finding: findingOf(invariant, { subject: id, ...wrong }) },
    })
  if (account === 'MALFORMED') return []
  const left = account ? '' : userCounters.filter((name) => user[name]).join(', ')
  const isLost = left !== '' && (stats !== undefined || named.has(id))
  const isStillThere = account === 'LEAVING' && stats && !leaving.has(id)
  const reason = isLost
    ? { unrepairable: lostAccount }
    : isStillThere
      ? { unrepairable: notDeleted }
      : {}
  if (account === 'LIVE' && !stats) {
    const expected = 'the counters of a live account'
    add('NO_COUNTERS', { kind: 'counters', expected, found: 'none' })
  }
  if (account !== 'LIVE' && stats) {
    const expected = 'none without a live account'
    add('SPARE_COUNTERS', { kind: 'counters', expected, found: 'counters', ...reason })
  }
  if (left) {
    const expected = 'nothing without an account'
    add('NO_ACCOUNT', { kind: 'no-account', expected, found: left, ...reason })
  }
  if (account === 'LEAVING' && !leaving.has(id)) {
    add('NO_JOB', { kind: 'purge', expected: 'a job that clears it', found: 'none', ...reason })
  }
  return violations
}

function differenceIn(user: CountedUser): Difference | undefined {
  const { key: id, account, stats } = user
  if (account !== 'LIVE' || !stats || !conforms(shapes.user_stats, stats)) return undefined
  return differenceOf(
    { kind: 'USER', id, repairs: stats.repairs ?? 0 },
    userCounters.map((name) => [name, stats[name], user[name] ?? 0]),
  )
}

/** The wrong counters of a live account, which are repaired together. */
function wrongCounters(user: CountedUser): AccountViolation[] {
  const [difference, { key: id }] = [differenceIn(user), user]
  if (!difference) return []
  return countersOf(difference).map(({ name: kind, expected, found }) => {
    const finding = findingOf(invariant, { kind, subject: id, expected, found })
    return { id, finding, difference }
  })
}

/** Whether an account is live, from its document. */
function accountState(doc: UserDoc): NonNullable<CountedUser['account']> {
  const { createdAt, deletedAt } = doc
  const dates = 'deletedAt' in doc ? [createdAt, deletedAt] : [createdAt]
  if (!dates.every((date) => date instanceof Date)) return 'MALFORMED'
  return deletedAt ? 'LEAVING' : 'LIVE'
}

/** The collections whose documents are counted, with the field that names the owner. */
const countedIn = ({
  collections: { posts },
  edges: { followers, following },
}: IntegrityServices) =>
  [
    { name: 'followers', collection: followers.collection, owner: 'user' },
    { name: 'following', collection: following.collection, owner: following.owner },
    { name: 'posts', collection: posts as unknown as Collection<Document>, owner: 'author' },
  ] as { name: (typeof userCounters)[number]; collection: Collection<Document>; owner: string }[]

/**
 * Yields every matching id that occurs in any of the collections, in order, with its counts. Holds
 * one id of each collection. Five commands, each over one range of an index.
 * @param ids a condition on an id.
 */
export const countUsers = (
  services: IntegrityServices,
  ids: object,
  at?: Tx,
): AsyncGenerator<CountedUser> =>
  mergeJoin([...documents(services, ids, at), ...countedIn(services).map(count(ids, at))])

/**
 * As {@link countUsers}, without counts: whether there is a document. Two commands, and three for
 * each lost account.
 */
async function* readUsers(
  services: IntegrityServices,
  ids: readonly string[],
  at: Tx,
): AsyncGenerator<CountedUser> {
  const counted = new Map<string, CountedUser>()
  for await (const user of mergeJoin(documents(services, { $in: [...ids] }, at))) {
    counted.set(user.key, user)
  }
  for (const key of new Set(ids)) {
    let user: CountedUser = counted.get(key) ?? { key }
    for (const { name, collection, owner } of user.account ? [] : countedIn(services)) {
      const first = await collection.findOne({ [owner]: key }, { ...at, projection: { _id: 1 } })
      if (first) user = { ...user, [name]: 1 }
    }
    yield user
  }
}

function documents(
  { collections: { users, user_stats } }: IntegrityServices,
  ids: object,
  at: Tx | undefined,
): AsyncIterable<CountedUser>[] {
  async function* stored(): AsyncGenerator<CountedUser> {
    for await (const doc of users.find({ _id: ids }, { ...at }).sort({ _id: 1 })) {
      yield { key: doc._id, account: accountState(doc) }
    }
  }
  async function* counters(): AsyncGenerator<CountedUser> {
    const found = user_stats.find({ _id: ids }, { ...at }).sort({ _id: 1 })
    for await (const stats of found) yield { key: stats._id, stats }
  }
  return [stored(), counters()]
}

/** Counts by owner, over the index alone. */
const count = (ids: object, at: Tx | undefined) =>
  async function* ({
    name,
    collection,
    owner,
  }: ReturnType<typeof countedIn>[number]): AsyncGenerator<CountedUser> {
    const counts = collection.aggregate<{ _id: string; count: number }>(
      [
        { $match: { [owner]: ids } },
        { $group: { _id: `$${owner}`, count: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ],
      { ...at },
    )
    for await (const { _id, count } of counts) {
      // An array of ids matches a condition on an id.
      if (typeof _id === 'string') yield { key: _id, [name]: count }
    }
  }

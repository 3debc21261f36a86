import { conforms } from '../../db/shape.ts'
import { shapes } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { batches } from '../../lib/batch.ts'
import { walk } from '../inspect.ts'
import type { Check, Invariant, Run, Violation } from '../invariant.ts'
import {
  type Claims,
  type Holder,
  isNamed,
  isSettled,
  readClaims,
  readHolders,
} from '../name-holders.ts'
import {
  hasEnded,
  isName,
  isReadable,
  keptHandles,
  type NameDoc,
  type NamedAccount,
  type NamingCollection,
  namedProjection,
  naming,
  namingCollections,
  openNames,
  readAccounts,
  readNames,
  statedName,
  states,
} from '../names.ts'
import { idRanges, userRanges } from '../ranges.ts'
import { findingOf } from '../report.ts'

const invariant = { name: 'handles-and-subjects', law: 'L6' } as const

/** Number of documents that a scan compares at a time. */
const [accountsAtOnce, namesAtOnce] = [500, 1_000]

/**
 * A former handle that is kept for less than this, in milliseconds, may have been removed by the
 * server already.
 */
const endingMs = 60_000

/** A name that an account has, or keeps until a time. */
interface Name {
  readonly key: string
  readonly account: string
  readonly until?: Date | undefined
}

/**
 * What a repair writes: the document of a name, and also the account if it does not state the name.
 */
interface Change extends Name {
  readonly collection: NamingCollection
  readonly isStated: boolean
}

interface NameViolation extends Violation {
  /** Undefined: a person decides. */
  readonly change?: Change | undefined
}

/** Everything that decides about the names of some accounts, as it was read at once. */
interface Evidence {
  readonly run: Run
  readonly collection: NamingCollection
  readonly docs: ReadonlyMap<string, NameDoc>
  /** The accounts that documents name. Those of their names are in `docs` too. */
  readonly holders: ReadonlyMap<string, Holder>
  readonly claims: Claims
}

const reasons = {
  shared:
    'Two accounts have it. Give one of them another one in users: the next run stores what is missing.',
  lost: 'The document of the account that it names is lost or malformed. Restore or correct it first.',
  doubtful: 'The account that it names may have no other one. Correct one of the documents.',
  unknown: 'No document names the account alone. Write into users what it has.',
  malformed: 'A malformed document names the account. Correct it first.',
  contradicted: 'Other documents name the account too. Correct users, or delete what is wrong.',
  spare: 'An account has it beside its own one. Write it into users, or delete the document.',
}

/**
 * Law L6: the handle, the former handles and the subject of each live account name it. The range is
 * a condition on the id of an account. A scan is three commands for each 500 accounts, and a check
 * up to eleven.
 *
 * The repair writes the document of a name that the account states, unless the name may belong to
 * another account. If exactly one document names an account that states no name, it writes the name
 * into the account. It collides with a rename, a registration and the end of an account, which
 * write the same documents. A replacement by an equal document is a write.
 */
const namedAccounts = (run: Run): Invariant<string, NameViolation> => ({
  ...invariant,
  ranges: userRanges(run),
  async *scan(ids) {
    const { users } = run.collections
    const accounts = users.find({ _id: ids }, { projection: namedProjection }).sort({ _id: 1 })
    for await (const batch of batches(accounts, accountsAtOnce)) {
      const wrong = new Map((await readWrong(run, batch)).map((one) => [one.account, one]))
      yield* wrong.keys()
    }
  },
  async check(ids, at) {
    const accounts = await readAccounts(run, ids, at)
    return { violations: await readWrong(run, [...accounts.values()], at) }
  },
  repair: (tx, violations) => writeNames(run, tx, violations),
})

/**
 * Law L6: a handle and a subject belong to an account that states them. The range is a condition on
 * a handle or a subject. A scan is up to three commands for each 1,000 of them, and a check up to
 * nine. The repair deletes the document of a name that belongs to no account, and so frees it. It
 * writes a former handle into the account that it names. It collides with what would give the name
 * to an account.
 */
const ownedNames =
  (collection: NamingCollection) =>
  (run: Run): Invariant<string, SpareViolation> => ({
    ...invariant,
    ranges: idRanges(openNames(run, collection) as never, namesAtOnce, ''),
    async *scan(keys) {
      const docs = openNames(run, collection).find({ _id: keys } as object)
      for await (const batch of batches(docs, namesAtOnce)) {
        for (const { key } of await readSpare(run, collection, batch)) yield key
      }
    },
    async check(keys, at) {
      const docs = await readNames(run, collection, keys, at)
      return { violations: await readSpare(run, collection, [...docs.values()], at) }
    },
    async repair(tx, violations) {
      const spare = violations.filter(({ change }) => !change)
      const _id = { $in: spare.map(({ key }) => key) }
      await openNames(run, collection).deleteMany({ _id }, { session: tx.session })
      await writeNames(run, tx, violations)
    },
  })

/**
 * Checks that names and accounts agree, from both sides. Accounts come first: what they lack may
 * name another account.
 */
export const checkHandlesAndSubjects: Check = async (run) => {
  await walk(namedAccounts)(run)
  for (const collection of namingCollections) await walk(ownedNames(collection))(run)
}

type AccountViolation = NameViolation & { readonly account: string }

/**
 * What is wrong with the names of the live accounts among some. Two commands, and more for those
 * whose names are in doubt.
 */
async function readWrong(
  run: Run,
  accounts: readonly NamedAccount[],
  at?: Tx,
): Promise<AccountViolation[]> {
  const live = accounts.filter((account) => isReadable(account) && !account.deletedAt)
  const wrong: AccountViolation[] = []
  for (const collection of live.length > 0 ? namingCollections : []) {
    const evidence = await readEvidence(run, collection, live, at)
    for (const account of live) {
      for (const problem of [wrongName(evidence, account), ...wrongFormer(evidence, account)]) {
        if (problem) wrong.push(violationOf(evidence, account, problem))
      }
    }
  }
  return wrong
}

/**
 * What decides about the names of some accounts. Four commands. More if documents name other
 * accounts, or none.
 */
async function readEvidence(
  run: Run,
  collection: NamingCollection,
  accounts: readonly NamedAccount[],
  at?: Tx,
): Promise<Evidence> {
  const keysOf = (account: NamedAccount) => {
    const former = collection === 'handles' ? keptHandles(account, run.now()) : []
    return [statedName(collection, account) ?? [], ...former.map(({ handle }) => handle)].flat()
  }
  const docs = await readNames(run, collection, accounts.flatMap(keysOf), at)
  const doubtful = accounts.filter((account) => !isSettled(collection, account, docs))
  const ids = doubtful.map(({ _id }) => _id)
  const claims = await readClaims(run, collection, { accounts: ids }, at)
  const others = accounts.flatMap((account) =>
    keysOf(account).flatMap((key) => {
      const doc = docs.get(key)
      return doc && doc.account !== account._id ? doc.account : []
    }),
  )
  const holders = await readHolders(run, others, at)
  const theirKeys = [...holders.values()].flatMap((one) => (one === 'UNKNOWN' ? [] : keysOf(one)))
  const theirs = await readNames(run, collection, theirKeys, at)
  return { run, collection, docs: new Map([...docs, ...theirs]), holders, claims }
}

/** What is wrong with a name of an account. A person decides if it has a reason. */
interface Problem {
  readonly name?: Pick<Name, 'key' | 'until'>
  readonly isStated: boolean
  readonly reason?: string | undefined
}

/** What is wrong with the handle or the subject of a live account. */
function wrongName(evidence: Evidence, account: NamedAccount): Problem | undefined {
  const { collection, docs, claims } = evidence
  if (isSettled(collection, account, docs)) return undefined
  const stated = statedName(collection, account)
  const doc = docs.get(stated ?? '')
  if (doc && isMalformed(collection, doc)) return undefined
  const name = isName(collection, stated) ? { key: stated } : undefined
  const [other, ...more] = claims.namesOf(account)
  if (other === undefined) {
    if (claims.isInDoubt(account)) return { isStated: true, reason: reasons.malformed }
    if (name) return { name, isStated: true, reason: reasonAgainst(evidence, account, name.key) }
    return { isStated: true, reason: reasons.unknown }
  }
  const reason = name && reasonAgainst(evidence, account, name.key)
  const isFalse = !name || reason === reasons.shared
  if (isFalse && more.length === 0 && !claims.hasRival(other, account._id)) {
    return { name: { key: other }, isStated: false }
  }
  // Another person may have the subject, but no one else has a handle that is free.
  const isFree = collection === 'handles' && name && !isFalse && !reason
  if (isFree) return { name, isStated: true }
  return { ...(name && { name }), isStated: true, reason: reason ?? reasons.contradicted }
}

/** What is wrong with the handles that a live account keeps. */
function wrongFormer(evidence: Evidence, account: NamedAccount): Problem[] {
  const { run, collection, docs } = evidence
  if (collection === 'subjects') return []
  const ending = run.now() + endingMs
  const kept = keptHandles(account, run.now()).filter(({ until }) => until.getTime() > ending)
  return kept.flatMap(({ handle: key, until }) => {
    const doc = docs.get(key)
    if (doc?.account !== account._id) {
      if (doc && isMalformed(collection, doc)) return []
      const reason = reasonAgainst(evidence, account, key)
      return [{ name: { key, until }, isStated: true, reason }]
    }
    if (isMalformed(collection, doc) || doc.until?.getTime() === until.getTime()) return []
    // Without its own handle, the account may have this one.
    if (!doc.until)
      return isNamed(collection, account, docs) ? [{ name: { key, until }, isStated: true }] : []
    const isLater = doc.until > until
    return [{ name: { key, until: isLater ? doc.until : until }, isStated: !isLater }]
  })
}

const isMalformed = (collection: NamingCollection, doc: NameDoc): boolean =>
  !conforms(shapes[collection], doc)

/** Why the document of a name may not be written for an account. */
function reasonAgainst(
  { run, collection, docs, holders }: Evidence,
  account: NamedAccount,
  key: string,
): string | undefined {
  const doc = docs.get(key)
  if (!doc || doc.account === account._id || hasEnded(doc, run.now())) return undefined
  const holder = holders.get(doc.account)
  if (!holder) return undefined
  if (holder === 'UNKNOWN') return reasons.lost
  if (states(collection, holder, key, run.now())) return reasons.shared
  const hasOther = holder.deletedAt || isSettled(collection, holder, docs)
  return hasOther ? undefined : reasons.doubtful
}

function violationOf(
  { collection, docs, claims }: Evidence,
  account: NamedAccount,
  { name, isStated, reason }: Problem,
): AccountViolation {
  const { _id: id } = account
  const kind = naming[collection]
  const doc = name && docs.get(name.key)
  const others = claims.namesOf(account).map(quoted)
  const stored = isStated
    ? doc
      ? describe(doc)
      : others.join(', ') || 'none'
    : `${JSON.stringify(account[kind]) ?? 'none'} in users`
  const finding = findingOf(invariant, {
    ...{ kind, subject: name ? `${id} ${quoted(name.key)}` : id, found: stored },
    expected: name ? describe({ account: id, until: name.until }) : `a ${kind}`,
    ...(reason && { unrepairable: reason }),
  })
  const change = name && { collection, account: id, isStated, ...name }
  return { account: id, finding, change }
}

type SpareViolation = NameViolation & { readonly key: string }

/** Documents whose names no live account states. One command, and more if there are any. */
async function readSpare(
  run: Run,
  collection: NamingCollection,
  all: readonly NameDoc[],
  at?: Tx,
): Promise<SpareViolation[]> {
  const now = run.now()
  const docs = all.filter((doc) => !isMalformed(collection, doc) && isBinding(collection, doc, now))
  const holders = await readHolders(
    run,
    docs.map(({ account }) => account),
    at,
  )
  const spare = docs.filter(({ _id, account, until }) => {
    const holder = holders.get(account)
    if (!holder) return collection === 'handles' || !until
    return holder !== 'UNKNOWN' && !holder.deletedAt && !states(collection, holder, _id, now)
  })
  if (spare.length === 0) return []
  const holding = spare.flatMap(({ account }) => {
    const holder = holders.get(account)
    return holder && holder !== 'UNKNOWN' ? [holder] : []
  })
  const keys = holding.flatMap((one) => statedName(collection, one) ?? [])
  const theirs = await readNames(run, collection, keys, at)
  const names = spare.map(({ _id }) => _id)
  const claims = await readClaims(run, collection, { keys: names }, at)
  return spare.flatMap(({ _id: key, account, until }) => {
    const holder = holders.get(account) as NamedAccount | undefined
    // The account that states it is wrong, or the one that it names.
    if (claims.hasRival(key, account)) return []
    if (holder && !isNamed(collection, holder, theirs)) return []
    const kind = naming[collection]
    const isKept = holder && collection === 'handles' && until
    const finding = findingOf(invariant, {
      ...{ kind: `spare-${kind}`, subject: quoted(key), found: describe({ account, until }) },
      expected: holder ? `a ${kind} of ${account}` : 'none without an account',
      ...(holder && !isKept && { unrepairable: reasons.spare }),
    })
    return [
      {
        key,
        finding,
        ...(isKept && { change: { collection, key, account, until, isStated: false } }),
      },
    ]
  })
}

/** Whether a document keeps its name from other accounts. */
const isBinding = (collection: NamingCollection, doc: NameDoc, now: number): boolean =>
  collection === 'subjects' || !hasEnded(doc, now)

/** Writes names. Two commands for each collection, and two more if accounts do not state them. */
async function writeNames(run: Run, tx: Tx, violations: readonly NameViolation[]): Promise<void> {
  const { session } = tx
  const changes = violations.flatMap(({ change }) => change ?? [])
  for (const collection of namingCollections) {
    const operations = changes
      .filter((change) => change.collection === collection)
      .map(({ key, account, until }) => ({
        replaceOne: {
          filter: { _id: key },
          replacement: { account, ...(until && { until }) },
          upsert: true,
        },
      }))
    if (operations.length > 0) await openNames(run, collection).bulkWrite(operations, { session })
  }
  const unstated = changes.filter(({ isStated }) => !isStated)
  if (unstated.length === 0) return
  await run.collections.users.bulkWrite(
    unstated.map(({ account, ...change }) => ({
      updateOne: { filter: { _id: account }, update: [{ $set: stateName(change) }] },
    })),
    { session },
  )
}

/** The fields of an account that states a name from now on. */
function stateName({ collection, key, until }: Omit<Change, 'account'>): object {
  if (!until) return { [naming[collection]]: { $literal: key } }
  const others = {
    $filter: {
      input: { $ifNull: ['$formerHandles', []] },
      cond: { $ne: ['$$this.handle', { $literal: key }] },
    },
  }
  return { formerHandles: { $concatArrays: [others, [{ handle: { $literal: key }, until }]] } }
}

const describe = ({ account, until }: Pick<Name, 'account' | 'until'>): string =>
  until ? `${account} until ${until.toISOString()}` : account

const quoted = (key: string): string => JSON.stringify(key)

import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { type Handle, mintUserId, parseHandle, type UserId } from '../lib/ids.ts'
import { hasAccount } from '../users/profile.ts'
import { subjectKey, subjectKeys, subjectOfKey } from '../users/subjects.ts'
import type { NamedBy, UserName } from './user-names.ts'

/** A pair of users as a file names them. */
export interface NamedPair {
  readonly follower: UserName
  readonly followee: UserName
}

/** The accounts of a batch of pairs. */
export interface ImportAccounts {
  /** The account of each name that has one, or gets one. */
  readonly ids: ReadonlyMap<UserName, UserId>
  /** The names that get an account. Each becomes its handle. */
  readonly opened: ReadonlySet<Handle>
  /** Subjects without an account that are no free handle. */
  readonly unknown: ReadonlySet<UserName>
}

type AccountCollections = Pick<Collections, 'handles' | 'subjects' | 'users'>

const namesOf = (pairs: readonly NamedPair[]): Set<UserName> =>
  new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))

/** Whether both names of a pair are in a set. */
export const bothIn = (
  { follower, followee }: NamedPair,
  names: Pick<ReadonlySet<UserName>, 'has'>,
): boolean => names.has(follower) && names.has(followee)

/**
 * Finds the accounts of pairs, and mints ids for those that are missing: of handles, and of subjects that are free
 * handles. A pair with a deleted user opens no account: a handle is not free until the purge of its account ends. Neither
 * does a handle that an account keeps after it gave it up, or that a process of an earlier release left behind. Two
 * commands, one if no name belongs to an account, none without pairs; one more if subjects have no account.
 */
export async function findImportAccounts(
  collections: AccountCollections,
  tx: Tx,
  pairs: readonly NamedPair[],
  namedBy: NamedBy,
): Promise<ImportAccounts> {
  const ids = new Map<UserName, UserId>()
  const named = namesOf(pairs)
  if (named.size === 0) return { ids, opened: new Set(), unknown: new Set() }
  const owners = await findOwners(collections, tx, named, namedBy)
  const living = await findLiving(collections, tx, owners)
  const missing = new Set(named)
  for (const { name, account, until } of owners) {
    missing.delete(name)
    if (until === undefined && living.has(account) && !ids.has(name))
      ids.set(name, account as UserId)
  }
  const free = namedBy === undefined ? missing : await findFree(collections, tx, missing)
  const exists = { has: (name: UserName) => ids.has(name) || free.has(name) }
  const needed = namesOf(pairs.filter((pair) => bothIn(pair, exists)))
  const opened = new Set([...free].filter((name): name is Handle => needed.has(name)))
  for (const name of opened) ids.set(name, mintUserId())
  return { ids, opened, unknown: new Set([...missing].filter((name) => !free.has(name))) }
}

interface NameOwner {
  readonly name: UserName
  readonly account: string
  readonly until?: Date
}

/** An index entry or two for each name, all in one answer. */
const optionsFor = ({ session }: Tx, names: Iterable<string>) => ({
  session,
  batchSize: 2 * [...names].length + 1,
})

/** The accounts that have names or keep them. If a subject has two, the one that it signs in to is first. One command. */
async function findOwners(
  { handles, subjects }: AccountCollections,
  tx: Tx,
  names: ReadonlySet<UserName>,
  namedBy: NamedBy,
): Promise<readonly NameOwner[]> {
  const options = optionsFor(tx, names)
  if (namedBy === undefined) {
    const docs = await handles.find({ _id: { $in: [...names] } }, options).toArray()
    return docs.map(({ _id, ...doc }) => ({ ...doc, name: _id }))
  }
  const keys = [...names].flatMap((sub) => subjectKeys({ ...namedBy, sub }))
  const docs = await subjects.find({ _id: { $in: keys } }, options).toArray()
  const byKey = new Map(docs.map((doc) => [doc._id, doc]))
  return keys.flatMap((key) => {
    const doc = byKey.get(key)
    return doc ? [{ ...doc, name: subjectOfKey(key).sub }] : []
  })
}

async function findLiving(
  { users }: AccountCollections,
  tx: Tx,
  owners: readonly NameOwner[],
): Promise<ReadonlySet<string>> {
  if (owners.length === 0) return new Set()
  const accounts = owners.map(({ account }) => account as UserId)
  const options = { ...optionsFor(tx, accounts), projection: { _id: 1 } }
  const docs = await users.find(hasAccount(accounts), options).toArray()
  return new Set(docs.map(({ _id }) => _id))
}

/** Which subjects are handles of no account. One command. None without handles. */
async function findFree(
  { handles }: AccountCollections,
  tx: Tx,
  subjects: ReadonlySet<UserName>,
): Promise<ReadonlySet<UserName>> {
  const possible = [...subjects].filter((sub) => parseHandle(sub) !== undefined)
  if (possible.length === 0) return new Set()
  const docs = await handles.find({ _id: { $in: possible } }, optionsFor(tx, possible)).toArray()
  const taken = new Set(docs.map(({ _id }) => _id))
  return new Set(possible.filter((sub) => !taken.has(sub)))
}

/**
 * Stores new accounts with their handles, in the caller's transaction. Each belongs to the subject that is its handle, of
 * the issuer whose subjects the file names or else of the main issuer, unless that subject has an account. Four commands.
 * The counters are opened by the caller.
 */
export async function insertImportAccounts(
  { handles, subjects, users }: AccountCollections,
  { session }: Tx,
  { ids, opened }: ImportAccounts,
  { createdAt, namedBy }: { readonly createdAt: Date; readonly namedBy: NamedBy },
): Promise<void> {
  const { issuer } = namedBy ?? { issuer: '' }
  const accounts = [...opened].map((handle) => {
    const subject = subjectKey({ issuer, sub: handle })
    return { handle, account: ids.get(handle) as UserId, subject }
  })
  const keys = accounts.map(({ subject }) => subject)
  const taken = await subjects
    .find({ _id: { $in: keys } }, { session, batchSize: keys.length + 1 })
    .toArray()
  const takenKeys = new Set(taken.map(({ _id }) => _id))
  const hasSubject = ({ subject }: { readonly subject: string }) => !takenKeys.has(subject)
  await handles.insertMany(
    accounts.map(({ handle, account }) => ({ _id: handle, account })),
    { session },
  )
  const signing = accounts.filter(hasSubject)
  if (signing.length > 0)
    await subjects.insertMany(
      signing.map(({ subject, account }) => ({ _id: subject, account })),
      { session },
    )
  await users.insertMany(
    accounts.map((one) => ({
      ...{ _id: one.account, handle: one.handle, name: one.handle, createdAt },
      ...(hasSubject(one) && { subject: one.subject }),
    })),
    { session },
  )
}

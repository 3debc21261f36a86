import type { Collections } from '../../src/db/collections.ts'
import type { Tx } from '../../src/db/transaction.ts'
import { type Handle, mintUserId, parseHandle, type UserId } from '../../src/lib/ids.ts'
import { hasAccount } from '../../src/users/profile.ts'
import { subjectKey, subjectKeys, subjectOfKey } from '../../src/users/subjects.ts'
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
  /**
   * Names without an account that are no free handle, or whose subject belongs to another account.
   */
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
 * Finds the accounts of pairs, and mints ids for those that are missing. Both the handle and the
 * subject of a new account are free. A pair with a deleted user opens no account: a handle is not
 * free until the purge of its account ends. Neither does a handle that an account keeps after it
 * gave it up, or whose account is lost. Two commands, one if no name belongs to an account, none
 * without pairs; one more if names have no account.
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
  const free = await findFree(collections, tx, missing, namedBy)
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

/**
 * The accounts that have names or keep them. If a subject has two, the one that it signs in to is
 * first. One command.
 */
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

/**
 * Which names without an account are free both as a handle and as a subject. One command. None
 * without handles.
 */
async function findFree(
  { handles, subjects }: AccountCollections,
  tx: Tx,
  names: ReadonlySet<UserName>,
  namedBy: NamedBy,
): Promise<ReadonlySet<UserName>> {
  const possible = [...names].filter((name) => parseHandle(name) !== undefined)
  if (possible.length === 0) return new Set()
  // No document has them as what the file names them by.
  const isByHandle = namedBy === undefined
  const keys = isByHandle ? possible.map((name) => subjectOfNew(name, namedBy)) : possible
  const docs = await (isByHandle ? subjects : handles)
    .find({ _id: { $in: keys } }, optionsFor(tx, keys))
    .toArray()
  const taken = new Set(docs.map(({ _id }) => _id))
  return new Set(possible.filter((_, at) => !taken.has(keys[at] as string)))
}

/**
 * The subject that is the handle of a new account: of the issuer of the file, or else of the main
 * issuer.
 */
const subjectOfNew = (handle: string, namedBy: NamedBy): string =>
  subjectKey({ issuer: namedBy?.issuer ?? '', sub: handle })

/**
 * Stores new accounts with their handles and subjects, in the caller's transaction. Three commands.
 * The counters are opened by the caller.
 */
export async function insertImportAccounts(
  { handles, subjects, users }: AccountCollections,
  { session }: Tx,
  { ids, opened }: ImportAccounts,
  { createdAt, namedBy }: { readonly createdAt: Date; readonly namedBy: NamedBy },
): Promise<void> {
  const accounts = [...opened].map((handle) => {
    const account = ids.get(handle) as UserId
    return { _id: account, handle, subject: subjectOfNew(handle, namedBy), name: handle, createdAt }
  })
  await handles.insertMany(
    accounts.map(({ handle, _id: account }) => ({ _id: handle, account })),
    { session },
  )
  await subjects.insertMany(
    accounts.map(({ subject, _id: account }) => ({ _id: subject, account })),
    { session },
  )
  await users.insertMany(accounts, { session })
}

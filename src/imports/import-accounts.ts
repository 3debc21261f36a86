import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { type Handle, mintUserId, type UserId } from '../lib/ids.ts'
import { hasAccount } from '../users/profile.ts'
import { subjectKey } from '../users/subjects.ts'

/** A pair of users as a file names them. */
export interface NamedPair {
  readonly follower: Handle
  readonly followee: Handle
}

/** The accounts of a batch of pairs. */
export interface ImportAccounts {
  /** The account of each handle that has one, or gets one. */
  readonly ids: ReadonlyMap<Handle, UserId>
  /** The handles that get an account. */
  readonly opened: ReadonlySet<Handle>
}

const handlesOf = (pairs: readonly NamedPair[]): Set<Handle> =>
  new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))

/** Whether both handles of a pair are in a set. */
export const bothIn = (
  { follower, followee }: NamedPair,
  handles: Pick<ReadonlySet<Handle>, 'has'>,
): boolean => handles.has(follower) && handles.has(followee)

/**
 * Finds the accounts of pairs, and mints ids for those that are missing. A pair with a deleted user opens no account: a
 * handle is not free until the purge of its account ends. Neither does a handle that an account keeps after it gave it
 * up, or that a process of an earlier release left behind. Two commands, one if no handle belongs to an account, none
 * without pairs.
 */
export async function findImportAccounts(
  { handles, users }: Pick<Collections, 'handles' | 'users'>,
  { session }: Tx,
  pairs: readonly NamedPair[],
): Promise<ImportAccounts> {
  const ids = new Map<Handle, UserId>()
  const named = handlesOf(pairs)
  if (named.size === 0) return { ids, opened: new Set() }
  // All in one answer.
  const options = { session, batchSize: named.size + 1 }
  const docs = await handles.find({ _id: { $in: [...named] } }, options).toArray()
  const owners = docs.map(({ account }) => account as UserId)
  const present =
    owners.length === 0
      ? []
      : await users.find(hasAccount(owners), { ...options, projection: { _id: 1 } }).toArray()
  const living = new Set(present.map(({ _id }) => _id))
  const free = new Set(named)
  for (const { _id, account, until } of docs) {
    free.delete(_id as Handle)
    if (until === undefined && living.has(account)) ids.set(_id as Handle, account as UserId)
  }
  const exists = { has: (handle: Handle) => ids.has(handle) || free.has(handle) }
  const needed = handlesOf(pairs.filter((pair) => bothIn(pair, exists)))
  const opened = new Set([...free].filter((handle) => needed.has(handle)))
  for (const handle of opened) ids.set(handle, mintUserId())
  return { ids, opened }
}

/**
 * Stores new accounts with their handles, in the caller's transaction. Each belongs to the subject of the main issuer that
 * is its handle, unless that subject has an account. Four commands. The counters are opened by the caller.
 */
export async function insertImportAccounts(
  { handles, subjects, users }: Pick<Collections, 'handles' | 'subjects' | 'users'>,
  { session }: Tx,
  { ids, opened }: ImportAccounts,
  createdAt: Date,
): Promise<void> {
  const accounts = [...opened].map((handle) => {
    const subject = subjectKey({ issuer: '', sub: handle })
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

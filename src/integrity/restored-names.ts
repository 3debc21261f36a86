import type { FormerHandle, UserDoc } from '../db/collections.ts'
import type { Document } from '../db/mongo.ts'
import { wrongFields } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import type { Run } from './invariant.ts'
import { type Claims, readClaims, readHolders } from './name-holders.ts'
import {
  findDoubtfulNames,
  isReadable,
  keptHandles,
  type NamedAccount,
  type NamingCollection,
  naming,
  namingCollections,
  readAccounts,
  statedFormerHandles,
  statedName,
  states,
} from './names.ts'

/**
 * What a malformed document of a name becomes: what the only account that states the name says. Up
 * to nine commands.
 * @returns DELETE if it names no one: the `_id` is no text, or the account that it names does not
 *   exist and no other states the name. Undefined if a person must decide: no one may get the name
 *   before.
 */
export async function restoreNameDoc(
  run: Run,
  collection: NamingCollection,
  { _id: key, account: named }: Document,
  at: Tx,
): Promise<Document | 'DELETE' | undefined> {
  if (typeof key !== 'string') return 'DELETE'
  const now = run.now()
  const { statedBy } = await findDoubtfulNames(run, collection)
  const accounts = await readAccounts(run, statedBy.get(key) ?? [], at)
  const [account, ...others] = [...accounts.values()].filter((one) =>
    states(collection, one, key, now),
  )
  const holder = (await readHolders(run, [named], at)).get(named)
  if (!account) return typeof named === 'string' && !holder ? 'DELETE' : undefined
  if (others.length > 0 || account.deletedAt || !isReadable(account)) return undefined
  const { _id: id } = account
  if (holder && named !== id) return undefined
  const former = keptHandles(account, now).find(({ handle }) => handle === key)
  if (collection === 'handles' && former) return { _id: key, account: id, until: former.until }
  const claims = await readClaims(run, collection, { accounts: [id] }, at)
  return claims.namesOf(account).length > 0 ? undefined : { _id: key, account: id }
}

/**
 * The malformed names of an account as other documents say: the handle and the subject that exactly
 * one document gives it, and the former handles that documents keep for it. Four commands, after
 * the names in doubt were found.
 * @returns the changed fields, without those that are right. Undefined if a person must decide.
 */
export async function restoreNames(
  run: Run,
  doc: Document,
  at: Tx,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const account = doc as UserDoc
  const wrong = new Set(wrongFields('users', doc))
  const fields: Record<string, unknown> = {}
  for (const collection of namingCollections) {
    const field = naming[collection]
    const claims = await readClaims(run, collection, { accounts: [account._id] }, at)
    if (wrong.has(field)) {
      const [name, ...others] = claims.namesOf(account)
      if (name === undefined || others.length > 0) return undefined
      if (claims.hasRival(name, account._id)) return undefined
      fields[field] = name
    }
    if (collection === 'handles' && wrong.has('formerHandles')) {
      const former = restoreFormerHandles(account, claims)
      if (!former) return undefined
      fields.formerHandles = former.length > 0 ? former : undefined
    }
  }
  return fields
}

/**
 * The former handles of an account: those that can be read, and those that documents keep for it.
 */
function restoreFormerHandles(
  account: NamedAccount,
  claims: Claims,
): readonly FormerHandle[] | undefined {
  const stated = statedFormerHandles(account)
  const listed = new Set([...stated.map(({ handle }) => handle), statedName('handles', account)])
  const kept = claims
    .keptFor(account)
    .flatMap(({ _id: handle, until }) => (until && !listed.has(handle) ? [{ handle, until }] : []))
  if (kept.some(({ handle }) => claims.hasRival(handle, account._id))) return undefined
  const all: readonly unknown[] = Array.isArray(account.formerHandles) ? account.formerHandles : []
  const lost = all.filter((former) => !stated.includes(former as FormerHandle))
  const handles = new Set(kept.map(({ handle }) => handle))
  const isKept = (former: unknown) => {
    const handle: unknown = (former as Partial<FormerHandle> | null)?.handle
    return typeof handle !== 'string' || listed.has(handle) || handles.has(handle)
  }
  // Each entry that cannot be read is one of those that documents keep.
  return lost.length <= kept.length && lost.every(isKept) ? [...stated, ...kept] : undefined
}

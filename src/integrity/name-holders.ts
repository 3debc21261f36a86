import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import type { Run } from './invariant.ts'
import { countUsers } from './invariants/accounts.ts'
import {
  type DoubtfulNames,
  findDoubtfulNames,
  hasEnded,
  isName,
  isReadable,
  keptHandles,
  mayKeep,
  type NameDoc,
  type NamedAccount,
  type NamingCollection,
  readAccounts,
  readNames,
  statedName,
  states,
} from './names.ts'

/**
 * What the account of a name stores. UNKNOWN: its document is malformed, or lost while its
 * counters, edges or posts are there.
 */
export type Holder = NamedAccount | 'UNKNOWN'

/**
 * The accounts among some that exist, or may exist. One command, five more if a document is
 * missing, none without ids.
 */
export async function readHolders(
  run: Run,
  ids: readonly unknown[],
  at?: Tx,
): Promise<ReadonlyMap<string, Holder>> {
  const holders = new Map<string, Holder>()
  for (const [id, account] of await readAccounts(run, ids, at)) {
    holders.set(id, isReadable(account) ? account : 'UNKNOWN')
  }
  const missing = [...new Set(ids)].filter((id) => typeof id === 'string' && !holders.has(id))
  if (missing.length === 0) return holders
  for await (const { key } of countUsers(run, { $in: missing }, at)) holders.set(key, 'UNKNOWN')
  return holders
}

/** Whether the document of the name that an account states names the account, also until a time. */
export function isNamed(
  collection: NamingCollection,
  account: NamedAccount,
  docs: ReadonlyMap<string, NameDoc>,
): boolean {
  const doc = docs.get(statedName(collection, account) ?? '')
  return doc !== undefined && names(collection, doc, account._id)
}

/** As {@link isNamed}, without a time. */
export const isSettled = (
  collection: NamingCollection,
  account: NamedAccount,
  docs: ReadonlyMap<string, NameDoc>,
): boolean =>
  isNamed(collection, account, docs) &&
  docs.get(statedName(collection, account) ?? '')?.until === undefined

/** Whether a document gives its name to an account. */
const names = (collection: NamingCollection, doc: NameDoc, id: string): boolean =>
  doc.account === id && conforms(shapes[collection], doc)

/**
 * The names in doubt of some accounts: what accounts and documents say about them, read at once.
 */
export interface Claims {
  /** Names that documents give to an account as its own, and that it does not state. */
  namesOf(account: NamedAccount): readonly string[]
  /** Handles that documents keep for an account, and that it does not state. */
  keptFor(account: NamedAccount): readonly NameDoc[]
  /** Whether a malformed document names an account. */
  isInDoubt(account: NamedAccount): boolean
  /** Whether another account states a name, or may state it. */
  hasRival(key: string, account: string): boolean
}

/** The accounts and the names that {@link Claims} are about. */
interface ClaimsAsked {
  readonly accounts?: readonly string[]
  readonly keys?: readonly string[]
}

/**
 * Reads {@link Claims} again, of names that were in doubt when the run first asked. Two commands at
 * most.
 */
export async function readClaims(
  run: Run,
  collection: NamingCollection,
  { accounts = [], keys = [] }: ClaimsAsked,
  at?: Tx,
): Promise<Claims> {
  const none: DoubtfulNames = { byAccount: new Map(), statedBy: new Map() }
  const isAsked = accounts.length > 0 || keys.length > 0
  const { byAccount, statedBy } = isAsked ? await findDoubtfulNames(run, collection) : none
  const named = accounts.flatMap((id) => byAccount.get(id) ?? [])
  const docs = await readNames(run, collection, named, at)
  const stating = [...named, ...keys].flatMap((key) => statedBy.get(key) ?? [])
  const rivals = [...(await readAccounts(run, stating, at)).values()]
  const now = run.now()
  const ownDocs = ({ _id: id }: NamedAccount) =>
    (byAccount.get(id) ?? []).flatMap((key) => {
      const doc = docs.get(key)
      return doc && isName(collection, key) && names(collection, doc, id) ? [doc] : []
    })
  const isOfHandle = collection === 'handles'
  return {
    namesOf: (account) => {
      const kept = isOfHandle ? keptHandles(account, now).map(({ handle }) => handle) : []
      const stated = new Set([statedName(collection, account), ...kept])
      return ownDocs(account).flatMap(({ _id, until }) =>
        stated.has(_id) || (isOfHandle && until !== undefined) ? [] : [_id],
      )
    },
    isInDoubt: ({ _id: id }) =>
      (byAccount.get(id) ?? []).some((key) => {
        const doc = docs.get(key)
        return doc?.account === id && !conforms(shapes[collection], doc)
      }),
    keptFor: (account) =>
      ownDocs(account).filter((doc) => isOfHandle && doc.until && !hasEnded(doc, now)),
    hasRival: (key, account) =>
      rivals.some(
        (rival) =>
          rival._id !== account &&
          (states(collection, rival, key, now) || (isOfHandle && mayKeep(rival, key))),
      ),
  }
}

import type { FormerHandle, HandleDoc, SubjectDoc, UserDoc } from '../db/collections.ts'
import type { Collection, Document } from '../db/mongo.ts'
import { conforms } from '../db/shape.ts'
import { shapes, wrongFields } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import { batches, chunks } from '../lib/batch.ts'
import { parseHandle, type UserId } from '../lib/ids.ts'
import { isSubject } from '../users/subject.ts'
import { subjectKey, subjectOfKey } from '../users/subjects.ts'
import type { IntegrityServices, Run } from './invariant.ts'

/** The collections that name accounts, and the field of an account that states its name. */
export const naming = { handles: 'handle', subjects: 'subject' } as const
export type NamingCollection = keyof typeof naming
export const namingCollections = Object.keys(naming) as NamingCollection[]

export type NameDoc = HandleDoc | SubjectDoc

/** What an account states about its names. */
export type NamedAccount = Pick<UserDoc, (typeof namedFields)[number]>
const namedFields = ['_id', 'handle', 'formerHandles', 'subject', 'deletedAt'] as const
export const namedProjection = Object.fromEntries(namedFields.map((field) => [field, 1]))

/**
 * Number of documents that are read at a time, and of names that one scan of all accounts looks
 * for.
 */
const [docsAtOnce, namesAtOnce] = [1_000, 10_000]

/** The documents of one of the collections. */
export const openNames = ({ collections }: IntegrityServices, name: NamingCollection) =>
  collections[name] as unknown as Collection<NameDoc>

/** Whether the fields that state names are there and can be read. */
export const isReadable = (account: NamedAccount): boolean => {
  const wrong = new Set(wrongFields('users', account))
  return !namedFields.some((field) => wrong.has(field))
}

/** Whether a text has the form of a handle, or of the key of a subject. */
export function isName(collection: NamingCollection, key: unknown): key is string {
  if (typeof key !== 'string') return false
  if (collection === 'handles') return parseHandle(key) !== undefined
  const subject = subjectOfKey(key)
  return key.includes(' ') && isSubject(subject.sub) && subjectKey(subject) === key
}

/** The former handles that an account states, without entries that cannot be read. */
export const statedFormerHandles = ({ formerHandles }: NamedAccount): readonly FormerHandle[] =>
  (Array.isArray(formerHandles) ? formerHandles : []).filter(
    (former) => typeof former?.handle === 'string' && former.until instanceof Date,
  )

/** The handle or subject that an account states. Undefined if it states none that can be read. */
export function statedName(collection: NamingCollection, account: NamedAccount) {
  const key: unknown = account[naming[collection]]
  return typeof key === 'string' ? key : undefined
}

/** The former handles that an account still keeps. */
export function keptHandles(account: NamedAccount, now: number): readonly FormerHandle[] {
  const current = statedName('handles', account)
  return statedFormerHandles(account).filter(
    ({ handle, until }) => handle !== current && until.getTime() > now,
  )
}

/** Whether an account states that it has, or keeps, a name. */
export const states = (
  collection: NamingCollection,
  account: NamedAccount,
  key: string,
  now: number,
): boolean =>
  statedName(collection, account) === key ||
  (collection === 'handles' && keptHandles(account, now).some(({ handle }) => handle === key))

/** Whether an account whose former handles cannot all be read may keep a handle. */
export const mayKeep = (account: NamedAccount, handle: string): boolean =>
  Array.isArray(account.formerHandles) &&
  !isReadable(account) &&
  account.formerHandles.some((former) => former?.handle === handle)

/**
 * Whether a document keeps its handle from no one any more. Only a subject of a deleted account has
 * such a time.
 */
export const hasEnded = ({ until }: Pick<NameDoc, 'until'>, now: number): boolean =>
  until instanceof Date && until.getTime() <= now

/**
 * Names in doubt. They tell where to look: only what is read again in the transaction of a repair
 * decides.
 */
export interface DoubtfulNames {
  /** The names of each account that does not state them, or does not exist. */
  readonly byAccount: ReadonlyMap<string, readonly string[]>
  /** The ids of the accounts that may state a name in doubt, also of a malformed document. */
  readonly statedBy: ReadonlyMap<string, readonly string[]>
}

const doubtful = new WeakMap<Run, Map<NamingCollection, Promise<DoubtfulNames>>>()

/**
 * The names in doubt when a run asks first. One scan of the collection and of its accounts, and one
 * scan of all accounts for each 10,000 names in doubt. Holds all names in doubt in memory.
 */
export function findDoubtfulNames(run: Run, collection: NamingCollection): Promise<DoubtfulNames> {
  const scans = doubtful.get(run) ?? new Map<NamingCollection, Promise<DoubtfulNames>>()
  doubtful.set(run, scans)
  const scan = scans.get(collection) ?? scanDoubtfulNames(run, collection)
  scans.set(collection, scan)
  return scan
}

async function scanDoubtfulNames(run: Run, collection: NamingCollection): Promise<DoubtfulNames> {
  const byAccount = new Map<string, string[]>()
  const keys: string[] = []
  const docs = openNames(run, collection).find({}, { signal: run.signal })
  for await (const batch of batches(docs, docsAtOnce)) {
    const accounts = await readAccounts(
      run,
      batch.map(({ account }) => account),
    )
    for (const doc of batch) {
      const isMalformed = !conforms(shapes[collection], doc)
      const owner = accounts.get(doc.account)
      if (typeof doc._id !== 'string') continue
      if (!isMalformed && owner && states(collection, owner, doc._id, run.now())) continue
      keys.push(doc._id)
      if (typeof doc.account === 'string') add(byAccount, doc.account, doc._id)
    }
  }
  const statedBy = new Map<string, string[]>()
  for (const chunk of chunks(keys, namesAtOnce)) {
    const among = new Set(chunk)
    const options = { projection: namedProjection, signal: run.signal }
    for await (const account of run.collections.users.find(statesAny(collection, chunk), options)) {
      for (const key of textsIn(collection, account)) {
        if (among.has(key)) add(statedBy, key, account._id)
      }
    }
  }
  return { byAccount, statedBy }
}

/** Matches the accounts that may state one of several names. */
function statesAny(collection: NamingCollection, keys: readonly string[]): Document {
  const isHandle = collection === 'handles'
  return {
    $or: [
      { [naming[collection]]: { $in: keys } },
      ...(isHandle ? [{ 'formerHandles.handle': { $in: keys } }] : []),
    ],
  }
}

/** Everything in an account that may be a name. */
function textsIn(collection: NamingCollection, account: NamedAccount): ReadonlySet<string> {
  const { formerHandles } = account
  const isHandle = collection === 'handles'
  const former: readonly unknown[] = isHandle && Array.isArray(formerHandles) ? formerHandles : []
  const handles = former.map((one) => (one as Partial<FormerHandle> | null)?.handle)
  const texts: unknown[] = [account[naming[collection]], ...handles]
  return new Set(texts.filter((text) => typeof text === 'string'))
}

const add = (lists: Map<string, string[]>, key: string, value: string): void => {
  const values = lists.get(key)
  if (values) values.push(value)
  else lists.set(key, [value])
}

/** What accounts state about their names, by id. One command, none without ids. */
export async function readAccounts(
  { collections: { users } }: IntegrityServices,
  ids: readonly unknown[],
  at?: Tx,
): Promise<ReadonlyMap<string, NamedAccount>> {
  const texts = [...new Set(ids)].filter((id) => typeof id === 'string') as UserId[]
  if (texts.length === 0) return new Map()
  const docs = await users
    .find({ _id: { $in: texts } }, { ...at, projection: namedProjection })
    .toArray()
  return new Map(docs.map((doc) => [doc._id, doc]))
}

/**
 * The accounts among some that documents give a handle or a subject. Two commands, after
 * {@link findDoubtfulNames}.
 */
export async function findNamed(
  run: Run,
  ids: readonly string[],
  at: Tx,
): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const collection of ids.length > 0 ? namingCollections : []) {
    const { byAccount } = await findDoubtfulNames(run, collection)
    const keys = ids.flatMap((id) => byAccount.get(id) ?? [])
    for (const { account, until } of (await readNames(run, collection, keys, at)).values()) {
      // A removed account keeps its subject for a minute.
      if (!until || (collection === 'handles' && !hasEnded({ until }, run.now())))
        named.add(account)
    }
  }
  return named
}

/** Documents of names, by name. One command, none without names. */
export async function readNames(
  services: IntegrityServices,
  collection: NamingCollection,
  keys: readonly string[],
  at?: Tx,
): Promise<ReadonlyMap<string, NameDoc>> {
  if (keys.length === 0) return new Map()
  const filter = { _id: { $in: [...new Set(keys)] } }
  const docs = await openNames(services, collection)
    .find(filter, { ...at })
    .toArray()
  return new Map(docs.map((doc) => [doc._id, doc]))
}

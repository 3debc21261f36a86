import type { HandleDoc, SubjectDoc, UserDoc } from '../../db/collections.ts'
import type { Collection } from '../../db/mongo.ts'
import { conforms } from '../../db/shape.ts'
import { fieldsConform, shapes } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { batches } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import { handleIn } from '../../users/profile.ts'
import { subjectIn } from '../../users/users.ts'
import { walk } from '../inspect.ts'
import type { Check, Invariant, Run, Violation } from '../invariant.ts'
import { idRanges, userRanges } from '../ranges.ts'
import { findingOf } from '../report.ts'

const invariant = { name: 'handles-and-subjects', law: 'L6' } as const

/** The collections that name accounts, and what their documents are. */
const naming = { handles: 'handle', subjects: 'subject' } as const
type NamingCollection = keyof typeof naming
const namingCollections = Object.keys(naming) as NamingCollection[]

/** Number of documents that a scan compares at a time. */
const [accountsAtOnce, namesAtOnce] = [500, 1_000]

/** A former handle that is kept for less than this, in milliseconds, may have been removed by the server already. */
const endingMs = 60_000

type NameDoc = HandleDoc | SubjectDoc
type NamedAccount = Pick<UserDoc, (typeof namedFields)[number]>
const namedFields = ['_id', 'handle', 'formerHandles', 'subject', 'deletedAt'] as const
const projection = Object.fromEntries(namedFields.map((field) => [field, 1]))

/** What the account of a name stores. UNKNOWN: its document is malformed, or lost while its counters are there. */
type Owner = NamedAccount | 'UNKNOWN'

/** A name of an account, and the document that should give it to the account. */
interface Name {
  readonly collection: NamingCollection
  readonly key: string
  readonly account: string
  /** Set for a former handle. */
  readonly until?: Date | undefined
  readonly doc?: NameDoc | undefined
}

interface NameViolation extends Violation {
  readonly name: Name
}

const openNames = ({ collections }: Run, name: NamingCollection) =>
  collections[name] as unknown as Collection<NameDoc>

/**
 * Law L6: the handle, the former handles and the subject of each live account name it. The range is a condition on the id
 * of an account. A scan is three commands for each 500 accounts, and a check up to five.
 *
 * The repair writes the document, unless its name may belong to another account. It collides with a rename, a registration
 * and the end of an account, which write the same document. A replacement by an equal document is a write.
 */
const namedAccounts = (run: Run): Invariant<string, NameViolation> => ({
  ...invariant,
  ranges: userRanges(run),
  async *scan(ids) {
    const accounts = run.collections.users.find({ _id: ids }, { projection }).sort({ _id: 1 })
    for await (const batch of batches(accounts, accountsAtOnce)) {
      yield* new Set((await readWrong(run, batch)).map(({ account }) => account))
    }
  },
  async check(ids, at) {
    const { users } = run.collections
    const accounts = await users.find({ _id: { $in: [...ids] } }, { ...at, projection }).toArray()
    const wrong = await readWrong(run, accounts, at)
    const owners = await readOwners(run, accountsIn(wrong), at)
    return { violations: wrong.map((name) => misnamed(run, name, owners)) }
  },
  async repair(tx, violations) {
    const names = violations.map(({ name }) => name)
    for (const collection of namingCollections) {
      const operations = names
        .filter((name) => name.collection === collection)
        .map(({ key, account, until }) => ({
          replaceOne: {
            filter: { _id: key },
            replacement: { account, ...(until && { until }) },
            upsert: true,
          },
        }))
      if (operations.length > 0) {
        await openNames(run, collection).bulkWrite(operations, { session: tx.session })
      }
    }
  },
})

/**
 * Law L6: a handle and a subject belong to an account that has them. The range is a condition on a handle or a subject. A
 * scan is up to three commands for each 1,000 of them, and a check as many. The repair deletes the document, and so
 * frees the name. It collides with what would give the name to an account.
 */
const ownedNames =
  (collection: NamingCollection) =>
  (run: Run): Invariant<string, NameViolation> => ({
    ...invariant,
    ranges: idRanges(openNames(run, collection) as unknown as Collection, namesAtOnce, ''),
    async *scan(keys) {
      const docs = openNames(run, collection).find({ _id: keys } as object)
      for await (const batch of batches(docs, namesAtOnce)) {
        for (const { name } of await readSpare(run, collection, batch)) yield name.key
      }
    },
    async check(keys, at) {
      const docs = openNames(run, collection).find({ _id: { $in: [...keys] } }, { ...at })
      return { violations: await readSpare(run, collection, await docs.toArray(), at) }
    },
    async repair(tx, violations) {
      const keys = violations.map(({ name }) => name.key)
      await openNames(run, collection).deleteMany({ _id: { $in: keys } }, { session: tx.session })
    },
  })

/** Checks that names and accounts agree, from both sides. Accounts come first: what they lack may name another account. */
export const checkHandlesAndSubjects: Check = async (run) => {
  await walk(namedAccounts)(run)
  for (const collection of namingCollections) await walk(ownedNames(collection))(run)
}

/** The names of an account. A former handle that is kept no longer is none. */
function namesIn(run: Run, collection: NamingCollection, account: NamedAccount): Name[] {
  const toName = (key: string, until?: Date) => ({ collection, key, account: account._id, until })
  if (collection === 'subjects') {
    const subject = subjectIn(account)
    return subject === undefined ? [] : [toName(subject)]
  }
  const current = handleIn(account)
  const former = (account.formerHandles ?? []).filter(
    ({ handle, until }) => handle !== current && until.getTime() > run.now(),
  )
  return [toName(current), ...former.map(({ handle, until }) => toName(handle, until))]
}

/** The names of the live accounts among some whose documents are missing or differ. Two commands. */
async function readWrong(run: Run, accounts: readonly NamedAccount[], at?: Tx): Promise<Name[]> {
  const live = accounts.filter((account) => isWellFormed(account) && !account.deletedAt)
  const wrong: Name[] = []
  for (const collection of live.length > 0 ? namingCollections : []) {
    const isStored = ({ until }: Name) => !until || until.getTime() > run.now() + endingMs
    const names = live.flatMap((account) => namesIn(run, collection, account)).filter(isStored)
    const keys = names.map(({ key }) => key)
    const read = openNames(run, collection).find({ _id: { $in: keys } }, { ...at })
    const docs = new Map((await read.toArray()).map((doc) => [doc._id, doc]))
    for (const name of names) {
      const doc = docs.get(name.key)
      const isMalformed = doc !== undefined && !conforms(shapes[collection], doc)
      if (!isMalformed && !agrees(name, doc)) wrong.push({ ...name, doc })
    }
  }
  return wrong
}

const agrees = ({ account, until }: Name, doc: NameDoc | undefined): boolean =>
  doc?.account === account && doc.until?.getTime() === until?.getTime()

/** Documents of accounts that do not have the name. Up to two commands. */
async function readSpare(
  run: Run,
  collection: NamingCollection,
  docs: readonly NameDoc[],
  at?: Tx,
): Promise<NameViolation[]> {
  const binding = docs.filter(
    (doc) => conforms(shapes[collection], doc) && isBinding(run, collection, doc),
  )
  const owners = await readOwners(run, new Set(binding.map(({ account }) => account)), at)
  return binding.flatMap((doc) => {
    const owner = owners.get(doc.account)
    if (owner === 'UNKNOWN' || (owner && hasName(run, collection, owner, doc._id))) return []
    const kind = naming[collection]
    const finding = findingOf(invariant, {
      ...{ kind: `spare-${kind}`, subject: quoted(doc._id), found: describe(doc) },
      expected: owner ? `a ${kind} of ${doc.account}` : 'none without an account',
    })
    const { _id: key, account, until } = doc
    return [{ name: { collection, key, account, until, doc }, finding }]
  })
}

/** Whether a document keeps its name from other accounts. The subject of a deleted account ends by itself. */
const isBinding = (run: Run, collection: NamingCollection, { until }: NameDoc): boolean =>
  until === undefined || (collection === 'handles' && until.getTime() > run.now())

const hasName = (run: Run, collection: NamingCollection, account: NamedAccount, key: string) =>
  namesIn(run, collection, account).some((name) => name.key === key)

const isWellFormed = (account: NamedAccount): boolean => fieldsConform('users', account)

/** The accounts that the documents of names name instead. */
const accountsIn = (names: readonly Name[]): ReadonlySet<string> =>
  new Set(names.flatMap(({ doc, account }) => (doc && doc.account !== account ? doc.account : [])))

/** The accounts among some that exist, or may exist. Two commands at most, none without ids. */
async function readOwners(
  { collections: { users }, stats }: Run,
  ids: ReadonlySet<string>,
  at?: Tx,
): Promise<ReadonlyMap<string, Owner>> {
  if (ids.size === 0) return new Map()
  const docs = await users.find({ _id: { $in: [...ids] } }, { ...at, projection }).toArray()
  const owners = new Map<string, Owner>()
  for (const doc of docs) owners.set(doc._id, isWellFormed(doc) ? doc : 'UNKNOWN')
  const missing = [...ids].filter((id) => !owners.has(id)) as UserId[]
  if (missing.length === 0) return owners
  for (const id of (await stats.liveAmong(missing, at)).keys()) owners.set(id, 'UNKNOWN')
  return owners
}

const shared =
  'Two accounts have it. Give one of them another one in users: the next run stores what is missing.'
const lostOwner =
  'The document of the account that it names is lost or malformed. Restore or correct it first.'

/** The violation of an account that a name does not name. */
function misnamed(run: Run, name: Name, owners: ReadonlyMap<string, Owner>): NameViolation {
  const { collection, key, account, until, doc } = name
  const finding = findingOf(invariant, {
    ...{ kind: naming[collection], subject: `${account} ${quoted(key)}` },
    ...{ expected: describe({ account, until }), found: doc ? describe(doc) : 'none' },
    ...reasonAgainst(run, name, owners),
  })
  return { name, finding }
}

/** Why a document may not be replaced. */
function reasonAgainst(
  run: Run,
  { collection, key, account, doc }: Name,
  owners: ReadonlyMap<string, Owner>,
): { readonly unrepairable?: string } {
  if (!doc || doc.account === account) return {}
  if (doc.until && doc.until.getTime() <= run.now()) return {}
  const owner = owners.get(doc.account)
  if (owner === 'UNKNOWN') return { unrepairable: lostOwner }
  return owner && hasName(run, collection, owner, key) ? { unrepairable: shared } : {}
}

const describe = ({ account, until }: Pick<Name, 'account' | 'until'>): string =>
  until ? `${account} until ${until.toISOString()}` : account

const quoted = (key: string): string => JSON.stringify(key)

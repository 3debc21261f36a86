import { type Db, MongoServerError } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import {
  type CollectionName,
  type CollectionSpec,
  catalogue,
  collectionNames,
  driverKey,
  type IndexSpec,
} from './collections.ts'
import { isExistingCollection } from './errors.ts'

/** The stored name of an index. */
const indexName = (spec: IndexSpec): string =>
  spec.name ?? Object.entries(spec.key).flat().join('_')

/** One declared index and whether the database has it. */
export interface IndexState {
  readonly collection: CollectionName
  readonly name: string
  readonly unique: boolean
  readonly present: boolean
}

const declaredCollections = (following: FollowingMode, names = collectionNames) => {
  const all: Readonly<Record<CollectionName, CollectionSpec>> = catalogue(following)
  return names.map((collection) => ({ collection, ...all[collection] }))
}

/**
 * Loads the state of every declared index. One command per collection.
 * @param names the collections of the database. Default: all.
 */
export async function loadIndexStates(
  db: Db,
  following: FollowingMode,
  names?: CollectionName[],
): Promise<IndexState[]> {
  const states = declaredCollections(following, names).map(async ({ collection, indexes }) => {
    const existing = await loadIndexNames(db, collection)
    return indexes.map((spec) => ({
      collection,
      name: indexName(spec),
      unique: spec.unique === true,
      present: existing.has(indexName(spec)),
    }))
  })
  return (await Promise.all(states)).flat()
}

async function loadIndexNames(db: Db, collection: string): Promise<Set<string>> {
  try {
    return new Set((await db.collection(collection).indexes()).map((index) => index.name ?? ''))
  } catch (error) {
    if (error instanceof MongoServerError && error.codeName === 'NamespaceNotFound')
      return new Set()
    throw error
  }
}

/**
 * Creates missing collections and indexes, and changes no existing one. Several processes can run
 * it at the same time. One command, and up to two per collection.
 * @param names the collections of the database. Default: all.
 * @param options `forImport` creates only the indexes that an import reads.
 */
export async function applyIndexes(
  db: Db,
  following: FollowingMode,
  names?: CollectionName[],
  { forImport = false }: { readonly forImport?: boolean } = {},
): Promise<void> {
  const present = await namesIn(db)
  for (const { collection, indexes, clustered } of declaredCollections(following, names)) {
    if (!present.has(collection)) await createCollection(db, collection, clustered)
    const wanted = indexes.filter(({ afterImport }) => !(forImport && afterImport))
    await buildIndexes(db, collection, wanted)
  }
}

/**
 * Builds the indexes that `forImport` left out, all collections at the same time. A command for
 * each of up to three collections. It takes mongod an eighth of the processor time that inserts
 * into them would take.
 */
export async function buildAfterImport(db: Db, following: FollowingMode): Promise<void> {
  const builds = declaredCollections(following).map(({ collection, indexes }) =>
    buildIndexes(
      db,
      collection,
      indexes.filter(({ afterImport }) => afterImport),
    ),
  )
  await Promise.all(builds)
}

/**
 * The indexes that an import has left out, as "collection index". Pages and edges are read by them.
 * As many commands as {@link indexPlan}.
 */
export async function loadLeftOut(db: Db, following: FollowingMode): Promise<string[]> {
  return (await indexPlan(db, following, {})).flatMap(({ collection, build }) =>
    build.filter(({ afterImport }) => afterImport).map(({ name }) => `${collection} ${name}`),
  )
}

/**
 * How indexes are built: when a majority of the members is ready. MongoDB's default `votingMembers`
 * waits for ever for a member that holds data and is down.
 */
export const buildOptions = { commitQuorum: 'majority' } as const

/**
 * Builds indexes that are missing, also while a minority of the members is down. One command, none
 * without indexes.
 */
export async function buildIndexes(
  db: Db,
  collection: string,
  indexes: readonly IndexSpec[],
): Promise<void> {
  if (indexes.length === 0) return
  await db.collection(collection).createIndexes(indexes.map(toIndexModel), buildOptions)
}

/** An index as the command `createIndexes` takes it. */
export const toIndexModel = (spec: IndexSpec) => ({
  key: driverKey(spec) as Record<string, 1 | -1>,
  name: indexName(spec),
  ...(spec.unique ? { unique: true } : {}),
  ...(spec.partialFilterExpression
    ? { partialFilterExpression: spec.partialFilterExpression }
    : {}),
  ...(spec.expireAfterSeconds === undefined ? {} : { expireAfterSeconds: spec.expireAfterSeconds }),
})

/** What a migration does about the indexes of one collection. */
export interface IndexPlan {
  readonly collection: string
  /** The declared indexes that are missing. */
  readonly build: readonly (IndexSpec & { readonly name: string })[]
  /** The names of retired indexes that are there. */
  readonly drop: readonly string[]
}

/**
 * What is missing or retired, for each declared collection that exists. Indexes of an operator are
 * neither. One command a collection, and one more.
 * @param retired names of indexes that an earlier release declared, by collection.
 */
export async function indexPlan(
  db: Db,
  following: FollowingMode,
  retired: Readonly<Record<string, readonly string[]>>,
): Promise<IndexPlan[]> {
  const present = await namesIn(db)
  const plans: IndexPlan[] = []
  for (const { collection, indexes } of declaredCollections(following)) {
    if (!present.has(collection)) continue
    const existing = await loadIndexNames(db, collection)
    const named = indexes.map((spec) => ({ ...spec, name: indexName(spec) }))
    const build = named.filter(({ name }) => !existing.has(name))
    const drop = (retired[collection] ?? []).filter((name) => existing.has(name))
    plans.push({ collection, build, drop })
  }
  return plans
}

const namesIn = async (db: Db): Promise<Set<string>> =>
  new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name))

const clusteredIndex = { key: { _id: 1 }, unique: true }

/**
 * The options of a clustered collection. New documents go to all parts of it, so each one rewrites
 * a page: small pages, whose compressed size is not rounded up to 4 kB.
 * @see docs/adr/9-the-inbox-stays-clustered.md
 */
export const clusteredOptions = {
  clusteredIndex,
  storageEngine: { wiredTiger: { configString: 'leaf_page_max=8KB,allocation_size=512B' } },
} as const

/**
 * Creates a collection, unless there is one. Transactions and concurrent starts need it to be
 * there. One command, and one more where the size of pages cannot be set, as some hosted MongoDB
 * refuses it.
 */
export async function createCollection(db: Db, name: string, clustered = false): Promise<void> {
  try {
    await db.createCollection(name, clustered ? clusteredOptions : {})
  } catch (error) {
    if (isExistingCollection(error)) return
    if (!clustered || !(error instanceof MongoServerError)) throw error
    await db.createCollection(name, { clusteredIndex }).catch((second) => {
      if (!isExistingCollection(second)) throw second
    })
  }
}

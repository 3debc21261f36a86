import { type Db, MongoServerError } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import {
  type CollectionName,
  type CollectionSpec,
  catalogue,
  driverKey,
  type IndexSpec,
  openCollections,
} from './collections.ts'

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

const declaredCollections = (following: FollowingMode) =>
  (Object.entries(catalogue(following)) as [CollectionName, CollectionSpec][]).map(
    ([collection, spec]) => ({ collection, ...spec }),
  )

/** Loads the state of every declared index. One command per collection. */
export async function loadIndexStates(db: Db, following: FollowingMode): Promise<IndexState[]> {
  const states = declaredCollections(following).map(async ({ collection, indexes }) => {
    const there = await loadIndexNames(db, collection)
    return indexes.map((spec) => ({
      collection,
      name: indexName(spec),
      unique: spec.unique === true,
      present: there.has(indexName(spec)),
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
 * Creates missing collections and indexes, and changes no existing one. Several processes can run it at the same time.
 * One command, and up to two per collection.
 */
export async function applyIndexes(db: Db, following: FollowingMode): Promise<void> {
  const present = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  )
  for (const { collection, indexes, clustered } of declaredCollections(following)) {
    if (!present.has(collection)) await createCollection(db, collection, clustered)
    if (indexes.length === 0) continue
    await db.collection(collection).createIndexes(
      indexes.map((spec) => ({
        key: driverKey(spec) as Record<string, 1 | -1>,
        name: indexName(spec),
        ...(spec.unique ? { unique: true } : {}),
        ...(spec.partialFilterExpression
          ? { partialFilterExpression: spec.partialFilterExpression }
          : {}),
        ...(spec.expireAfterSeconds === undefined
          ? {}
          : { expireAfterSeconds: spec.expireAfterSeconds }),
      })),
    )
  }
}

/** Creates a collection, unless a concurrent start has just created it. */
async function createCollection(db: Db, name: string, clustered = false): Promise<void> {
  try {
    const byId = { clusteredIndex: { key: { _id: 1 }, unique: true } }
    await db.createCollection(name, clustered ? byId : {})
  } catch (error) {
    if (!(error instanceof MongoServerError && error.codeName === 'NamespaceExists')) throw error
  }
}

/**
 * Records in a new database which of seed 4's two options it uses. One command.
 * @returns the option that the database uses, which may differ from `wanted`.
 */
export async function recordFollowingMode(db: Db, wanted: FollowingMode): Promise<FollowingMode> {
  const { meta } = openCollections(db)
  const found = await meta.findOneAndUpdate(
    { _id: 'following' },
    { $setOnInsert: { value: wanted } },
    { upsert: true, returnDocument: 'after' },
  )
  return (found?.value ?? wanted) as FollowingMode
}

/** Loads which of seed 4's two options the database uses. Undefined for a new database. One command. */
export const loadFollowingMode = async (db: Db): Promise<string | undefined> =>
  (await openCollections(db).meta.findOne({ _id: 'following' }))?.value

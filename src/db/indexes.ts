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

/** The name under which an index is kept. */
const nameOf = (spec: IndexSpec): string => spec.name ?? Object.entries(spec.key).flat().join('_')

/** One declared index and whether the database has it. */
export interface IndexState {
  readonly collection: CollectionName
  readonly name: string
  readonly unique: boolean
  readonly present: boolean
}

const declared = (following: FollowingMode) =>
  (Object.entries(catalogue(following)) as [CollectionName, CollectionSpec][]).map(
    ([collection, spec]) => ({ collection, ...spec }),
  )

/** Every declared index, present or not. One command a collection. */
export async function indexStates(db: Db, following: FollowingMode): Promise<IndexState[]> {
  const states = declared(following).map(async ({ collection, indexes }) => {
    const there = await existing(db, collection)
    return indexes.map((spec) => ({
      collection,
      name: nameOf(spec),
      unique: spec.unique === true,
      present: there.has(nameOf(spec)),
    }))
  })
  return (await Promise.all(states)).flat()
}

async function existing(db: Db, collection: string): Promise<Set<string>> {
  try {
    return new Set((await db.collection(collection).indexes()).map((index) => index.name ?? ''))
  } catch (error) {
    if (error instanceof MongoServerError && error.codeName === 'NamespaceNotFound')
      return new Set()
    throw error
  }
}

/**
 * Creates every collection and index that is missing; changes none that exists.
 * Safe to run from several processes at once: the server builds an index once.
 */
export async function applyIndexes(db: Db, following: FollowingMode): Promise<void> {
  const present = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  )
  for (const { collection, indexes, clustered } of declared(following)) {
    if (!present.has(collection)) await createCollection(db, collection, clustered)
    if (indexes.length === 0) continue
    await db.collection(collection).createIndexes(
      indexes.map((spec) => ({
        key: driverKey(spec) as Record<string, 1 | -1>,
        name: nameOf(spec),
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

/** Transactions and concurrent starts need a collection to be there, or to have just been made. */
async function createCollection(db: Db, name: string, clustered = false): Promise<void> {
  try {
    const byId = { clusteredIndex: { key: { _id: 1 }, unique: true } }
    await db.createCollection(name, clustered ? byId : {})
  } catch (error) {
    if (!(error instanceof MongoServerError && error.codeName === 'NamespaceExists')) throw error
  }
}

/**
 * Records on a fresh database which of seed 4's two options it is built with.
 * @returns the option it was built with, which may not be the one asked for.
 */
export async function followingModeOf(db: Db, wanted: FollowingMode): Promise<FollowingMode> {
  const { meta } = openCollections(db)
  const found = await meta.findOneAndUpdate(
    { _id: 'following' },
    { $setOnInsert: { value: wanted } },
    { upsert: true, returnDocument: 'after' },
  )
  return (found?.value ?? wanted) as FollowingMode
}

/** Which of seed 4's two options the database was built with; undefined when it is fresh. */
export const recordedFollowingMode = async (db: Db): Promise<string | undefined> =>
  (await openCollections(db).meta.findOne({ _id: 'following' }))?.value

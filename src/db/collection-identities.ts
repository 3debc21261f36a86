import { type Binary, type Db, MongoServerError } from 'mongodb'
import { timelineCollectionNames } from './collections.ts'

/** What identifies the collections of a database, by name. A collection that is created again has another identity. */
export type CollectionIdentities = ReadonlyMap<string, Binary | undefined>

/** NamespaceNotFound, CollectionUUIDMismatch. */
const goneCodes: ReadonlySet<unknown> = new Set([26, 361])

/** Whether a drop failed because the collection that it names is gone. */
export const isGone = (error: unknown): boolean =>
  error instanceof MongoServerError && goneCodes.has(error.code)

/** Loads the identities of the collections of a database. One command. */
export async function loadIdentities(db: Db): Promise<CollectionIdentities> {
  const found = await db.listCollections({}, { nameOnly: false }).toArray()
  return new Map(found.map(({ name, info }) => [name, info?.uuid]))
}

/**
 * Drops a collection if it is `known`. One command, or none.
 * @returns whether it was known.
 * @throws an error that {@link isGone}, if it is not there any more.
 */
export async function dropKnown(
  db: Db,
  name: string,
  known: CollectionIdentities,
): Promise<boolean> {
  const collectionUUID = known.get(name)
  if (!collectionUUID) return false
  await db.command({ drop: name, collectionUUID, writeConcern: { w: 'majority' } })
  return true
}

/** Deletes the timelines of a database, but no collection that is not `known`. A command for each collection. */
export async function dropTimelines(db: Db, known: CollectionIdentities): Promise<void> {
  for (const name of timelineCollectionNames) {
    await dropKnown(db, name, known).catch((error) => {
      if (!isGone(error)) throw error
    })
  }
}

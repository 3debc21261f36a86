import type { Collection, Db } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import { release } from '../lib/release.ts'
import { migrations, oldestVersion } from './migrations/list.ts'

/** How a database is built: one document of `meta`. */
export interface Schema {
  readonly version: number
  /** How edges are stored. Fixed when the database is made. */
  readonly following: FollowingMode
}

interface SchemaDoc extends Partial<Schema> {
  readonly _id: string
  /**
   * The release that recorded the version. Builds before 0.1.0, which had versions of their own,
   * recorded none.
   */
  readonly release?: string
}

/** The version that this release reads and writes. */
export const schemaVersion = oldestVersion + migrations.length

/** The database has another schema version than this release. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError'
}

const meta = (db: Db): Collection<SchemaDoc> => db.collection('meta')

/**
 * How the database is built, or undefined if no release has used it. One command.
 * @throws {SchemaVersionError} one sentence and the next step, if a build before 0.1.0 made the
 *   database.
 */
export async function readSchema(db: Db): Promise<Schema | undefined> {
  // The first builds recorded `following` alone.
  const records = await meta(db)
    .find({ _id: { $in: ['schema', 'following'] } })
    .toArray()
  const record = records.find(({ _id }) => _id === 'schema') ?? records[0]
  return record && toSchema(db, record)
}

/**
 * As {@link readSchema}, but records how a new database is built. Up to two commands.
 * @param following the option for a new database.
 */
export async function openSchema(db: Db, following: FollowingMode): Promise<Schema> {
  const schema = await readSchema(db)
  if (schema) return schema
  const record = { version: schemaVersion, following, release }
  const recorded = await meta(db).findOneAndUpdate(
    { _id: 'schema' },
    { $setOnInsert: record },
    { upsert: true, returnDocument: 'after' },
  )
  // Another process may have been first.
  return toSchema(db, recorded ?? record)
}

function toSchema(db: Db, { version, following, release }: Omit<SchemaDoc, '_id'>): Schema {
  if (version !== undefined && following !== undefined && release !== undefined)
    return { version, following }
  throw new SchemaVersionError(
    `The database "${db.databaseName}" was made by a build before 0.1.0, the first release, and no release ` +
      'migrates it. Use another database.',
  )
}

/** Records that the database has the next version. A repeat changes nothing. One command. */
export async function advanceSchema(db: Db, from: number): Promise<void> {
  const next = { version: from + 1, release }
  await meta(db).updateOne({ _id: 'schema', version: from }, { $set: next })
}

/**
 * @throws {SchemaVersionError} one sentence and the next step, unless this release can use the
 *   database.
 */
export function checkVersion({ version }: Schema, database: string): void {
  checkSupported({ version }, database)
  if (version < schemaVersion) {
    throw new SchemaVersionError(
      `The database "${database}" has schema version ${version}, and this release needs version ${schemaVersion}. ` +
        'Run "feedline migrate".',
    )
  }
}

/**
 * @param newest the version to which migrations lead.
 * @throws {SchemaVersionError} one sentence and the next step, if a newer release has migrated the
 *   database.
 */
export function checkSupported(
  { version }: Pick<Schema, 'version'>,
  database: string,
  newest = schemaVersion,
): void {
  if (version <= newest) return
  throw new SchemaVersionError(
    `The database "${database}" has schema version ${version}, and this release supports only version ${newest}. ` +
      'Use a newer release of Feedline.',
  )
}

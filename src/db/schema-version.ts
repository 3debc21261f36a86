import type { Collection, Db } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import { setMarks } from './marks.ts'
import { migrations, oldestVersion } from './migrations/list.ts'

/** How a database is built: one document of `meta`. */
export interface Schema {
  readonly version: number
  /** How edges are stored. Fixed when the database is made. */
  readonly following: FollowingMode
}

interface SchemaDoc extends Schema {
  readonly _id: string
}

/** The version that this release reads and writes. */
export const schemaVersion = oldestVersion + migrations.length

/** The database has another schema version than this release. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError'
}

const meta = (db: Db): Collection<SchemaDoc> => db.collection('meta')

/**
 * How the database is built, or undefined if no release has used it. Databases of version 1 did not record their
 * version. One command.
 */
export async function readSchema(db: Db): Promise<Schema | undefined> {
  const docs = await db
    .collection<{ _id: string; value?: string }>('meta')
    .find({ _id: { $in: ['schema', 'following'] } })
    .toArray()
  const schema = docs.find(({ _id }) => _id === 'schema') as SchemaDoc | undefined
  const first = docs.find(({ _id }) => _id === 'following')
  if (schema) return { version: schema.version, following: schema.following }
  return first && { version: 1, following: first.value as FollowingMode }
}

/**
 * As {@link readSchema}, but records how a new database is built. Up to three commands.
 * @param following the option for a new database.
 */
export async function openSchema(db: Db, following: FollowingMode): Promise<Schema> {
  const found = await readSchema(db)
  if (found) return found
  const recorded = await recordSchema(db, { version: schemaVersion, following })
  if (recorded.version === schemaVersion) await setMarks(db)
  return recorded
}

/** Records how a database is built, unless that is recorded. One command. */
async function recordSchema(db: Db, schema: Schema): Promise<Schema> {
  const stored = await meta(db).findOneAndUpdate(
    { _id: 'schema' },
    { $setOnInsert: { ...schema } },
    { upsert: true, returnDocument: 'after' },
  )
  return stored ?? schema
}

/** Records that the database has the next version. A repeat changes nothing. One command. */
export async function advanceSchema(db: Db, from: number): Promise<void> {
  await meta(db).updateOne({ _id: 'schema', version: from }, { $set: { version: from + 1 } })
}

/** @throws {SchemaVersionError} one sentence and the next step, unless this release can use the database. */
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
 * @throws {SchemaVersionError} one sentence and the next step, if a newer release has migrated the database, or a build
 *   made it that was never published.
 */
export function checkSupported(
  { version }: Pick<Schema, 'version'>,
  database: string,
  newest = schemaVersion,
): void {
  if (version > newest) {
    throw new SchemaVersionError(
      `The database "${database}" has schema version ${version}, and this release supports only version ${newest}. ` +
        'Use a newer release of Feedline.',
    )
  }
  if (version >= oldestVersion) return
  throw new SchemaVersionError(
    `The database "${database}" has schema version ${version}, of a build that was never published, and no release ` +
      'migrates it. Use another database.',
  )
}

import type { Db } from 'mongodb'
import { applyIndexes } from '../indexes.ts'
import { advanceSchema, checkSupported, readSchema, type Schema } from '../schema-version.ts'
import { type MigrateOptions, withMigrationLease } from './lease.ts'
import { migrations, oldestVersion } from './list.ts'
import type { Migration } from './migration.ts'

const newestOf = (all: readonly Migration[]): number => oldestVersion + all.length

/** What {@link migrate} would do. */
export interface MigrationPlan {
  /** Undefined: no release has used the database. */
  readonly from: number | undefined
  /** One sentence for each change. */
  readonly changes: readonly string[]
}

/**
 * Lists what {@link migrate} would do now. Changes nothing.
 * @throws {SchemaVersionError} if the database has a version that the migrations do not support.
 */
export async function planMigration(db: Db, all = migrations): Promise<MigrationPlan> {
  const schema = await readSchema(db)
  if (!schema) return { from: undefined, changes: [] }
  checkSupported(schema, db.databaseName, newestOf(all))
  const parts = { db, following: schema.following, signal: new AbortController().signal }
  const changes: string[] = []
  for (const { steps } of all.slice(schema.version - oldestVersion)) {
    for (const step of steps) changes.push(...(await step.plan(parts)))
  }
  return { from: schema.version, changes }
}

/**
 * Takes the database to the schema version of this release. It may be interrupted or killed
 * anywhere, and repeated: the repeat does what is left. Processes of the previous release may run
 * beside it: MongoDB refuses those of their writes that this release would not see, and nothing is
 * lost. One process migrates at a time; others wait.
 * @returns the version that it found; undefined if no release has used the database.
 * @param all the migrations. Default: those of this release.
 * @throws {SchemaVersionError} if the database has a version that they do not support; the reason
 *   of the signal.
 */
export async function migrate(
  db: Db,
  { signal, log }: MigrateOptions,
  all = migrations,
): Promise<number | undefined> {
  const stored = await readSchema(db)
  if (!stored) return undefined
  checkSupported(stored, db.databaseName, newestOf(all))
  if (stored.version === newestOf(all)) return stored.version
  await withMigrationLease(db, { signal, log }, async (held) => {
    // The process that had the lease before may have migrated the database.
    const schema = (await readSchema(db)) ?? stored
    for (const [at, migration] of all.entries()) {
      const version = oldestVersion + at
      if (version < schema.version) continue
      log(`Migrating from schema version ${version} to ${version + 1}: ${migration.name}.`)
      const isLast = at === all.length - 1
      await runMigration(db, { ...schema, version }, migration, { signal: held, log, isLast })
    }
  })
  return stored.version
}

async function runMigration(
  db: Db,
  { version, following }: Schema,
  { steps }: Migration,
  { signal, log, isLast }: MigrateOptions & { readonly isLast: boolean },
): Promise<void> {
  const parts = { db, following, signal }
  for (const step of steps) {
    signal.throwIfAborted()
    for (const change of await step.plan(parts)) log(change)
    await step.run(parts)
  }
  signal.throwIfAborted()
  if (isLast) await applyIndexes(db, following)
  await advanceSchema(db, version)
}

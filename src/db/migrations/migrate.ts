import type { Db } from 'mongodb'
import { applyIndexes } from '../indexes.ts'
import {
  advanceSchema,
  checkNotNewer,
  readSchema,
  recordSchema,
  type Schema,
  schemaVersion,
} from '../schema-version.ts'
import { type MigrateOptions, withMigrationLease } from './lease.ts'
import { migrations } from './list.ts'
import type { Migration } from './migration.ts'

/** What {@link migrate} would do. */
export interface MigrationPlan {
  /** Undefined: no release has used the database. */
  readonly from: number | undefined
  /** One sentence for each change. */
  readonly changes: readonly string[]
}

/**
 * Lists what {@link migrate} would do now. Changes nothing.
 * @throws {SchemaVersionError} if the database has a newer schema version.
 */
export async function planMigration(db: Db): Promise<MigrationPlan> {
  const schema = await readSchema(db)
  if (!schema) return { from: undefined, changes: [] }
  checkNotNewer(schema, db.databaseName)
  const parts = { db, following: schema.following, signal: new AbortController().signal }
  const changes: string[] = []
  for (const { steps } of migrations.slice(schema.version - 1)) {
    for (const step of steps) changes.push(...(await step.plan(parts)))
  }
  return { from: schema.version, changes }
}

/**
 * Takes the database to the schema version of this release. It may be interrupted or killed anywhere, and repeated:
 * the repeat does what is left. Processes of the previous release may run beside it: MongoDB refuses those of their
 * writes that this release would not see, and nothing is lost. One process migrates at a time; others wait.
 * @returns the version that it found; undefined if no release has used the database.
 * @throws {SchemaVersionError} if the database has a newer schema version; the reason of the signal.
 */
export async function migrate(
  db: Db,
  { signal, log }: MigrateOptions,
): Promise<number | undefined> {
  const found = await readSchema(db)
  if (!found) return undefined
  checkNotNewer(found, db.databaseName)
  if (found.version === schemaVersion) return found.version
  await withMigrationLease(db, { signal, log }, async (held) => {
    // The process that had the lease before may have migrated the database.
    const schema = await recordSchema(db, (await readSchema(db)) ?? found)
    for (const [at, migration] of migrations.entries()) {
      const version = at + 1
      if (version < schema.version) continue
      log(`Migrating from schema version ${version} to ${version + 1}: ${migration.name}.`)
      await runMigration(db, { ...schema, version }, migration, { signal: held, log })
    }
  })
  return found.version
}

async function runMigration(
  db: Db,
  { version, following }: Schema,
  { steps }: Migration,
  { signal, log }: MigrateOptions,
): Promise<void> {
  const parts = { db, following, signal }
  for (const step of steps) {
    signal.throwIfAborted()
    for (const change of await step.plan(parts)) log(change)
    await step.run(parts)
  }
  signal.throwIfAborted()
  if (version + 1 === schemaVersion) await applyIndexes(db, following)
  await advanceSchema(db, version)
}

import { Command } from 'commander'
import { type MigrationPlan, migrate, planMigration } from '../db/migrations/migrate.ts'
import { schemaVersion } from '../db/schema-version.ts'
import { configFor } from '../environment.ts'
import { openDatabase } from '../open-database.ts'
import { log } from './database.ts'
import { interruption } from './failure.ts'

interface MigrateCommandOptions {
  readonly dryRun?: true
}

/** `feedline migrate`: takes the database to the schema version of this release. */
export const migrateCommand = (): Command =>
  new Command('migrate')
    .description('Migrate the database to the schema version of this release.')
    .option('--dry-run', 'print the changes, and change nothing')
    .addHelpText('after', help)
    .action(run)

const help = `
You can interrupt, kill and repeat the command. The repeat does what is left. If several processes
run it, one works and the others wait.

Processes of the previous release may run at the same time. They lose no data: MongoDB refuses the
writes that this release would not see. There is no way back to the previous release. Make a backup
first. docs/how-to/upgrade.md describes an upgrade step by step.

Examples:
  $ feedline migrate --dry-run
  $ feedline migrate`

async function run({ dryRun }: MigrateCommandOptions): Promise<void> {
  const options = { profile: 'bulk', prepare: false, anyVersion: true, log } as const
  await using database = await openDatabase(configFor('database'), options)
  using interrupt = interruption()
  if (dryRun) {
    console.log(planText(await planMigration(database.db)))
    return
  }
  const from = await migrate(database.db, { signal: interrupt.signal, log })
  console.log(
    from === undefined || from === schemaVersion
      ? nothingToDo(from)
      : `The database now has schema version ${schemaVersion}.`,
  )
}

function planText({ from, changes }: MigrationPlan): string {
  if (from === undefined || from === schemaVersion) return nothingToDo(from)
  const heading = `Nothing was changed. A migration from schema version ${from} to ${schemaVersion} makes these changes:`
  return [heading, ...changes.map((change) => `  ${change}`)].join('\n')
}

const nothingToDo = (from: number | undefined): string =>
  from === undefined
    ? `The database is new. "feedline serve" creates it with schema version ${schemaVersion}.`
    : `The database has schema version ${from}. There is nothing to migrate.`

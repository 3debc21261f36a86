import { Command } from 'commander'
import { type IndexState, loadIndexStates } from '../db/indexes.ts'
import { configFor } from '../environment.ts'
import { openForCommand } from './database.ts'
import { alignColumns } from './table.ts'

interface IndexesOptions {
  readonly apply?: true
  readonly json?: true
}

/** `feedline indexes`: shows the declared indexes, and whether the database has them. */
export const indexesCommand = (): Command =>
  new Command('indexes')
    .description('Show the declared indexes and their state. Change nothing without --apply.')
    .option('--apply', 'create the missing indexes first; existing indexes stay unchanged')
    .option('--json', 'print one JSON object: following, indexes, missing')
    .action(async ({ apply, json }: IndexesOptions) => {
      const config = configFor('database')
      await using database = await openForCommand(config, apply === true)
      const indexes = await loadIndexStates(database.db, config.following)
      const missing = indexes.filter(({ present }) => !present).length
      if (json) console.log(JSON.stringify({ following: config.following, indexes, missing }))
      else console.log(table(indexes, missing))
    })

function table(indexes: readonly IndexState[], missing: number): string {
  const rows = indexes.map(({ collection, name, unique, present }) => [
    present ? 'present' : 'missing',
    collection,
    name,
    unique ? '(unique)' : '',
  ])
  const sum =
    missing === 0
      ? 'All indexes are present.'
      : `${missing} missing. Run "feedline indexes --apply" to create them.`
  return [...alignColumns(rows), sum].join('\n')
}

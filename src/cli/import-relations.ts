import { Command } from 'commander'
import { configFor } from '../environment.ts'
import type { RelationCounts } from '../imports/classify-rows.ts'
import { importRelations, type RelationImportResult } from '../imports/import-relations.ts'
import { ImportInterrupted } from '../imports/importer.ts'
import { previewRelations } from '../imports/preview-relations.ts'
import { RelationFile } from '../imports/relation-file.ts'
import type { Services } from '../services.ts'
import { endImport, leaveImport, log, openForCommand } from './database.ts'
import { interruption } from './failure.ts'
import { perSecond, showProgress } from './progress.ts'

interface RelationsOptions {
  readonly dryRun?: true
  readonly json?: true
}

/** `feedline import-relations FILE`: imports follows with their history from a table with one time per source. */
export const importRelationsCommand = (): Command =>
  new Command('import-relations')
    .description('Import the relations of a legacy table: edges, their history and exact counters.')
    .argument('<file>', 'CSV file with a header line, or JSONL file; may be gzipped')
    .option('--dry-run', 'report what an import would write, and write nothing')
    .option(
      '--json',
      'print one line of JSON at the end: the counts of this run, and in "total" of all runs; ' +
        '"interrupted" is true if a signal ended the run',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
Columns: user_id, target_user_id, twitter_followed_at, facebook_followed_at, medium_followed_at,
medium_unfollowed_at, latest_followed_at. user_id follows target_user_id. A time is in epoch
milliseconds, or in ISO 8601 with a zone. 0, empty, null or a missing column means never.

Each time except latest_followed_at is an event. The latest event decides the state. If a follow
and an unfollow have the same time, the unfollow is later. The history keeps the events that change
the state. An edge has the source of the follow that began it. The import resolves and counts rows
that contradict themselves:
  followed-not-counted     latest_followed_at is 0, but a follow is later than the unfollow
  unfollowed-still-counted medium_unfollowed_at is later than a latest_followed_at that is not 0
  never-followed           an unfollow without a follow: the import writes nothing
  latest-disagrees         any other latest_followed_at that is neither the latest follow nor,
                           after an unfollow, 0

The import skips and counts: pairs that have an edge or a history ("known"; also the second row of
a pair), pairs with a block ("blocked"), deleted users ("deleted"), rows without a follow ("empty").
A skipped row opens no account.
It reports and counts invalid lines, and continues.

An unchanged file is the same import. To resume an interrupted import, repeat the command.
Repeating a complete import changes nothing.

Examples:
  $ feedline import-relations user_relations.csv.gz --dry-run
  $ feedline import-relations user_relations.jsonl --json`

async function run(path: string, options: RelationsOptions): Promise<void> {
  const dryRun = options.dryRun === true
  const startedAt = performance.now()
  const file = await RelationFile.open(path)
  const config = configFor('database')
  await using database = await openForCommand(config, dryRun ? 'forRead' : 'forImport')
  using interrupt = interruption()
  const report = (result: RelationImportResult, more: object = {}) => {
    const ms = performance.now() - startedAt
    console.log(text(result, dryRun, ms))
    const { bad } = result
    if (bad.count > 0) log(badText(bad))
    if (options.json) console.log(JSON.stringify({ dryRun, ...summary(result, ms), ...more }))
  }
  try {
    report(await relations(database.services, file, dryRun, interrupt.signal))
    interrupt.endAtOnce()
  } catch (error) {
    const wasStopped = error instanceof ImportInterrupted
    if (wasStopped) report(error.partialResult, { interrupted: true })
    if (!dryRun) await leaveImport(database, config)
    throw wasStopped ? error.cause : error
  }
  if (!dryRun) await endImport(database, config)
}

async function relations(
  services: Services,
  file: RelationFile,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<RelationImportResult> {
  using display = showProgress('pairs', dryRun ? 'found' : 'written')
  const onBusy = () => log('Other writes lock the same data. Retrying.')
  const options = { file, signal, onProgress: display.update, onBusy }
  return dryRun
    ? await previewRelations(services, options)
    : await importRelations(services, options)
}

const passedOver = ({ known, blocked, deleted, empty }: RelationCounts) => ({
  known,
  blocked,
  deleted,
  empty,
})

function text(
  { written, rows, contradictions }: RelationImportResult,
  dryRun: boolean,
  ms: number,
) {
  const counted = (counts: object) =>
    Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  const { users, pairs, edges, events } = written
  return [
    `${dryRun ? 'Nothing was written. An import would write ' : ''}${users} users, ${edges} edges and ${events} events ` +
      `for ${pairs} pairs in ${(ms / 1000).toFixed(1)} s (${perSecond(rows, ms)} rows/s)`,
    `Skipped rows: ${counted(passedOver(written)).join(', ')}`,
    `Rows that contradict themselves: ${counted(contradictions).join(', ')}`,
  ].join('\n')
}

function summary(
  { written, total, rows, contradictions, bad }: RelationImportResult,
  ms: number,
): object {
  const stored = ({ users, pairs, edges, events }: RelationCounts) => ({
    users,
    pairs,
    edges,
    events,
  })
  return {
    ...stored(written),
    passedOver: passedOver(written),
    rows,
    contradictions,
    badLines: bad.count,
    seconds: Math.round(ms) / 1000,
    total: { ...stored(total), passedOver: passedOver(total) },
  }
}

function badText({ count, first }: RelationImportResult['bad']): string {
  const shown = first.map(({ line, problem }) => `\n  line ${line}: ${problem}`)
  const rest = count > first.length ? `\n  and ${count - first.length} more` : ''
  return `Skipped invalid lines: ${count}${shown.join('')}${rest}`
}

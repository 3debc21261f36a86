import { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { RelationCounts } from '../imports/choose-relations.ts'
import {
  importRelations,
  previewRelations,
  type RelationImportResult,
} from '../imports/import-relations.ts'
import { ImportInterrupted } from '../imports/interrupted.ts'
import { RelationFile } from '../imports/relation-file.ts'
import type { Services } from '../services.ts'
import { beginRebuilds, openForCommand, say } from './database.ts'
import { interruption } from './failure.ts'
import { perSecond, showProgress } from './progress.ts'

interface RelationsOptions {
  readonly dryRun?: true
  readonly json?: true
}

/** `feedline import-relations FILE`: follows with their history, from a table that kept a time for each source. */
export const importRelationsCommand = (): Command =>
  new Command('import-relations')
    .description('Import relations of a legacy table: edges, their history and exact counters.')
    .argument('<file>', 'CSV with a header line, or JSONL; may be gzipped')
    .option('--dry-run', 'write nothing, and report what would be written')
    .option(
      '--json',
      'end with one line of JSON: what this run wrote, and in "total" what all runs wrote; ' +
        'with "interrupted": true where a signal ended it',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
Columns: user_id, target_user_id, twitter_followed_at, facebook_followed_at, medium_followed_at,
medium_unfollowed_at, latest_followed_at. user_id follows target_user_id. A time is in epoch
milliseconds or ISO 8601 with a zone; 0, empty, null or no such column: never.

Each time but latest_followed_at is an event, and the latest event is the state; an unfollow at
the moment of a follow comes after it. The history keeps what changed the state, and an edge has
the first source of its stretch. Rows that contradict themselves are so resolved, and counted:
  followed-not-counted     latest_followed_at is 0, though a follow is later than the unfollow
  unfollowed-still-counted medium_unfollowed_at is later than a latest_followed_at that is not 0
  never-followed           an unfollow without any follow: nothing is written
  latest-disagrees         latest_followed_at is otherwise neither the latest follow nor,
                           once unfollowed, 0

Passed over, and counted: pairs that have an edge or a history already ("known"; also the second
row of a pair), pairs across a block, deleted people, rows without a follow ("empty"). Bad lines
are reported and counted, and the import goes on.

The same file, unchanged, is the same import: a run that was interrupted is resumed by repeating
the command, and repeating a complete one changes nothing.

Examples:
  $ feedline import-relations user_relations.csv.gz --dry-run
  $ feedline import-relations user_relations.jsonl --json`

async function run(path: string, options: RelationsOptions): Promise<void> {
  const dryRun = options.dryRun === true
  const startedAt = performance.now()
  const file = await RelationFile.open(path)
  await using database = await openForCommand(readConfig(), !dryRun)
  using interrupt = interruption()
  const report = (result: RelationImportResult, more: object = {}) => {
    const ms = performance.now() - startedAt
    console.log(text(result, dryRun, ms))
    const { bad } = result
    if (bad.count > 0) say(badText(bad))
    if (options.json) console.log(JSON.stringify({ dryRun, ...summary(result, ms), ...more }))
  }
  try {
    report(await relations(database.services, file, dryRun, interrupt.signal))
  } catch (error) {
    if (!(error instanceof ImportInterrupted)) throw error
    report(error.soFar, { interrupted: true })
    throw error.cause
  }
}

async function relations(
  services: Services,
  file: RelationFile,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<RelationImportResult> {
  using display = showProgress('pairs', dryRun ? 'found' : 'written')
  const onBusy = () => say('Other writes are in the way: trying on.')
  const options = { file, signal, onProgress: display.update, onBusy }
  if (dryRun) return previewRelations(services, options)
  try {
    return await importRelations(services, options)
  } finally {
    await beginRebuilds(services)
  }
}

const passedOver = ({ known, blocked, deleted, empty }: RelationCounts) => ({
  known,
  blocked,
  deleted,
  empty,
})

function text({ run, rows, contradictions }: RelationImportResult, dryRun: boolean, ms: number) {
  const counted = (counts: object) =>
    Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  const { users, pairs, edges, events } = run
  return [
    `${dryRun ? 'Nothing was written. It would be ' : ''}${users} users, ${edges} edges and ${events} events ` +
      `of ${pairs} pairs in ${(ms / 1000).toFixed(1)} s (${perSecond(rows, ms)} rows/s)`,
    `Rows passed over: ${counted(passedOver(run)).join(', ')}`,
    `Rows that contradict themselves: ${counted(contradictions).join(', ')}`,
  ].join('\n')
}

function summary(
  { run, total, rows, contradictions, bad }: RelationImportResult,
  ms: number,
): object {
  const written = ({ users, pairs, edges, events }: RelationCounts) => ({
    users,
    pairs,
    edges,
    events,
  })
  return {
    ...written(run),
    passedOver: passedOver(run),
    rows,
    contradictions,
    badLines: bad.count,
    seconds: Math.round(ms) / 1000,
    total: { ...written(total), passedOver: passedOver(total) },
  }
}

function badText({ count, first }: RelationImportResult['bad']): string {
  const shown = first.map(({ line, problem }) => `\n  line ${line}: ${problem}`)
  const rest = count > first.length ? `\n  and ${count - first.length} more` : ''
  return `Bad lines passed over: ${count}${shown.join('')}${rest}`
}

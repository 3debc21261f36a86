import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { type CompactedHistory, compactHistory } from '../follows/compact-history.ts'
import { log, openForCommand } from './database.ts'
import { interruption } from './failure.ts'

interface CompactOptions {
  readonly dryRun?: true
  readonly after?: string
  readonly json?: true
}

/** `feedline history`: compacts the history of follows. */
export const historyCommand = (): Command =>
  new Command('history')
    .description('Work on the history of follows.')
    .addCommand(
      new Command('compact')
        .description(
          'Remove old follow events. Of each pair, the last follow and the unfollow after it stay.',
        )
        .option('--dry-run', 'count the events that would be removed, and change nothing')
        .option('--after <id>', 'skip followers up to this account id, to resume')
        .option(
          '--json',
          'print one JSON object: dryRun, pairs, events, removed, disordered, upTo, seconds',
        )
        .addHelpText('after', help)
        .action(compact),
    )

const help = `
Counters, edges and "feedline reconcile" need only the events that stay. Pairs whose events do not
alternate stay unchanged: "feedline reconcile" reports them. Follows and unfollows may go on.

You can stop, kill and repeat the command. While it works, it prints the account id from which
--after resumes.

Examples:
  $ feedline history compact --dry-run
  $ feedline history compact --after VluvbKMVL44`

const progressMs = 5_000

async function compact({ after, json, ...how }: CompactOptions): Promise<void> {
  const dryRun = how.dryRun === true
  const startedAt = performance.now()
  await using database = await openForCommand(configFor('database'), !dryRun)
  using interrupt = interruption()
  const { collections, transactions } = database.services
  let loggedAt = startedAt
  const onProgress = ({ removed, upTo }: CompactedHistory) => {
    if (performance.now() - loggedAt < progressMs) return
    loggedAt = performance.now()
    log(`${removed} events removed, up to ${upTo}`)
  }
  const { signal } = interrupt
  const options = { dryRun, after, signal, onProgress }
  const compaction = await compactHistory(collections, transactions, options)
  const seconds = Math.round(performance.now() - startedAt) / 1000
  if (json) console.log(JSON.stringify({ dryRun, ...compaction, seconds }))
  else console.log(report(compaction, dryRun))
}

const report = ({ pairs, events, removed, disordered }: CompactedHistory, dryRun: boolean) =>
  `${pairs} pairs have ${events} events. ${removed} events ${dryRun ? 'can be' : 'are'} removed.` +
  (disordered > 0 ? ` ${disordered} pairs are out of order and stay: see "feedline verify".` : '')

import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { reconcile } from '../integrity/run.ts'
import { openForCommand, servicesForAllStrategies } from './database.ts'
import { interruption } from './failure.ts'
import { jsonOption, printReport, readersOption, reportWithProgress } from './integrity.ts'

/** `feedline reconcile`: repairs every repairable violation. Adds the difference to counters. */
export const reconcileCommand = (): Command =>
  new Command('reconcile')
    .description('Check all invariants of the stored data. Repair all repairable findings.')
    .addOption(readersOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(run)

const help = `
"feedline verify" shows beforehand what the command would repair.

The command compares the counters of users and posts with the stored edges and entries on one
snapshot. It adds the difference to a counter, so concurrent changes are kept. If one of the two
edge collections lacks an edge, the follow history decides whether to restore or delete the edge.
If both collections agree, the edge stays, and the command reports a history that contradicts it.
It also repairs blocks, lists of likes, comments and shares, by-user entries, stored timelines and
lost jobs.

You can stop, kill and repeat the command, and run it on several machines at the same time. It
applies no difference twice.

Exit code 1: repairable findings remain. Exit code 2: all remaining findings need your decision.
docs/reference/integrity.md lists all findings and repairs.

Examples:
  $ feedline reconcile
  $ feedline reconcile --readers all --json`

async function run({ readers, json }: { readers: number | 'all'; json?: true }): Promise<void> {
  const config = configFor('database')
  await using database = await openForCommand(config, true)
  const services = await servicesForAllStrategies(database, config)
  using stopped = interruption()
  using shown = reportWithProgress()
  const { signal } = stopped
  await reconcile(services, { readers, signal }, shown.report)
  printReport(shown, json === true)
  const { remaining, unrepairable } = shown.report
  if (remaining + unrepairable > 0) process.exitCode = remaining > 0 ? 1 : 2
}

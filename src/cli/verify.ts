import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { verify } from '../integrity/run.ts'
import { openForCommand, servicesForAllStrategies } from './database.ts'
import { interruption } from './failure.ts'
import { jsonOption, printReport, readersOption, reportWithProgress } from './integrity.ts'

/** `feedline verify`: checks whether the stored data keeps the laws. */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check all invariants of the stored data. Change nothing.')
    .addOption(readersOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(run)

const help = `
The command compares counters with edges and posts, edges with their history and with blocks, the
counts and by-user entries of likes, comments and shares with the lists, and stored timelines with
FANOUT_ON_READ. It reports parked jobs. It may run beside servers: it checks each suspect again on
one snapshot. A waiting job repairs what is "in flight".

Exit code 1: there are differences. "feedline reconcile" repairs them.
docs/reference/integrity.md lists all kinds of findings.

Examples:
  $ feedline verify
  $ feedline verify --readers all --json`

async function run({ readers, json }: { readers: number | 'all'; json?: true }): Promise<void> {
  const config = configFor('database')
  await using database = await openForCommand(config, 'forRead')
  const services = await servicesForAllStrategies(database, config)
  using stopped = interruption()
  using shown = reportWithProgress()
  const { signal } = stopped
  await verify(services, { readers, signal }, shown.report)
  printReport(shown, json === true)
  if (shown.report.differences > 0) process.exitCode = 1
}

import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { DomainError } from '../errors.ts'
import { TextFile } from '../imports/text-file.ts'
import { type Reconciled, reconcile } from '../integrity/reconcile.ts'
import { type Drifted, rowsMax } from '../integrity/report.ts'
import { parseUserId } from '../lib/ids.ts'
import { openForCommand, servicesForAllStrategies } from './database.ts'
import { interruption } from './failure.ts'
import { readersOption, wholeNumber } from './numbers.ts'
import { PartDisplays } from './progress.ts'

interface ReconcileCommandOptions {
  readonly users: string
  readonly readers: number | 'all'
  readonly dryRun?: true
  readonly rate?: number
  readonly json?: true
}

/** `feedline reconcile`: repairs every repairable violation. Adds the difference to counters. */
export const reconcileCommand = (): Command =>
  new Command('reconcile')
    .description('Check all invariants of the stored data. Repair all repairable findings.')
    .option('--users <file>', 'file with the users to check, one handle per line, or "all"', 'all')
    .addOption(readersOption())
    .option('--dry-run', 'report the repairs, and change nothing')
    .option('--rate <n>', 'read at most n documents per second', wholeNumber(1, 1e9))
    .option(
      '--json',
      'print one JSON object: run, dryRun, checked, drifted, repaired, edges, accounts, others, reported, remaining, renewed, largest, unrepairable, seconds',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
The command compares the counters of users and posts with the stored edges and entries on one
snapshot. It adds the difference to a counter, so concurrent changes are kept. If one of the two
edge collections lacks an edge, the follow history decides whether to restore or delete the edge.
If both collections agree, the edge stays, and the command reports a history that contradicts it.
It also repairs blocks, lists of likes, comments and shares, by-user entries, stored timelines and
lost jobs.
With --users, it checks the timelines of these users and ignores --readers.

You can stop, kill and repeat the command, and run it on several machines at the same time. It
applies no difference twice. To resume an interrupted run, start it with the same options.

Exit code 1: repairable findings remain. Exit code 2: all remaining findings need your decision.
docs/reference/integrity.md lists all findings and repairs.

Examples:
  $ feedline reconcile --dry-run
  $ feedline reconcile --rate 50000 --json`

async function run({ users, rate, json, ...how }: ReconcileCommandOptions): Promise<void> {
  const dryRun = how.dryRun === true
  const startedAt = performance.now()
  const who = users === 'all' ? 'all' : await handlesIn(users)
  const config = configFor('database')
  await using database = await openForCommand(config, dryRun ? 'forRead' : true)
  const services = await servicesForAllStrategies(database, config)
  using stopped = interruption()
  using displays = new PartDisplays('checked')
  const readers = who === 'all' ? how.readers : who
  const reconciled = await reconcile(services, {
    users: who,
    readers,
    dryRun,
    perSecond: rate,
    signal: stopped.signal,
    onProgress: displays.update,
  })
  displays[Symbol.dispose]()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  console.log(
    json ? JSON.stringify(summary(reconciled, dryRun, seconds)) : report(reconciled, seconds),
  )
  const { remaining, reported } = reconciled.tally
  if (!dryRun && remaining + reported > 0) process.exitCode = remaining > 0 ? 1 : 2
}

/** @throws {DomainError} BAD_USER_INPUT with the first line that is not a handle. */
async function handlesIn(path: string): Promise<string[]> {
  const handles: string[] = []
  for await (const { line, text } of (await TextFile.open(path)).lines()) {
    const handle = parseUserId(text)
    if (!handle) throw new DomainError('BAD_USER_INPUT', `${path}: line ${line} is not a handle`)
    handles.push(handle)
  }
  return handles
}

function summary({ run, tally, ...findings }: Reconciled, dryRun: boolean, seconds: number) {
  const { users, posts, documents, ...counts } = tally
  const checked = { users, posts, documents }
  const largest = findings.largest.map((drift) => ({ ...drift, why: whyOf(drift) }))
  const unrepairable = findings.reported
  return { ...(run ? { run } : {}), dryRun, checked, ...counts, largest, unrepairable, seconds }
}

function report({ tally, largest, ...findings }: Reconciled, seconds: number): string {
  const rest = tally.drifted - largest.length
  const lines = largest.map((drift) => {
    const changes = Object.entries(drift.delta).map(
      ([name, count]) =>
        `${name} ${drift.counted[name]} ${count > 0 ? '+' : '−'} ${Math.abs(count)}`,
    )
    return `${drift.id}  ${changes.join(', ')}  (${whyOf(drift)})`
  })
  const contradictions = findings.reported.map(
    ({ law, kind, subject, expected, found, unrepairable }) =>
      `${law} ${kind}  ${subject}: expected ${expected}; found ${found}. ${unrepairable}`,
  )
  const { users, posts, documents, drifted, repaired, edges, accounts, others } = tally
  const { remaining, reported } = tally
  return [
    ...lines,
    ...(rest > 0 && largest.length === rowsMax ? [`and ${rest} more`] : []),
    ...contradictions,
    ...(reported > contradictions.length ? [`and ${reported - contradictions.length} more`] : []),
    `Checked ${users} users and ${posts} posts (${documents} documents) in ${seconds} s.`,
    `Wrong counters: ${drifted} users or posts, ${repaired} repaired. Other repairs: ${edges} edges, ${accounts} accounts, ${others} others. ` +
      `Remaining: ${remaining} repairable, ${reported} that need your decision.`,
  ].join('\n')
}

const whyOf = ({ kind, repairedEdges }: Drifted): string => {
  if (repairedEdges > 0) return `${repairedEdges} of its edges contradicted their history`
  return kind === 'USER'
    ? 'edges and history agree: only the counter was wrong'
    : 'the lists are complete: only the counter was wrong'
}

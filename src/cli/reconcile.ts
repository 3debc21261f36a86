import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { DomainError } from '../errors.ts'
import { TextFile } from '../imports/text-file.ts'
import { type Reconciled, reconcile } from '../integrity/reconcile.ts'
import { type Drifted, rowsMax } from '../integrity/report.ts'
import { parseUserId } from '../lib/ids.ts'
import { openForCommand, servicesAsStored } from './database.ts'
import { interruption } from './failure.ts'
import { wholeNumber } from './numbers.ts'
import { PartDisplays } from './progress.ts'
import { readersOption } from './readers.ts'

interface ReconcileCommandOptions {
  readonly users: string
  readonly readers: number | 'all'
  readonly dryRun?: true
  readonly rate?: number
  readonly json?: true
}

/** `feedline reconcile`: repairs every violation that can be repaired; counters by difference. */
export const reconcileCommand = (): Command =>
  new Command('reconcile')
    .description('Check all invariants of the stored data, and repair what can be repaired.')
    .option('--users <file>', 'the users of a file, a handle a line, or "all"', 'all')
    .addOption(readersOption())
    .option('--dry-run', 'change nothing, and report what would be repaired')
    .option('--rate <n>', 'count at most n documents a second', wholeNumber(1, 1e9))
    .option(
      '--json',
      'print one JSON object: run, dryRun, checked, off, repaired, mended, accounts, others, reported, remaining, worst, unrepairable, seconds',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
Counters of users and posts are compared with what is stored, on one snapshot, and changed by the
difference, never set: what the traffic adds in between is kept. An edge that one collection lacks
is restored or removed as its history says. Where both collections agree, no edge is changed: a
history that contradicts them is reported. Blocks, lists of likes, comments and shares, logs, stored
timelines and lost jobs are repaired too. With --users, their timelines instead of --readers.

It may be stopped and killed at any moment, repeated, and run by several machines at once: no
difference is applied twice. A run that was cut off goes on when it is started with the same options.

It ends with 1 when something that can be repaired is wrong still, and with 2 when all that is left
must be decided by you. docs/integrity.md lists what is repaired.

Examples:
  $ feedline reconcile --dry-run
  $ feedline reconcile --rate 50000 --json`

async function run({ users, rate, json, ...how }: ReconcileCommandOptions): Promise<void> {
  const dryRun = how.dryRun === true
  const startedAt = performance.now()
  const who = users === 'all' ? 'all' : await handlesIn(users)
  const config = readConfig()
  await using database = await openForCommand(config, !dryRun)
  const services = servicesAsStored(database, config)
  using stopped = interruption()
  using displays = new PartDisplays('checked')
  const readers = who === 'all' ? how.readers : who
  const found = await reconcile(services, {
    ...{ users: who, readers, dryRun, perSecond: rate, signal: stopped.signal },
    onProgress: displays.update,
  })
  displays[Symbol.dispose]()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  console.log(json ? JSON.stringify(summary(found, dryRun, seconds)) : report(found, seconds))
  const { remaining, reported } = found.tally
  if (!dryRun && remaining + reported > 0) process.exitCode = remaining > 0 ? 1 : 2
}

/** @throws {DomainError} BAD_USER_INPUT naming the first line that is no handle. */
async function handlesIn(path: string): Promise<string[]> {
  const handles: string[] = []
  let line = 0
  for await (const text of (await TextFile.open(path)).lines()) {
    line++
    if (text.trim() === '') continue
    const handle = parseUserId(text.trim())
    if (!handle) throw new DomainError('BAD_USER_INPUT', `${path}: line ${line} is not a handle`)
    handles.push(handle)
  }
  return handles
}

function summary({ run, tally, ...found }: Reconciled, dryRun: boolean, seconds: number) {
  const { users, posts, documents, ...counts } = tally
  const checked = { users, posts, documents }
  const worst = found.worst.map((one) => ({ ...one, why: whyOf(one) }))
  const unrepairable = found.reported
  return { ...(run ? { run } : {}), dryRun, checked, ...counts, worst, unrepairable, seconds }
}

function report({ tally, worst, ...found }: Reconciled, seconds: number): string {
  const rest = tally.off - worst.length
  const lines = worst.map((one) => {
    const by = Object.entries(one.by).map(
      ([name, count]) => `${name} ${one.counted[name]} ${count > 0 ? '+' : '−'} ${Math.abs(count)}`,
    )
    return `${one.id}  ${by.join(', ')}  (${whyOf(one)})`
  })
  const contradictions = found.reported.map(
    ({ law, kind, subject, expected, found, unrepairable }) =>
      `${law} ${kind}  ${subject}: expected ${expected}; found ${found}. ${unrepairable}`,
  )
  const { users, posts, documents, off, repaired, mended, accounts, others } = tally
  const { remaining, reported } = tally
  return [
    ...lines,
    ...(rest > 0 && worst.length === rowsMax ? [`and ${rest} more`] : []),
    ...contradictions,
    ...(reported > contradictions.length ? [`and ${reported - contradictions.length} more`] : []),
    `Checked ${users} users and ${posts} posts (${documents} documents) in ${seconds} s.`,
    `${off} off, ${repaired} repaired, ${remaining} off still; ${mended} edges, ${accounts} accounts and ${others} others repaired; ` +
      `${reported} for you to decide.`,
  ].join('\n')
}

const whyOf = ({ kind, mended }: Drifted): string => {
  if (mended > 0) return `${mended} of its edges were not as their history says`
  return kind === 'USER'
    ? 'edges and history agree: the counter was off by itself'
    : 'the lists are whole: the counter was off by itself'
}

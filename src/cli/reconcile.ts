import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { DomainError } from '../errors.ts'
import { TextFile } from '../imports/text-file.ts'
import { parseUserId } from '../lib/ids.ts'
import { type Reconciled, reconcile, type Worst, worstMax } from '../reconcile/reconcile.ts'
import { openForCommand } from './database.ts'
import { interruption } from './failure.ts'
import { wholeNumber } from './numbers.ts'
import { PartDisplays } from './progress.ts'

interface ReconcileCommandOptions {
  readonly users: string
  readonly dryRun?: true
  readonly rate?: number
  readonly json?: true
}

/** `feedline reconcile`: makes counters what they count, by difference. */
export const reconcileCommand = (): Command =>
  new Command('reconcile')
    .description('Find counters and edges that have drifted, and repair them by difference.')
    .option('--users <file>', 'those of a file, a handle a line, or of "all"', 'all')
    .option('--dry-run', 'change nothing, and tell what would be')
    .option('--rate <n>', 'count at most n documents a second', wholeNumber(1, 1e9))
    .option(
      '--json',
      'print one JSON object: run, dryRun, checked, off, repaired, mended, remaining, worst, seconds',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
Followers, following and posts of each user, and likes, comments and shares of each post, are
compared with what is stored, on one snapshot. What is off is changed by the difference, never
set: so what the traffic adds meanwhile is kept. Edges that stand on one side only, or against
their history, are mended first.

It may be stopped and killed at any moment, repeated, and run by several machines at once: no
difference is applied twice. A run that was cut off goes on when the same is asked again.

It ends with 1 when something is off still.

Examples:
  $ feedline reconcile --dry-run
  $ feedline reconcile --rate 50000 --json`

async function run({ users, rate, json, ...how }: ReconcileCommandOptions): Promise<void> {
  const dryRun = how.dryRun === true
  const startedAt = performance.now()
  const who = users === 'all' ? 'all' : await handlesIn(users)
  await using database = await openForCommand(readConfig(), !dryRun)
  using stopped = interruption()
  using displays = new PartDisplays('checked')
  const found = await reconcile(database.services, {
    ...{ users: who, dryRun, perSecond: rate, signal: stopped.signal },
    onProgress: displays.update,
  })
  displays[Symbol.dispose]()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  console.log(json ? JSON.stringify(summary(found, dryRun, seconds)) : report(found, seconds))
  if (!dryRun && found.tally.remaining > 0) process.exitCode = 1
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

function summary({ run, tally, worst }: Reconciled, dryRun: boolean, seconds: number) {
  const { users, posts, documents, ...counts } = tally
  const checked = { users, posts, documents }
  const told = worst.map((one) => ({ ...one, why: whyOf(one) }))
  return { ...(run ? { run } : {}), dryRun, checked, ...counts, worst: told, seconds }
}

function report({ tally, worst }: Reconciled, seconds: number): string {
  const rest = tally.off - worst.length
  const lines = worst.map((one) => {
    const by = Object.entries(one.by).map(
      ([name, count]) => `${name} ${one.counted[name]} ${count > 0 ? '+' : '−'} ${Math.abs(count)}`,
    )
    return `${one.id}  ${by.join(', ')}  (${whyOf(one)})`
  })
  const { users, posts, documents, off, repaired, mended, accounts, remaining } = tally
  return [
    ...lines,
    ...(rest > 0 && worst.length === worstMax ? [`and ${rest} more`] : []),
    `Checked ${users} users and ${posts} posts (${documents} documents) in ${seconds} s.`,
    `${off} off, ${repaired} repaired, ${remaining} off still; ${mended} edges and ${accounts} accounts mended.`,
  ].join('\n')
}

const whyOf = ({ kind, mended }: Worst): string => {
  if (mended > 0) return `${mended} of its edges did not agree with their history`
  return kind === 'USER'
    ? 'edges and history agree: the counter was off by itself'
    : 'the lists are whole: the counter was off by itself'
}

import { Command } from 'commander'
import { configFor } from '../environment.ts'
import type { Finding } from '../integrity/invariant.ts'
import { Tally, verify } from '../integrity/verify.ts'
import { openForCommand, servicesForAllStrategies } from './database.ts'
import { readersOption } from './numbers.ts'
import { PartDisplays } from './progress.ts'

/** The most findings that the command prints. */
const shownMax = 100

interface VerifyOptions {
  readonly readers: number | 'all'
  readonly json?: true
}

/** `feedline verify`: checks whether the stored data keeps the laws. */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check all invariants of the stored data. Change nothing.')
    .addOption(readersOption())
    .option(
      '--json',
      'print one JSON object: checked, drifted, repaired (0), differences, byKind, sample, harmless, unrepairable, inFlight, seconds',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
The command compares counters with edges and posts, edges with their history and with blocks, the
counts and logs of likes, comments and shares with the lists, and stored timelines with
FANOUT_ON_READ. It reports parked jobs. It may run beside servers: it checks each suspect again on
one snapshot. A waiting job repairs a finding that is "in flight". Clients never see a finding that
is "harmless".

The command prints the first ${shownMax} findings. Exit code 1: some findings are not harmless.
"feedline reconcile" repairs findings. docs/reference/integrity.md lists all kinds of findings.

Examples:
  $ feedline verify
  $ feedline verify --readers all --json`

async function run({ readers, json }: VerifyOptions): Promise<void> {
  const startedAt = performance.now()
  const config = configFor('database')
  await using database = await openForCommand(config, 'forRead')
  const services = await servicesForAllStrategies(database, config)
  const tally = new Tally()
  const findings: Findings = {
    differences: 0,
    byKind: {},
    sample: [],
    harmless: 0,
    unrepairable: 0,
  }
  using displays = new PartDisplays('checked')
  for await (const finding of verify(services, { readers, onProgress: displays.update }, tally)) {
    addFinding(findings, finding)
  }
  displays[Symbol.dispose]()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  const { checked, inFlight } = tally
  console.log(
    json
      ? JSON.stringify({
          checked,
          drifted: findings.differences,
          repaired: 0,
          ...findings,
          inFlight,
          seconds,
        })
      : report(findings, tally, seconds),
  )
  if (findings.differences > 0) process.exitCode = 1
}

/** The findings of a run: their counts, and the first findings. */
interface Findings {
  /** Findings that are not harmless. */
  differences: number
  readonly byKind: Record<string, number>
  readonly sample: Finding[]
  harmless: number
  /** Findings that `feedline reconcile` reports and does not repair. */
  unrepairable: number
}

function addFinding(findings: Findings, finding: Finding): void {
  const kind = `${finding.law} ${finding.kind}`
  if (finding.harmless) findings.harmless++
  else findings.differences++
  if (finding.unrepairable !== undefined) findings.unrepairable++
  findings.byKind[kind] = (findings.byKind[kind] ?? 0) + 1
  if (findings.sample.length < shownMax) findings.sample.push(finding)
}

function report(findings: Findings, { checked, inFlight }: Tally, seconds: number): string {
  const { differences, sample, harmless, unrepairable } = findings
  const lines = sample.map(
    ({ law, kind, subject, expected, found }) =>
      `${law} ${kind}  ${subject}: expected ${expected}; found ${found}`,
  )
  const rest = differences + harmless - sample.length
  const { users, edges, posts, engagements, timelines, readers } = checked
  const more = [
    ...(harmless > 0 ? [`${harmless} harmless`] : []),
    ...(unrepairable > 0 ? [`${unrepairable} that reconcile cannot repair`] : []),
    `${inFlight} in flight`,
  ]
  return [
    ...lines,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    `Checked ${users} users, ${edges} edges, ${posts} posts, ${engagements} likes, comments and shares, ` +
      `${timelines} timelines of ${readers} readers in ${seconds} s.`,
    `${differences} ${differences === 1 ? 'difference' : 'differences'}, ${more.join(', ')}.`,
  ].join('\n')
}

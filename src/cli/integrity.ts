import { Option } from 'commander'
import { Report, type ReportedFinding } from '../integrity/report.ts'
import { log } from './database.ts'
import { wholeNumber } from './numbers.ts'

/** The time between two progress lines, in milliseconds. */
const lineEveryMs = 5_000

/** `--readers`: the readers whose timelines are compared. */
export const readersOption = (): Option =>
  new Option('--readers <n>', 'compare the timelines of n random readers, or of "all" readers')
    .argParser((text) => (text === 'all' ? text : wholeNumber(0, 100_000)(text)))
    .default(100)

/** `--json`: the report as one object. */
export const jsonOption = (): Option =>
  new Option(
    '--json',
    'print one JSON object: checked, differences, repaired, remaining, unrepairable, inFlight, byKind, sample, seconds',
  )

/** A report whose numbers a line on stderr shows every 5 s, if stderr is a terminal. */
interface ShownReport extends Disposable {
  readonly report: Report
  readonly startedAt: number
}

export function reportWithProgress(): ShownReport {
  const report = new Report()
  const show = () => process.stderr.isTTY && log(checkedIn(report))
  const timer = setInterval(show, lineEveryMs)
  const startedAt = performance.now()
  return { report, startedAt, [Symbol.dispose]: () => clearInterval(timer) }
}

function checkedIn({ checked }: Report): string {
  const { users, edges, posts, engagements, timelines, readers } = checked
  return (
    `Checked ${users} users, ${edges} edges, ${posts} posts, ${engagements} likes, comments and shares, ` +
    `${timelines} timelines of ${readers} readers`
  )
}

/** Prints the first findings and the numbers of a report. */
export function printReport({ report, startedAt }: ShownReport, json: boolean): void {
  const seconds = Math.round(performance.now() - startedAt) / 1000
  if (json) {
    console.log(JSON.stringify({ ...report.toJSON(), seconds }))
    return
  }
  const { differences, repaired, unrepairable, inFlight, sample } = report
  const rest = differences - sample.length
  const numbers = [
    `${differences} ${differences === 1 ? 'difference' : 'differences'}`,
    ...(repaired > 0 ? [`${repaired} repaired`] : []),
    ...(unrepairable > 0 ? [`${unrepairable} that reconcile cannot repair`] : []),
    `${inFlight} in flight`,
  ]
  const lines = [
    ...sample.map(rowOf),
    ...(rest > 0 ? [`and ${rest} more`] : []),
    `${checkedIn(report)} in ${seconds} s.`,
    `${numbers.join(', ')}.`,
  ]
  console.log(lines.join('\n'))
}

function rowOf(finding: ReportedFinding): string {
  const { law, kind, subject, expected, found, unrepairable, repaired } = finding
  const more = repaired ? '; repaired' : unrepairable === undefined ? '' : `. ${unrepairable}`
  return `${law} ${kind}  ${subject}: expected ${expected}; found ${found}${more}`
}

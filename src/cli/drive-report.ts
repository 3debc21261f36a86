import type { Percentiles } from '../drive/latencies.ts'
import type { DriveResult, RequestResult } from '../drive/result.ts'
import type { VerificationResult } from '../drive/verification.ts'
import { alignColumns } from './table.ts'

/** The text that `feedline drive` prints. */
export function formatDrive(result: DriveResult): string {
  const { steps, operations, total, interrupted, highestRateWithin, settings } = result
  const bound = settings.untilP99Ms
  return [
    ...alignColumns([
      [
        ...['rate/s', 'seconds', 'arrivals', 'answered/s', 'p50 ms', 'p99 ms', 'failed'],
        ...['dropped', 'skipped'],
      ],
      ...steps.map((step) => [
        formatNumber(step.perSecond),
        formatNumber(step.seconds),
        String(step.arrivals),
        formatNumber(step.achievedPerSecond),
        formatMs(step.latency?.p50Ms),
        formatMs(step.latency?.p99Ms),
        String(step.failed),
        String(step.dropped),
        String(step.skipped),
      ]),
    ]),
    '',
    ...alignColumns([
      ['operation', 'sent', 'ok', '304', 'p50 ms', 'p90', 'p99', 'p99.9', 'max', 'errors'],
      ...Object.entries(operations).map(([name, found]) => operationRow(name, found)),
      operationRow('all', total),
    ]),
    '',
    ...(highestRateWithin === undefined
      ? []
      : [`Highest rate with p99 up to ${bound} ms: ${formatNumber(highestRateWithin)}/s.`]),
    generatorSentence(result),
    ...(interrupted ? ['The run was interrupted.'] : []),
    ...verificationLines(result),
  ].join('\n')
}

function operationRow(name: string, { sent, ok, unchanged, latency, errors }: RequestResult) {
  const keys: readonly (keyof Percentiles)[] = ['p50Ms', 'p90Ms', 'p99Ms', 'p999Ms', 'maxMs']
  return [
    ...[name, String(sent), String(ok), String(unchanged)],
    ...keys.map((key) => formatMs(latency?.[key])),
    Object.entries(errors)
      .map(([code, count]) => `${code} ${count}`)
      .join(', '),
  ]
}

function generatorSentence({ generator, limits }: DriveResult): string {
  const { cpuShare, eventLoopDelayP99Ms, lateP99Ms } = generator
  const measured =
    `Load generator: ${(100 * cpuShare).toFixed(0)} % of a core, event loop ` +
    `${eventLoopDelayP99Ms.toFixed(1)} ms late, requests ${lateP99Ms.toFixed(1)} ms late (p99).`
  return limits.length === 0
    ? measured
    : `${measured}\nNOT VALID: the load generator was at its limit: ${limits.join('; ')}.`
}

function verificationLines({ verification, unverified, acknowledged }: DriveResult): string[] {
  if (!verification) return [`NOT VERIFIED: ${unverified}.`]
  const { differences, sample } = verification
  const { posts, follows, likes } = acknowledged
  return [
    `Verified: ${describeComparison(verification)}, and the lists of ${verification.writers} users ` +
      `with ${posts} acknowledged posts, ${follows} follows and ${likes} likes.`,
    ...sample.map(({ reader, list, kind, item }) =>
      [`${kind}  ${list} of ${reader}`, ...(item === undefined ? [] : [item])].join(': '),
    ),
    ...(differences > sample.length ? [`and ${differences - sample.length} more`] : []),
    differences === 1 ? '1 difference.' : `${differences} differences.`,
  ]
}

/** Says what was compared. */
function describeComparison(verification: VerificationResult): string {
  const { readers, strategies, timelines, posts, pollers, cutLists } = verification
  const compared =
    strategies.length === 0
      ? 'no strategy but FANOUT_ON_READ is maintained'
      : `${timelines} timelines (${strategies.join(', ')}) of ${readers} readers with ${posts} posts`
  const cut = cutLists > 0 ? ` (${cutLists} lists only as far as 20,000 items)` : ''
  return `${compared}${cut}, ${pollers} pollers`
}

const formatMs = (ms: number | undefined): string => (ms === undefined ? '–' : ms.toFixed(1))
const formatNumber = (value: number): string =>
  value >= 100 ? value.toFixed(0) : String(Number(value.toFixed(1)))

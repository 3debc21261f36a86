import { alignColumns } from '../../src/cli/table.ts'
import type { DriveResult, RequestResult } from './result.ts'
import type { VerificationResult } from './verification.ts'

/** The text that `feedline drive` prints. */
export function formatDrive(result: DriveResult): string {
  const { steps, operations, total, interrupted } = result
  const head = ['rate/s', 'seconds', 'arrivals', 'answered/s', 'p50 ms', 'p99 ms', 'failed']
  return [
    ...alignColumns([
      [...head, 'dropped', 'skipped'],
      ...steps.map((step) => [
        ...[step.perSecond, step.seconds].map(formatNumber),
        String(step.arrivals),
        formatNumber(step.achievedPerSecond),
        ...[step.latency?.p50Ms, step.latency?.p99Ms].map(formatMs),
        ...[step.failed, step.dropped, step.skipped].map(String),
      ]),
    ]),
    '',
    ...alignColumns([
      ['operation', 'sent', 'ok', '304', 'p50 ms', 'p90', 'p99', 'p99.9', 'max', 'errors'],
      ...Object.entries({ ...operations, all: total }).map(operationRow),
    ]),
    '',
    ...boundLines(result),
    ...generatorLines(result),
    ...(interrupted ? ['The run was interrupted.'] : []),
    ...verificationLines(result),
  ].join('\n')
}

function operationRow([name, request]: readonly [string, RequestResult]): string[] {
  const { sent, ok, unchanged, latency, errors } = request
  const { p50Ms, p90Ms, p99Ms, p999Ms, maxMs } = latency ?? {}
  return [
    ...[name, String(sent), String(ok), String(unchanged)],
    ...[p50Ms, p90Ms, p99Ms, p999Ms, maxMs].map(formatMs),
    Object.entries(errors)
      .map(([code, count]) => `${code} ${count}`)
      .join(', '),
  ]
}

/** Which rates kept the bound, if there is one. */
function boundLines({ steps, interrupted, highestRateWithin, settings }: DriveResult): string[] {
  if (highestRateWithin === undefined) return []
  const bound = `p99 up to ${settings.untilP99} ms`
  const last = steps.at(-1)?.perSecond ?? 0
  return [
    highestRateWithin === 0
      ? `No rate kept ${bound}.`
      : `Highest rate with ${bound}: ${formatNumber(highestRateWithin)}/s.`,
    ...(last > highestRateWithin && !interrupted
      ? [`More than 1 % of the requests at ${formatNumber(last)}/s took longer or failed.`]
      : []),
  ]
}

function generatorLines({ generator, limits }: DriveResult): string[] {
  const { cpuShare, eventLoopDelayP99Ms, lateP99Ms } = generator
  return [
    `Load generator: ${(100 * cpuShare).toFixed(0)} % of a core, event loop ` +
      `${eventLoopDelayP99Ms.toFixed(1)} ms late, requests ${lateP99Ms.toFixed(1)} ms late (p99).`,
    ...(limits.length > 0
      ? [`NOT VALID: the load generator was at its limit: ${limits.join('; ')}.`]
      : []),
  ]
}

function verificationLines({ verification, unverified }: DriveResult): string[] {
  if (!verification) return [`NOT VERIFIED: ${unverified}.`]
  const { differences, sample, pollers, writers, unverifiedSample } = verification
  const { posts, follows, likes } = verification.acknowledged
  return [
    `Verified: ${timelinesOf(verification)}, ${pollers} pollers, and the lists of ${writers} users ` +
      `with ${posts} acknowledged posts, ${follows} follows and ${likes} likes.`,
    ...verification.strategies
      .filter(({ pagesByFanoutOnRead }) => pagesByFanoutOnRead > 0)
      .map(
        ({ name, pages, pagesByFanoutOnRead }) =>
          `Not verified: ${pagesByFanoutOnRead} of ${pages} pages of ${name}, which FANOUT_ON_READ served.`,
      ),
    ...sample.map(
      ({ reader, list, kind, item }) => `${kind}  ${list} of ${reader}${item ? `: ${item}` : ''}`,
    ),
    ...furtherOf(differences, sample),
    ...unverifiedSample.map(
      ({ reader, list, reason }) => `NOT VERIFIED  ${list} of ${reader}: ${reason}`,
    ),
    ...furtherOf(verification.unverified, unverifiedSample),
    differences === 1 ? '1 difference.' : `${differences} differences.`,
  ]
}

const furtherOf = (count: number, { length }: readonly unknown[]): string[] =>
  count > length ? [`and ${count - length} more`] : []

/** Says which timelines were compared. */
function timelinesOf({ readers, strategies }: VerificationResult): string {
  if (strategies.length === 0) return 'no strategy but FANOUT_ON_READ is maintained'
  const each = strategies.map(({ name, posts }) => `${name} with ${posts} posts`).join(', ')
  return `the timelines of ${readers} readers under ${each}`
}

const formatMs = (ms: number | undefined): string => (ms === undefined ? '–' : ms.toFixed(1))
const formatNumber = (value: number): string =>
  value >= 100 ? value.toFixed(0) : String(Number(value.toFixed(1)))

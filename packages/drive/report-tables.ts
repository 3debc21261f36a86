import { escapeXml } from '../../src/lib/svg.ts'
import { operations as operationTable } from './operations.ts'
import type { OperationName } from './plan.ts'
import type { DriveResult, RequestResult } from './result.ts'
import type { VerificationResult } from './verification-result.ts'

/** The verdicts at the head of a report: right, valid, how many failed, and the highest rate. */
export function renderVerdicts(result: DriveResult): string {
  const { verification, unverified, limits, total, generator, settings } = result
  const failed = total.sent - total.ok
  const verdicts = [
    verification
      ? renderVerification(verification)
      : verdict('bad', 'Not verified', unverified ?? ''),
    limits.length === 0
      ? verdict(
          'good',
          'The measurement is valid',
          `the generator used ${(100 * generator.cpuShare).toFixed(0)} % of a core and was ${generator.lateP99Ms.toFixed(1)} ms late (p99)`,
        )
      : verdict('warn', 'The generator was at its limit', limits.join('; ')),
    verdict(
      failed === 0 ? 'good' : 'warn',
      `p99 ${formatMs(total.latency?.p99Ms)} ms`,
      `of ${total.ok} answers; ${failed} requests failed`,
    ),
    ...(result.highestRateWithin === undefined
      ? []
      : [
          result.highestRateWithin === 0
            ? verdict('warn', 'No rate', `kept p99 up to ${settings.untilP99Ms} ms`)
            : verdict(
                'good',
                `${Number(result.highestRateWithin.toFixed(1))} requests/s`,
                `is the highest rate with p99 up to ${settings.untilP99Ms} ms`,
              ),
        ]),
    ...(result.interrupted ? [verdict('warn', 'Interrupted', 'the run ended early')] : []),
  ]
  return `<div class="verdicts">\n${verdicts.join('\n')}\n</div>`
}

function renderVerification(found: VerificationResult): string {
  const { differences, unverified, strategies, readers, pollers, writers } = found
  const more = [
    `timelines of ${readers} readers (${strategies.map(({ name }) => name).join(', ') || 'FANOUT_ON_READ only'})`,
    `${pollers} pollers`,
    `the lists of ${writers} users`,
  ].join(', ')
  if (differences > 0) return verdict('bad', `${differences} differences`, more)
  return unverified > 0
    ? verdict('bad', `${unverified} lists not verified`, more)
    : verdict('good', 'Every feed was right', more)
}

const verdict = (kind: 'good' | 'warn' | 'bad', title: string, more: string): string =>
  `<div class="verdict ${kind}"><b>${escapeXml(title)}</b><span>${escapeXml(more)}</span></div>`

/** The tables of a report: operations, rates, differences and settings. */
export function renderTables(result: DriveResult): string {
  return [
    renderOperations(result),
    renderSteps(result),
    renderCompared(result),
    renderDifferences(result),
    renderUnverified(result),
    renderSettings(result),
  ].join('\n')
}

function renderOperations({ operations, total }: DriveResult): string {
  const rows = [...Object.entries(operations), ['all', total] as const].map(([name, found]) =>
    operationRow(name, found),
  )
  const head = ['operation', 'sent', 'ok', '304', 'p50 ms', 'p90', 'p99', 'p99.9', 'max']
  return table('Operations', [...head, 'errors', 'what it is'], rows, [
    'operation',
    'errors',
    'what it is',
  ])
}

function operationRow(name: string, { sent, ok, unchanged, latency, errors }: RequestResult) {
  const { p50Ms, p90Ms, p99Ms, p999Ms, maxMs } = latency ?? {}
  const codes = Object.entries(errors).map(([code, count]) => `${code} ${count}`)
  return [
    ...[name, String(sent), String(ok), String(unchanged)],
    ...[p50Ms, p90Ms, p99Ms, p999Ms, maxMs].map(formatMs),
    ...[codes.join(', '), descriptionOf(name)],
  ]
}

function descriptionOf(name: string): string {
  if (name === 'all') return ''
  return (
    operationTable[name as OperationName]?.description ??
    'what a poll reads after news: new posts, or the first page'
  )
}

function renderSteps({ steps }: DriveResult): string {
  const rows = steps.map((step) => [
    String(Number(step.perSecond.toFixed(1))),
    String(Number(step.seconds.toFixed(1))),
    String(step.arrivals),
    String(step.dropped),
    String(step.skipped),
    String(step.failed),
    step.achievedPerSecond.toFixed(1),
    formatMs(step.latency?.p50Ms),
    formatMs(step.latency?.p99Ms),
    formatMs(step.latency?.p999Ms),
  ])
  const head = ['rate/s', 'seconds', 'arrivals', 'dropped', 'skipped', 'failed', 'answered/s']
  return table('Rates', [...head, 'p50 ms', 'p99', 'p99.9'], rows)
}

function renderDifferences({ verification }: DriveResult): string {
  if (!verification || verification.differences === 0) return ''
  const rows = verification.sample.map(({ reader, list, kind, item = '' }) => [
    ...[reader, list, kind, item],
  ])
  const head = ['reader', 'list', 'kind', 'item']
  return table(`Differences: ${verification.differences}`, head, rows, head)
}

function renderCompared({ verification }: DriveResult): string {
  if (!verification || verification.strategies.length === 0) return ''
  const rows = verification.strategies.map((each) => [
    each.name,
    ...[each.timelines, each.pages, each.pagesByFanoutOnRead, each.posts].map(String),
  ])
  const head = ['strategy', 'timelines', 'pages', 'of these by FANOUT_ON_READ', 'posts verified']
  return table('Timelines compared with FANOUT_ON_READ', head, rows, ['strategy'])
}

function renderUnverified({ verification }: DriveResult): string {
  if (!verification || verification.unverified === 0) return ''
  const rows = verification.unverifiedSample.map(({ reader, list, reason }) => [
    ...[reader, list, reason],
  ])
  const head = ['reader', 'list', 'reason']
  return table(`Lists not verified: ${verification.unverified}`, head, rows, head)
}

function renderSettings({ settings, versions, acknowledged }: DriveResult): string {
  const shown = { ...settings, ...versions, acknowledged }
  const rows = Object.entries(shown).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])
  return table('Settings', ['setting', 'value'], rows, ['setting', 'value'])
}

function table(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: readonly string[] = [],
): string {
  const kindOf = (at: number) => {
    if (!textColumns.includes(head[at] ?? '')) return ''
    return at === 0 ? ' class="text"' : ' class="text long"'
  }
  const rowOf = (tag: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${cells.map((cell, at) => `<${tag}${kindOf(at)}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`
  return [
    `<h2>${escapeXml(title)}</h2>`,
    `<div class="table"><table>`,
    rowOf('th', head),
    ...rows.map((row) => rowOf('td', row)),
    '</table></div>',
  ].join('\n')
}

const formatMs = (ms: number | undefined): string => (ms === undefined ? '–' : ms.toFixed(1))

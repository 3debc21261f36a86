import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { measureProcess } from '../../src/metrics/process.ts'
import { registry } from '../../src/metrics/registry.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const metricsFolder = join(root, 'src/metrics')

/** The labels of every series that a process exports, by its name. */
const exported = new Map<string, readonly string[]>()
beforeAll(async () => {
  await Promise.all(readdirSync(metricsFolder).map((file) => import(join(metricsFolder, file))))
  measureProcess()
  for (const metric of registry.getMetricsAsArray()) {
    const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] }
    if (metric.constructor.name !== 'Histogram') exported.set(name, labelNames)
    else {
      exported.set(`${name}_bucket`, [...labelNames, 'le'])
      exported.set(`${name}_count`, labelNames)
      exported.set(`${name}_sum`, labelNames)
    }
  }
})

/** Labels that Prometheus adds to every series. */
const added = ['job', 'instance']
const namePattern = /\b(?:feedline|nodejs|process)_\w+/g

const ruleExpressions = () =>
  [
    ...read('deploy/prometheus-rules.yaml').matchAll(
      /^ +expr: (?:>-\n)?(.*?)\n +(?:for|labels):/gms,
    ),
  ].map(([, expression = '']) => expression)
const dashboard = () => JSON.parse(read('deploy/grafana-dashboard.json'))
const panelExpressions = (): string[] =>
  dashboard().panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  )

/** What an expression names that no process exports. */
function unknownIn(expression: string): string[] {
  const names = expression.match(namePattern) ?? []
  const unknown = names.filter((name) => !exported.has(name))
  const known = new Set([...added, ...names.flatMap((name) => exported.get(name) ?? [])])
  const selectors = [...expression.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(
    ([, label]) => label,
  )
  const groupings = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  const labels = [...selectors, ...groupings].filter((label = '') => !known.has(label))
  return [...unknown, ...labels].map((part) => `${part} in ${expression}`)
}

test('alert rules and dashboard name only metrics and labels that a process exports', () => {
  const expressions = [...ruleExpressions(), ...panelExpressions()]
  expect(expressions.length).toBeGreaterThan(30)
  expect(expressions.flatMap(unknownIn)).toEqual([])
  expect(dashboard().templating.list[1].query).toMatch(
    /^label_values\(feedline_clock_skew_seconds, job\)$/,
  )
})

test('the dashboard shows every metric of Feedline', () => {
  const shown = new Set(panelExpressions().flatMap((text) => text.match(namePattern) ?? []))
  const base = (name: string) => name.replace(/_(bucket|count|sum)$/, '')
  const bases = new Set([...shown].map(base))
  const own = [...exported.keys()].filter((name) => name.startsWith('feedline_')).map(base)
  expect([...new Set(own)].filter((name) => !bases.has(name))).toEqual([])
})

test('the check finds an unknown metric, selector and grouping', () => {
  expect(
    unknownIn('sum by (kind) (rate(feedline_requests_total{job="a", state="b"}[5m]))'),
  ).toHaveLength(2)
  expect(unknownIn('feedline_nothing_total')).toHaveLength(1)
  expect(unknownIn('sum by (le, code) (rate(feedline_request_seconds_bucket[5m]))')).toHaveLength(1)
})

test('docs/how-to/operations.md explains each alert once, and each runbook link has its section', () => {
  const rules = read('deploy/prometheus-rules.yaml')
  const docs = read('docs/how-to/operations.md')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect(ruleExpressions()).toHaveLength(alerts.length)
  const rows = [...docs.matchAll(/^\| `(Feedline\w+)` \|/gm)].map(([, name]) => name)
  expect(rows).toEqual(alerts)
  const headings = [...docs.matchAll(/^## (.*)$/gm)].map(
    ([, heading = '']) => `docs/how-to/operations.md#${heading.toLowerCase().replaceAll(' ', '-')}`,
  )
  for (const [, link] of rules.matchAll(/runbook: (\S+)/g)) expect(headings).toContain(link)
})

test('each alert has a test that it fires and tests that it stays silent', () => {
  const alerts = [...read('deploy/prometheus-rules.yaml').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name,
  )
  const tests = read('deploy/prometheus-rules.test.yaml')
  const firing = [...tests.matchAll(/alertname: (\w+)\n +exp_alerts:/g)].map(([, name]) => name)
  const silent = [...tests.matchAll(/alertname: (\w+) \}/g)].map(([, name]) => name)
  expect([...new Set(firing)]).toEqual(alerts)
  expect([...new Set(silent)]).toEqual(alerts)
})

test('docs/how-to/operations.md explains every message of UNAVAILABLE', () => {
  const docs = read('docs/how-to/operations.md').toLowerCase()
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const messages = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...read(join('src', file)).matchAll(
        /new DomainError\(\s*'UNAVAILABLE',\s*\[?\s*['`]([^'`]+)/g,
      ),
    ])
    .map(([, message = '']) => message.split(/[.:]/)[0]?.replace(/^\$\{\w+\} /, '') ?? '')
  expect(messages.length).toBeGreaterThan(4)
  expect(messages.filter((message) => !docs.includes(message.toLowerCase()))).toEqual([])
})

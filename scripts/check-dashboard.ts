import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

// Sends every query of the dashboard and the alerts to a Prometheus, and prints what it answers.
// node --import tsx scripts/check-dashboard.ts [--job JOB] [--interval 1m] http://localhost:9090
// Exits with 1 if Prometheus refuses a query. A query without data is listed: some count what did
// not happen.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    job: { type: 'string', default: '.*' },
    interval: { type: 'string', default: '1m' },
  },
})
const [prometheus = 'http://localhost:9090'] = positionals
const read = (file: string) => readFileSync(join(import.meta.dirname, '../deploy', file), 'utf8')

interface Query {
  readonly title: string
  readonly expression: string
}

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const panels: readonly Panel[] = JSON.parse(read('grafana-dashboard.json')).panels
const panelQueries = panels.flatMap(({ title, targets }) =>
  targets.map(
    ({ expr, legendFormat }): Query => ({
      title: `${title}: ${legendFormat}`,
      expression: expr
        .replaceAll('$__rate_interval', values.interval)
        .replaceAll('$job', values.job),
    }),
  ),
)
/** An alert without its bounds, so that it has a value while it is silent. */
const alertQueries = [
  ...read('prometheus-rules.yaml').matchAll(
    /- alert: (\w+)\n +expr: (?:>-\n)?(.*?)\n +(?:for|labels):/gs,
  ),
].map(
  ([, alert = '', expression = '']): Query => ({
    title: `alert ${alert}`,
    expression: expression.replaceAll(/ (?:>|==) [\d.]+/g, ''),
  }),
)

/** The answer of Prometheus: the values of all series, or why it refuses the query. */
async function answerOf({ expression }: Query): Promise<readonly number[] | string> {
  const url = new URL('/api/v1/query', prometheus)
  url.searchParams.set('query', expression)
  const answer = (await (await fetch(url)).json()) as {
    readonly error?: string
    readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] }
  }
  return answer.data?.result.map(({ value }) => Number(value[1])) ?? answer.error ?? 'no answer'
}

const [refused, empty]: [string[], string[]] = [[], []]
const queries = [...panelQueries, ...alertQueries]
for (const query of queries) {
  const answer = await answerOf(query)
  if (typeof answer === 'string') refused.push(`${query.title}: ${answer}: ${query.expression}`)
  else if (answer.length === 0) empty.push(query.title)
  else {
    const numbers = answer.filter((value) => !Number.isNaN(value))
    const range = `${Math.min(...numbers).toPrecision(3)} to ${Math.max(...numbers).toPrecision(3)}`
    const shown = numbers.length === 0 ? 'no number' : range
    console.log(`${query.title}: ${answer.length} series, ${shown}`)
  }
}
for (const title of empty) console.log(`${title}: no data`)
for (const problem of refused) console.log(`refused: ${problem}`)
console.log(`${queries.length} queries: ${refused.length} refused, ${empty.length} without data`)
process.exitCode = refused.length === 0 ? 0 : 1

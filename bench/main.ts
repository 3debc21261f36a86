import { parseArgs } from 'node:util'
import { stopDatabases } from './database.ts'
import { benchmarkEngagement } from './engagement/engagement.ts'
import { benchmarkThresholds } from './engagement/thresholds.ts'
import { benchmarkFeeds } from './feeds/feeds.ts'
import { benchmarkFollows } from './follows/follows.ts'
import { benchmarkProcesses } from './processes/processes.ts'
import { benchmarkReconcile } from './reconcile/reconcile.ts'

// npm run bench -- NAME [--rounds N] [--seconds N] [--likes N] [--people N] [--graph FILE] [--rate N]
//   [--plots FOLDER] [--json]
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    likes: { type: 'string', default: '1000000' },
    people: { type: 'string', default: '100000' },
    graph: { type: 'string' },
    rate: { type: 'string', default: '200' },
    plots: { type: 'string', default: 'docs/plots' },
    json: { type: 'boolean', default: false },
  },
})
const benchmarks = {
  engagement: benchmarkEngagement,
  thresholds: benchmarkThresholds,
  feeds: benchmarkFeeds,
  follows: benchmarkFollows,
  processes: benchmarkProcesses,
  reconcile: benchmarkReconcile,
}
type NumberOption = 'rounds' | 'seconds' | 'likes' | 'people' | 'rate'

/** @throws {Error} if the option is not a positive number. */
function numberOf(option: NumberOption): number {
  const value = Number(values[option])
  if (value > 0) return value
  throw new Error(`--${option} must be a positive number, not "${values[option]}"`)
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, async () => {
    await stopDatabases()
    process.exit(code)
  })
}

const [name = ''] = positionals
const runBenchmark = benchmarks[name as keyof typeof benchmarks]
if (runBenchmark) {
  const result = await runBenchmark({
    rounds: numberOf('rounds'),
    ms: numberOf('seconds') * 1000,
    likes: numberOf('likes'),
    userCount: numberOf('people'),
    graph: values.graph,
    rate: numberOf('rate'),
    plots: values.plots,
    log: (line) => console.error(line),
    print: (line) => console.log(line),
  })
  if (values.json) console.log(JSON.stringify(result))
} else {
  console.error(`Unknown benchmark. Use one of: ${Object.keys(benchmarks).join(', ')}`)
  process.exitCode = 1
}

import { parseArgs } from 'node:util'
import { Cleanup } from './cleanup.ts'
import { parseOptions } from './options.ts'
import { createReport, writeDetails } from './report.ts'
import { runFaults } from './run.ts'

// npm run faults -- [--minutes M] [--fault KIND,…] [--seed S] [--clients N] [--built FOLDER]
// [--json]
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    fault: { type: 'string', default: 'all' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    clients: { type: 'string', default: '16' },
    built: { type: 'string', default: 'dist' },
    json: { type: 'boolean', default: false },
  },
})
const options = readOptions()
const cleanup = new Cleanup()
const startMs = performance.now()
const log = (line: string) =>
  console.error(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${line}`)

const exit = (code: number) => void cleanup.close().finally(() => process.exit(code))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => exit(1))
process.once('uncaughtException', (error) => {
  console.error(error)
  exit(2)
})
try {
  log(`seed ${options.seed}`)
  const journal = await runFaults(options, cleanup, log)
  const report = createReport(journal, options)
  log(`details: ${await writeDetails(journal, report)}`)
  if (report.broken.length > 0) {
    log(`broken: ${report.broken.join(', ')}`)
    process.exitCode = 1
  }
  if (options.json) console.log(JSON.stringify(report))
  else console.log(JSON.stringify(report, undefined, 2))
} finally {
  await cleanup.close()
}

function readOptions() {
  try {
    return parseOptions(values)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}

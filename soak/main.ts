import { Command, InvalidArgumentError } from 'commander'
import { stopDatabases } from '../bench/database.ts'
import { Cleanup } from '../faults/cleanup.ts'
import { runRestarts } from './restarts.ts'
import { runSoak } from './soak.ts'

/** @throws {InvalidArgumentError} if the text is not a positive number. */
function parsePositive(text: string): number {
  const value = Number(text)
  if (value > 0) return value
  throw new InvalidArgumentError('It must be a positive number.')
}

/** @throws {InvalidArgumentError} if the text is not a whole number. */
function parseSeed(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new InvalidArgumentError('It must be a whole number.')
}

const cleanup = new Cleanup()
cleanup.add(stopDatabases)
const startMs = performance.now()
const log = (line: string) =>
  console.error(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${line}`)
const exit = (code: number) => void cleanup.close().finally(() => process.exit(code))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => exit(1))

await new Command('soak')
  .option(
    '--minutes <n>',
    'how long honest clients and attackers use one server',
    parsePositive,
    10,
  )
  .option('--seed <n>', 'the seed of the attacks', parseSeed, Math.floor(Math.random() * 1e6))
  .option('--restarts <n>', 'instead, restart servers under load', parsePositive)
  .option('--json', 'print the result as JSON on one line')
  .action(async ({ json, restarts, ...options }) => {
    try {
      if (!restarts) log(`seed ${options.seed}`)
      const report = restarts
        ? await runRestarts(restarts, cleanup, log)
        : await runSoak(options, cleanup, log)
      console.log(JSON.stringify(report, undefined, json ? undefined : 2))
      for (const problem of report.problems) log(problem)
      exit(report.problems.length > 0 ? 1 : 0)
    } catch (error) {
      console.error(error)
      exit(2)
    }
  })
  .parseAsync()

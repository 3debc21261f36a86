import { Command } from 'commander'
import { type AppConfig, configFor } from '../environment.ts'
import { startAdmin } from '../http/admin.ts'
import { Readiness } from '../http/readiness.ts'
import { Worker } from '../jobs/worker.ts'
import { createLog, type Log } from '../log.ts'
import { measureDatabase } from '../observe.ts'
import { type Opened, openProcess } from '../open-process.ts'
import { createServices } from '../services.ts'
import { wholeNumber } from './numbers.ts'
import { type Running, runUntilSignal } from './run-until-signal.ts'

/**
 * `feedline worker`: runs jobs without a server. Any number of servers and workers may run at the
 * same time.
 */
export const workerCommand = (): Command =>
  new Command('worker')
    .description('Run the jobs of the database until SIGTERM or SIGINT. Serve no requests.')
    .option(
      '--concurrency <n>',
      'jobs that run at the same time; at least one slot each for the quick and the bulk queue',
      wholeNumber(2, 64),
      4,
    )
    .action(async ({ concurrency }: { readonly concurrency: number }) => {
      const config = configFor('database')
      const log = createLog(config.logLevel, process.stdout.isTTY ? 'terminal' : 'json')
      const worker = await openProcess(config, log, (opened) =>
        startWorker(config, log, { ...opened, concurrency }),
      )
      runUntilSignal(worker, config.operations, log)
    })

/** Starts a worker on what is open. Its disposal releases its jobs, and closes what is open. */
async function startWorker(
  config: AppConfig,
  log: Log,
  { tracing, database, concurrency }: Opened & { readonly concurrency: number },
): Promise<Running> {
  const { client, db, clock } = database
  const services = createServices(client, db, config, { now: clock.now })
  const { queue, tasks } = services
  const worker = new Worker(queue, tasks, log, { concurrency })
  const readiness = new Readiness(() => db.command({ ping: 1, maxTimeMS: 1_000 }))
  measureDatabase(database, services)
  const admin = await startAdmin(config.operations.admin, readiness)
  worker.start()
  log.info(`database: ${database.description}`)
  log.info(`metrics and probes: ${admin.url}/metrics, /livez, /readyz`)
  log.info(`running up to ${concurrency} jobs at a time`)
  let stopped: Promise<unknown> | undefined
  const drain = () => {
    readiness.stop()
    stopped ??= worker.stop()
  }
  const close = async () => {
    await using _tracing = tracing
    await using _ = database
    await using _admin = admin
    drain()
    await stopped
  }
  return { lost: database.lost, drain, [Symbol.asyncDispose]: close }
}

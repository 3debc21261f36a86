import { Command } from 'commander'
import { type AppConfig, readConfig } from '../environment.ts'
import { jobLeaseMs } from '../jobs/lease.ts'
import { Worker } from '../jobs/worker.ts'
import { createLog, type Log } from '../log.ts'
import { openDatabase } from '../open-database.ts'
import { createServices } from '../services.ts'
import { wholeNumber } from './numbers.ts'
import { type Running, runUntilSignal } from './run-until-signal.ts'

/** `feedline worker`: runs jobs without a server. Any number of servers and workers may run at the same time. */
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
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY === true)
      runUntilSignal(await startWorker(config, log, concurrency), log)
    })

/** Starts a worker. Its disposal releases its jobs and closes the database. */
async function startWorker(config: AppConfig, log: Log, concurrency: number): Promise<Running> {
  const database = await openDatabase(config, {
    profile: 'serving',
    prepare: true,
    log: (line) => log.info(line),
    warn: (line) => log.warn(line),
  })
  const { client, db, clock } = database
  const { queue, tasks } = createServices(client, db, config, { now: clock.now })
  const worker = new Worker(queue, tasks, log, { concurrency, pollMs: 1_000, leaseMs: jobLeaseMs })
  worker.start()
  log.info(`database: ${database.description}`)
  log.info(`running up to ${concurrency} jobs at a time`)
  const close = async () => {
    await using _ = database
    await worker.stop()
  }
  return { lost: database.lost, [Symbol.asyncDispose]: close }
}

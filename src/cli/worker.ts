import closeWithGrace from 'close-with-grace'
import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../db/open.ts'
import { Worker } from '../jobs/worker.ts'
import { createLog, type Log } from '../log.ts'
import { createServices } from '../services.ts'
import { wholeNumber } from './numbers.ts'

/** How long a stop may take before the process ends all the same, in milliseconds. */
const stopMsMax = 15_000

/** `feedline worker`: jobs alone, beside any number of servers and other workers. */
export const workerCommand = (): Command =>
  new Command('worker')
    .description('Run jobs of the configured database, and nothing else, until told to stop.')
    .option(
      '--concurrency <n>',
      'how many jobs at the same time; quick ones and long ones leave each other one at least',
      wholeNumber(2, 64),
      4,
    )
    .action(async ({ concurrency }: { readonly concurrency: number }) => {
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY === true)
      const running = await startWorker(config, log, concurrency)
      const closing = closeWithGrace({ delay: stopMsMax, logger: false }, async ({ err }) => {
        if (err) log.fatal({ err }, 'the worker failed')
        await running[Symbol.asyncDispose]()
        log.info('stopped')
      })
      void running.lost.then((reason) => {
        log.fatal(reason)
        process.once('exit', () => {
          process.exitCode = 1
        })
        closing.close()
      })
    })

/** A running worker; disposing of it hands its jobs back and closes the database. */
interface RunningWorker extends AsyncDisposable {
  /** Resolves, with a sentence, should an embedded mongod end unasked. */
  readonly lost: Promise<string>
}

async function startWorker(config: Config, log: Log, concurrency: number): Promise<RunningWorker> {
  const database = await openDatabase(config, {
    profile: 'serving',
    prepare: true,
    say: (line) => log.info(line),
  })
  const { queue, tasks } = createServices(database.client, database.db, config)
  const worker = new Worker(queue, tasks, log, { concurrency, pollMs: 1_000, leaseMs: 30_000 })
  worker.start()
  log.info(`database: ${database.description}`)
  log.info(`running up to ${concurrency} jobs at a time`)
  const close = async () => {
    await using _ = database
    await worker.stop()
  }
  return { lost: database.lost, [Symbol.asyncDispose]: close }
}

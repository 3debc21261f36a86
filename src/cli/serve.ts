import closeWithGrace from 'close-with-grace'
import { Command } from 'commander'
import { startApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'

/** How long a stop may take before the process ends all the same, in milliseconds. */
const stopMsMax = 15_000

/** `feedline serve`: the server with its worker, until it is told to stop. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description(
      'Serve GraphQL, on MONGODB_URI or on an embedded mongod. README lists the variables.',
    )
    .action(async () => {
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY === true)
      const app = await startApp(config, log)
      const closing = closeWithGrace({ delay: stopMsMax, logger: false }, async ({ err }) => {
        if (err) log.fatal({ err }, 'the server failed')
        await app[Symbol.asyncDispose]()
        log.info('stopped')
      })
      void app.lost.then((reason) => {
        log.fatal(reason)
        process.once('exit', () => {
          process.exitCode = 1
        })
        closing.close()
      })
    })

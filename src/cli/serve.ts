import { Command } from 'commander'
import { readConfig } from '../environment.ts'
import { createLog } from '../log.ts'
import { untilTold } from './until-told.ts'

/** `feedline serve`: the server with its worker, until it is told to stop. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description('Start the GraphQL server on MONGODB_URI or on an embedded mongod.')
    .action(async () => {
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY === true)
      // The GraphQL server takes longer to load than all else, and no other command needs it.
      const { startApp } = await import('../app.ts')
      untilTold(await startApp(config, log), log)
    })

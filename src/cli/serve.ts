import { Command } from 'commander'
import { readConfig } from '../environment.ts'
import { createLog } from '../log.ts'
import { runUntilSignal } from './run-until-signal.ts'

/** `feedline serve`: runs the server with its worker until a signal. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description('Start the GraphQL server on MONGODB_URI or on an embedded mongod.')
    .action(async () => {
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY ? 'terminal' : 'json')
      // The GraphQL server takes longer to load than all else, and no other command needs it.
      const { startApp } = await import('../app.ts')
      runUntilSignal(await startApp(config, log), config.operations, log)
    })

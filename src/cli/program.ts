import { Command } from 'commander'
import { readConfig } from '../environment.ts'
import { extensionCommands } from '../extensions.ts'
import { release } from '../lib/release.ts'
import { createLog } from '../log.ts'
import { exitCodeOf, failureText } from './failure.ts'
import { handlesCommand } from './handles.ts'
import { historyCommand } from './history.ts'
import { indexesCommand } from './indexes.ts'
import { jobsCommand } from './jobs.ts'
import { migrateCommand } from './migrate.ts'
import { reconcileCommand } from './reconcile.ts'
import { runUntilSignal } from './run-until-signal.ts'
import { timelinesCommand } from './timelines.ts'
import { tokenCommand } from './token.ts'
import { verifyCommand } from './verify.ts'
import { workerCommand } from './worker.ts'

/** Runs a command. Prints the error of one that fails, and sets the exit code of the process. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`feedline: ${failureText(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}

/** The command line, with the commands of packages. */
export function buildProgram(): Command {
  const program = new Command('feedline')
    .description('A GraphQL feed server on MongoDB: users, follow graph, posts and timelines.')
    .version(release)
    .addCommand(serveCommand())
    .addCommand(workerCommand())
    .addCommand(migrateCommand())
    .addCommand(tokenCommand())
    .addCommand(timelinesCommand())
    .addCommand(handlesCommand())
    .addCommand(historyCommand())
    .addCommand(indexesCommand())
    .addCommand(jobsCommand())
    .addCommand(verifyCommand())
    .addCommand(reconcileCommand())
    .showHelpAfterError('(run with --help for details)')
    .addHelpText(
      'after',
      `
Every command reads its configuration from environment variables. docs/reference/configuration.md lists them.
Without MONGODB_URI, Feedline uses an embedded mongod. The server and all commands share it.`,
    )
  for (const command of extensionCommands()) program.addCommand(command)
  return program
}

/** `feedline serve`: runs the server with its worker until a signal. */
const serveCommand = (): Command =>
  new Command('serve')
    .description('Start the GraphQL server on MONGODB_URI or on an embedded mongod.')
    .action(async () => {
      const config = readConfig()
      const log = createLog(config.logLevel, process.stdout.isTTY ? 'terminal' : 'json')
      // The GraphQL server takes longer to load than all else, and no other command needs it.
      const { startApp } = await import('../app.ts')
      runUntilSignal(await startApp(config, log), config.operations, log)
    })

import closeWithGrace from 'close-with-grace'
import type { Log } from '../log.ts'

/** The most time that a stop may take before the process ends without it, in milliseconds. */
const stopMsMax = 15_000

/** A server or worker that runs until a signal. */
export interface Running extends AsyncDisposable {
  /** Resolves with a sentence if the embedded mongod ends unexpectedly. */
  readonly lost: Promise<string>
}

/** Stops `running` on SIGTERM, SIGINT or an uncaught error. Stops it with exit code 1 if its database is lost. */
export function runUntilSignal(running: Running, log: Log): void {
  const closing = closeWithGrace({ delay: stopMsMax, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'the process failed')
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
}

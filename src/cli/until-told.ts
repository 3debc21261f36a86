import closeWithGrace from 'close-with-grace'
import type { Log } from '../log.ts'

/** How long a stop may take before the process ends all the same, in milliseconds. */
const stopMsMax = 15_000

/** Something that runs until it is told to stop. */
export interface Running extends AsyncDisposable {
  /** Resolves, with a sentence, when there is no way to go on: the embedded mongod ended unasked. */
  readonly lost: Promise<string>
}

/** Disposes of what runs on SIGTERM, SIGINT, an error nobody caught, or when it is lost: then the process ends with 1. */
export function untilTold(running: Running, log: Log): void {
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

import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { OperationsConfig } from '../http/config.ts'
import type { Log } from '../log.ts'

/**
 * A server or worker that runs until a signal. Its disposal stops it within the configured time.
 */
export interface Running extends AsyncDisposable {
  /** Resolves with a sentence if the embedded mongod ends unexpectedly. */
  readonly lost: Promise<string>
  /** Makes readiness say 503 and claims no more jobs. Requests are still answered. */
  readonly drain: () => void
}

/** How long the process may stay after its database is closed, in milliseconds. */
const leaveMs = 1_000

/**
 * Drains and stops `running` on SIGTERM or SIGINT. Stops it without a drain on an uncaught error,
 * and if its database is lost, both with exit code 1. A second signal ends the process at once.
 */
export function runUntilSignal(
  running: Running,
  { drainMs, stopMs }: Pick<OperationsConfig, 'drainMs' | 'stopMs'>,
  log: Log,
): void {
  const options = {
    delay: drainMs + stopMs + leaveMs,
    logger: false,
    onSecondSignal: (signal: string) => log.warn(`a second signal (${signal}): stopped at once`),
    onTimeout: (ms: number) => log.error(`not stopped after ${ms / 1000} s: ended`),
  } as const
  const closing = closeWithGrace(options, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'the process failed')
    running.drain()
    if (signal) {
      log.info(`${signal}: draining for ${drainMs / 1000} s, then stopping`)
      await sleep(drainMs)
    }
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

import { constants } from 'node:os'
import { inspect } from 'node:util'
import { clientErrorOf } from '../db/errors.ts'
import { configFor } from '../environment.ts'
import { bugOf } from '../lib/bug.ts'

/**
 * The error message of a failed command: one sentence. A bug, and any error with LOG_LEVEL=debug or
 * trace, also has its stack.
 */
export function failureText(error: unknown): string {
  const bug = bugOf(error)
  if (bug) return bugText(bug.thrown)
  const reason = error instanceof Error ? error.message || error.name : String(error)
  const known = clientErrorOf(error)
  const sentence = (known ? `${known.message} (${reason})` : reason).replace(/\s*\n\s*/g, ' ')
  return wantsStack() && error instanceof Error ? `${sentence}\n${error.stack}` : sentence
}

function bugText(thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    const text = typeof thrown === 'string' ? thrown : inspect(thrown)
    return `This is a bug of Feedline: ${text}`
  }
  return `This is a bug of Feedline: ${thrown.message}\n${thrown.stack}`
}

/** A signal ended the command. Its finished work stays. */
export class Interruption extends Error {
  override readonly name = 'Interruption'

  constructor(readonly signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted. Repeat the command to resume.')
  }
}

/** What SIGINT and SIGTERM do to a run. */
interface SignalledRun extends Disposable {
  readonly signal: AbortSignal
  /** Lets the next signal end the process at once. @throws {Interruption} if there was a signal. */
  readonly endAtOnce: () => void
}

/** The first SIGINT or SIGTERM ends the run after its batch; the second one ends the process. */
export function interruption(): SignalledRun {
  const controller = new AbortController()
  let isLast = false
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    // The default action of a signal would leave an embedded mongod running.
    if (isLast) process.exit(exitCodeOf(new Interruption(signal)))
    isLast = true
    controller.abort(new Interruption(signal))
  }
  const endAtOnce = () => {
    controller.signal.throwIfAborted()
    isLast = true
  }
  const remove = () => {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return { signal: controller.signal, endAtOnce, [Symbol.dispose]: remove }
}

/**
 * The exit code of the process: 1, or after a signal 128 plus the signal's number, as shells
 * expect.
 */
export const exitCodeOf = (error: unknown): number =>
  error instanceof Interruption ? 128 + constants.signals[error.signal] : 1

function wantsStack(): boolean {
  try {
    return ['debug', 'trace'].includes(configFor('none').logLevel)
  } catch {
    return false
  }
}

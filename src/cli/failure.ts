import { constants } from 'node:os'
import { clientErrorOf } from '../db/errors.ts'
import { readConfig } from '../environment.ts'

/**
 * The error message of a failed command: one sentence. With LOG_LEVEL=debug or trace also the stack.
 */
export function failureText(error: unknown): string {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  const known = clientErrorOf(error)
  const sentence = (known ? `${known.message} (${reason})` : reason).replace(/\s*\n\s*/g, ' ')
  return wantsStack() && error instanceof Error ? `${sentence}\n${error.stack}` : sentence
}

/** A signal ended the command. Its finished work stays. */
export class Interruption extends Error {
  override readonly name = 'Interruption'

  constructor(readonly signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted. Repeat the command to resume.')
  }
}

/** The first SIGINT or SIGTERM ends the run after its batch; the second one ends the process. */
export function interruption(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    controller.abort(new Interruption(signal))
    remove()
  }
  const remove = () => {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return { signal: controller.signal, [Symbol.dispose]: remove }
}

/** The exit code of the process: 1, or after a signal 128 plus the signal's number, as shells expect. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof Interruption ? 128 + constants.signals[error.signal] : 1

function wantsStack(): boolean {
  try {
    return ['debug', 'trace'].includes(readConfig().logLevel)
  } catch {
    return false
  }
}

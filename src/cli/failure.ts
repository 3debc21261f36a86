import { readConfig } from '../config.ts'
import { clientErrorOf } from '../db/errors.ts'

/**
 * What a command that failed says: one sentence, and with LOG_LEVEL=debug or trace where it came
 * from.
 */
export function failureText(error: unknown): string {
  const known = clientErrorOf(error) ?? error
  const message = known instanceof Error ? known.message || known.name : String(known)
  const sentence = message.replace(/\s*\n\s*/g, ' ')
  return wantsStack() && error instanceof Error ? `${sentence}\n${error.stack}` : sentence
}

function wantsStack(): boolean {
  try {
    return ['debug', 'trace'].includes(readConfig().logLevel)
  } catch {
    return false
  }
}

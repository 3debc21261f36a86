import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** How many causes of an error are logged. */
const causesMax = 3

/**
 * How many bytes of lines are written together, and how long a line waits for others, in
 * milliseconds.
 */
const [bytesMin, waitMsMax] = [4_096, 100]

/**
 * Writes lines to a file together, 100 ms later at most, because each write costs as much as a
 * line. The end of the process writes the rest.
 * @param dest a path or a file descriptor.
 */
export const linesTo = (dest: string | number): DestinationStream =>
  pino.destination({ dest, minLength: bytesMin, periodicFlush: waitMsMax })

/**
 * The process's log.
 * @param output 'terminal': readable lines on standard output; 'json': JSON lines there; otherwise
 *   JSON lines to a stream.
 */
export function createLog(level: string, output: 'terminal' | 'json' | DestinationStream): Log {
  const options = { level, serializers: { err: serializeError } }
  if (output === 'json') return pino(options, linesTo(process.stdout.fd))
  if (output !== 'terminal') return pino(options, output)
  const format = { ignore: 'pid,hostname', singleLine: true }
  return pino({ ...options, transport: { target: 'pino-pretty', options: format } })
}

/**
 * The parts of an error that are logged. A failed write carries its documents, and so texts of
 * users: an allowlist leaves them out.
 */
function serializeError(error: unknown, causesLeft = causesMax): unknown {
  if (!(error instanceof Error)) return String(error)
  const { code, codeName } = error as { code?: unknown; codeName?: unknown }
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
    ...(codeName === undefined ? {} : { codeName }),
    ...(error.cause === undefined || causesLeft === 0
      ? {}
      : { cause: serializeError(error.cause, causesLeft - 1) }),
  }
}

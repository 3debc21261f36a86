import { type Logger, pino } from 'pino'

export type Log = Logger

/** The process's log: JSON lines on standard output, or readable lines where that is a terminal. */
export function createLog(level: string, terminal: boolean): Log {
  return terminal
    ? pino({
        level,
        transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
      })
    : pino({ level })
}

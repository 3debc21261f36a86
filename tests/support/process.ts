import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
/** Where the command line is compiled to before a run, from the root. */
export const compiled = 'test-dist'

/** A `feedline` process and what it wrote so far. */
export interface FeedlineProcess {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  /** Resolves with the exit code once the process has ended. */
  readonly ended: Promise<number | null>
  /** Resolves once `pattern` was written to stdout, with what it matched. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
}

/** Starts the command line as it is built, with these environment variables and no other of Feedline's. */
export function feedline(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): FeedlineProcess {
  const child = spawn(process.execPath, [`${compiled}/main.js`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    text.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    text.err += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(text.out)
      if (match) return match
      const over = await Promise.race([once(child.stdout, 'data'), ended.then(() => 'over')])
      if (over === 'over' && !pattern.test(text.out)) {
        throw new Error(`ended without ${pattern}: ${text.out}${text.err}`)
      }
    }
  }
  return { child, out: () => text.out, err: () => text.err, ended, says }
}

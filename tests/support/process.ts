import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The root of the repository, two folders up from here and from the compiled programs. */
export const root = join(import.meta.dirname, '../..')
/** The folder of the compiled command line, relative to the root. Compiled before each test run. */
export const compiled = 'test-dist/bundle'

/** The compiled program of a file that `compile.ts` lists, by the name of the file. */
export const compiledProgram = (name: string): string => join(root, compiled, `${name}.js`)

/** The processes that run. */
const running = new Set<ChildProcess>()

/** Kills the processes that a failed test has left. */
export function killProcesses(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** A `feedline` process and its output so far. */
export interface FeedlineProcess {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  /** Resolves with the exit code once the process has ended. */
  readonly ended: Promise<number | null>
  /** Resolves when stdout matches `pattern`, with the match. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
}

/**
 * Starts the command line that is compiled in `folder`. Of Feedline's environment variables, it
 * gets only `env`.
 */
export function feedline(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  folder = compiled,
): FeedlineProcess {
  const child = spawn(process.execPath, [`${folder}/main.js`, ...args], {
    cwd: root,
    // Processes of production share no port.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ADMIN_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
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

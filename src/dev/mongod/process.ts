import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { lifetimeArguments } from '../../db/lifetime.ts'
import { hasEnded } from './pid.ts'
import { replicaSetName } from './primary.ts'

const endMsMax = 10_000

/** How a mongod process ended. */
interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A mongod process on its way up. */
export interface MongodProcess {
  readonly pid: number
  /** Settles when the process ends, and not before. */
  readonly ended: Promise<Ending>
}

/** The folder that mongod keeps a data folder's documents in. */
export const dbFolderOf = (dataFolder: string): string => join(dataFolder, 'db')

/** Where a data folder's mongod logs; the log before is kept beside it. */
export const logFileOf = (dataFolder: string): string => join(dataFolder, 'mongod.log')

/**
 * Starts a mongod in a session of its own: a Ctrl-C at the terminal reaches the server, which may
 * still need the database to end well, and not mongod. Bound to 127.0.0.1, with a small cache.
 * @throws when the binary cannot be started.
 */
export async function spawnMongod(
  binary: string,
  dataFolder: string,
  port: number,
  extraArgs: readonly string[],
): Promise<MongodProcess> {
  const logFile = logFileOf(dataFolder)
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.old`)
  const log = openSync(logFile, 'w')
  try {
    const child = spawn(binary, argumentsFor(dataFolder, port, extraArgs), {
      detached: true,
      stdio: ['ignore', log, log],
      env: mongodEnvironment(),
    })
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    return { pid: await pidOf(child), ended }
  } finally {
    closeSync(log)
  }
}

async function pidOf(child: ChildProcess): Promise<number> {
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  child.unref()
  if (child.pid === undefined) throw new Error('mongod has no process id')
  return child.pid
}

/** mongod refuses an option given twice, so what `extraArgs` names replaces the default. */
export function argumentsFor(
  dataFolder: string,
  port: number,
  extraArgs: readonly string[],
): readonly string[] {
  const defaults = [
    ['--dbpath', dbFolderOf(dataFolder)],
    ['--port', String(port)],
    ['--bind_ip', '127.0.0.1'],
    ['--nounixsocket'],
    ['--replSet', replicaSetName],
    ['--wiredTigerCacheSizeGB', '0.5'],
    ['--oplogSize', '256'],
    ['--quiet'],
  ]
  const parameters = [
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ...lifetimeArguments,
  ]
  const kept = defaults.filter(([flag]) => !extraArgs.some((arg) => arg.split('=')[0] === flag))
  return [...kept.flat(), ...parameters, ...extraArgs]
}

/** Only what a program needs to load and run: the server's secrets do not concern mongod. */
function mongodEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'LANG', 'TZ', 'LD_LIBRARY_PATH', 'GLIBC_TUNABLES', 'SystemRoot']
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}

/** Ends a mongod cleanly, or after 10 s forcibly. Returns once it is gone. */
export async function endMongod(pid: number): Promise<void> {
  signalMongod(pid, 'SIGTERM')
  if (await hasEnded(pid, endMsMax)) return
  signalMongod(pid, 'SIGKILL')
  await hasEnded(pid, endMsMax)
}

/** Sends a signal to a process that may be gone. */
export function signalMongod(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A port of 127.0.0.1 that is free now; another process may still take it first. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** What a mongod that ended complained of. Its log may hold plain lines beside JSON ones. */
export function lastWords(log: string): string | undefined {
  let plain: string | undefined
  for (const line of log.split('\n').filter((text) => text.trim() !== '')) {
    const entry = parsed(line)
    if (!entry) plain ??= line.trim()
    else if (entry.s === 'E' || entry.s === 'F') return [entry.msg, reasonIn(entry)].join(': ')
  }
  return plain
}

/** @returns the text of a data folder's mongod log, empty when there is none. */
export function readLog(dataFolder: string): string {
  const file = logFileOf(dataFolder)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

interface LogEntry {
  readonly s: string
  readonly msg: string
  readonly attr?: {
    readonly error?: string | { readonly errmsg?: string }
    readonly reason?: string
  }
}

function parsed(line: string): LogEntry | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function reasonIn({ attr }: LogEntry): string {
  const error = attr?.error
  return (typeof error === 'object' ? error.errmsg : error) ?? attr?.reason ?? 'see the log'
}

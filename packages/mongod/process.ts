import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { lifetimeArguments } from '../../src/db/lifetime.ts'
import { openLog } from './log.ts'
import { hasEnded } from './pid.ts'
import { replicaSetName } from './primary.ts'

/** When WiredTiger closes idle files, in seconds, and how many stay open. */
const idleFiles = 'file_manager=(close_idle_time=10,close_scan_interval=5,close_handle_minimum=200)'

const endMsMax = 10_000

/** A mongod process that has started and may not answer yet. */
export interface MongodProcess {
  readonly pid: number
  /** Resolves when the process ends, with "it ended with" and its exit code or signal. */
  readonly ended: Promise<string>
}

/** The folder in which mongod keeps the documents of a data folder. */
export const dbFolderOf = (dataFolder: string): string => join(dataFolder, 'db')

/**
 * Starts a mongod in its own session. A Ctrl-C at the terminal does not reach it, since the server
 * may still need the database to stop cleanly.
 * @throws when the binary cannot be started.
 */
export async function spawnMongod(
  binary: string,
  dataFolder: string,
  port: number,
  extraArgs: readonly string[],
): Promise<MongodProcess> {
  const log = openLog(dataFolder)
  try {
    const child = spawn(binary, argumentsFor(dataFolder, port, extraArgs), {
      detached: true,
      stdio: ['ignore', log, log],
      env: mongodEnvironment(),
    })
    await once(child, 'spawn')
    child.unref()
    const ended = once(child, 'exit').then(([code, signal]) => `it ended with ${code ?? signal}`)
    return { pid: Number(child.pid), ended }
  } finally {
    closeSync(log)
  }
}

/** mongod refuses an option given twice, so an option in `extraArgs` replaces the default. */
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
    // Dropped and idle databases give their files back after seconds, not after ten minutes. Tests
    // use hundreds.
    ['--wiredTigerEngineConfigString', idleFiles],
    ['--oplogSize', '256'],
    ['--quiet'],
    // Older versions of mongod leak memory when they decompress messages (CVE-2025-14847).
    ['--networkMessageCompressors', 'disabled'],
  ]
  const parameters = ['--setParameter', 'diagnosticDataCollectionEnabled=false']
  const kept = defaults.filter(([flag]) => !extraArgs.some((arg) => arg.split('=')[0] === flag))
  return [...kept.flat(), ...parameters, ...lifetimeArguments, ...extraArgs]
}

/** Only what a program needs to load and run: mongod does not get the server's secrets. */
function mongodEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'LANG', 'TZ', 'LD_LIBRARY_PATH', 'GLIBC_TUNABLES', 'SystemRoot']
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}

/** Ends a mongod cleanly, or after 10 s forcibly. Returns once the process has ended. */
export async function endMongod(pid: number): Promise<void> {
  signalMongod(pid, 'SIGTERM')
  if (await hasEnded(pid, endMsMax)) return
  signalMongod(pid, 'SIGKILL')
  await hasEnded(pid, endMsMax)
}

/** Sends a signal to a process that may have ended. */
export function signalMongod(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A port of 127.0.0.1 that is free now; another process may still take it first. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../packages/mongod/process.ts'
import type { Cleanup } from './cleanup.ts'
import { waitUntil } from './cluster.ts'
import { environmentOf, type ProcessName, processNames, serverNames } from './settings.ts'

const root = join(import.meta.dirname, '..')
const preload = pathToFileURL(join(import.meta.dirname, 'clock-preload.mjs')).href
const readyTimeoutMs = 90_000
/**
 * A cluster whose processes were all killed has no primary for a while, and a start waits only some
 * seconds for one.
 */
const startsMax = 20

/** The program of the processes, its database, and the folder of logs and clock files. */
interface ProcessOptions {
  readonly mongodbUri: string
  /** The folder of the compiled command line, relative to the root of the repository. */
  readonly built: string
  readonly folder: string
}

/** Two servers and one worker. Each is a separate process with different settings. */
export class Processes {
  private readonly children = new Map<ProcessName, ChildProcess>()
  private isClosed = false

  private constructor(
    private readonly options: ProcessOptions,
    private readonly ports: ReadonlyMap<ProcessName, number>,
  ) {}

  /**
   * Starts all processes and waits until the servers are ready. @throws Error if a server is not
   * ready within 90 s.
   */
  static async start(options: ProcessOptions, cleanup: Cleanup): Promise<Processes> {
    const ports = await Promise.all(serverNames.map(freePort))
    const portsByName = new Map(serverNames.map((name, at) => [name, ports[at] ?? 0] as const))
    const processes = new Processes(options, portsByName)
    cleanup.add(() => processes.close())
    // The first server creates the collections and indexes.
    await processes.startProcess('server-1')
    await Promise.all([processes.startProcess('server-2'), processes.startProcess('worker')])
    return processes
  }

  /** The GraphQL URLs of the servers. */
  get urls(): readonly string[] {
    return serverNames.map((name) => `http://127.0.0.1:${this.ports.get(name)}/graphql`)
  }

  /**
   * Starts a process and, if it is a server, waits until it is ready. Does nothing if the process
   * is running. Starts it again if it ends before it is ready, as an orchestrator does: the primary
   * may be lost in between.
   */
  async startProcess(name: ProcessName): Promise<void> {
    if (this.children.has(name) || this.isClosed) return
    this.spawnProcess(name)
    let starts = 1
    const port = this.ports.get(name)
    if (port === undefined) return
    await waitUntil(`${name} is ready`, readyTimeoutMs, async () => {
      if (!this.children.has(name)) {
        if (this.isClosed || ++starts > startsMax)
          throw new Error(`${name} ended: ${await this.readLastLines(name)}`)
        this.spawnProcess(name)
      }
      const signal = AbortSignal.timeout(2_000)
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(
        () => undefined,
      )
      return answer?.ok === true
    })
  }

  private spawnProcess(name: ProcessName): void {
    const args = name === 'worker' ? ['worker'] : ['serve']
    const child = this.spawn(name, args, this.openLog(name))
    this.children.set(name, child)
    child.once('exit', () => {
      if (this.children.get(name) === child) this.children.delete(name)
    })
  }

  /** Sends a signal. After SIGKILL it waits until the process has ended. */
  async signalProcess(name: ProcessName, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.children.get(name)
    if (!child) return
    const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined
    child.kill(signal)
    await ended
  }

  /**
   * Shifts the wall clock of a process by `ms` milliseconds from the correct time. 0 corrects it.
   */
  async shiftClock(name: ProcessName, ms: number): Promise<void> {
    await writeFile(this.clockPathOf(name), String(ms))
  }

  /** Corrects all clocks, and resumes and restarts all processes. */
  async heal(): Promise<void> {
    await Promise.all(
      processNames.map(async (name) => {
        await this.shiftClock(name, 0)
        await this.signalProcess(name, 'SIGCONT')
        await this.startProcess(name)
      }),
    )
  }

  /** Runs a command of the CLI. @returns its exit code and standard output. */
  async runCommand(
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly out: string }> {
    const child = this.spawn('server-1', args, 'pipe')
    let out = ''
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    const [code] = await once(child, 'close')
    return { code: Number(code ?? 1), out }
  }

  /** Reads the last lines of a process's log. */
  async readLastLines(name: ProcessName, count = 5): Promise<string> {
    const text = await readFile(join(this.options.folder, `${name}.log`), 'utf8').catch(() => '')
    return text.trim().split('\n').slice(-count).join('\n')
  }

  /** Reads the last 200 log lines of each process with level error or above. */
  async readErrors(): Promise<string[]> {
    const logs = await Promise.all(
      processNames.map(async (name) => {
        const text = await this.readLastLines(name, 100_000)
        const lines = text
          .split('\n')
          .filter((line) => line !== '' && !/^\{"level":[1-4]0/.test(line))
        return lines.slice(-200).map((line) => `${name}: ${line.slice(0, 2_000)}`)
      }),
    )
    return logs.flat()
  }

  /** Kills all processes and waits until they have ended. */
  private async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.children.keys()].map((name) => this.signalProcess(name, 'SIGKILL')))
  }

  private clockPathOf(name: ProcessName): string {
    return join(this.options.folder, `${name}.clock`)
  }

  private openLog(name: ProcessName): number {
    return openSync(join(this.options.folder, `${name}.log`), 'a')
  }

  private spawn(name: ProcessName, args: readonly string[], out: number | 'pipe'): ChildProcess {
    const port = this.ports.get(name)
    const child = spawn(process.execPath, [join(this.options.built, 'main.js'), ...args], {
      cwd: root,
      detached: true,
      stdio: ['ignore', out, out === 'pipe' ? 'ignore' : out],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_OPTIONS: `--import ${preload}`,
        FAULTS_CLOCK_FILE: this.clockPathOf(name),
        ...environmentOf(name, this.options.mongodbUri),
        ...(port === undefined ? {} : { PORT: String(port) }),
      },
    })
    if (typeof out === 'number') closeSync(out)
    return child
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../src/dev/mongod/process.ts'
import type { Closing } from './closing.ts'
import { until } from './cluster.ts'
import { type ProcessName, processNames, serverNames, settingsOf } from './settings.ts'

const root = join(import.meta.dirname, '..')
const preload = pathToFileURL(join(import.meta.dirname, 'clock-preload.mjs')).href
const readyMsMax = 90_000

/** Where the processes come from and where they leave their logs and clocks. */
interface Place {
  readonly mongodbUri: string
  /** The folder of the compiled command line, from the repository's root. */
  readonly built: string
  readonly folder: string
}

/** Two servers and one worker, each a process of its own with settings of its own. */
export class Processes {
  private readonly children = new Map<ProcessName, ChildProcess>()
  private isClosed = false

  private constructor(
    private readonly place: Place,
    private readonly ports: ReadonlyMap<ProcessName, number>,
  ) {}

  /** Starts all processes and waits until the servers are ready. @throws Error when one is not within 90 s. */
  static async start(place: Place, closing: Closing): Promise<Processes> {
    const ports = await Promise.all(serverNames.map(freePort))
    const named = new Map(serverNames.map((name, at) => [name, ports[at] ?? 0] as const))
    const processes = new Processes(place, named)
    closing.add(() => processes.close())
    // The first one creates the collections and indexes.
    await processes.start('server-1')
    await Promise.all([processes.start('server-2'), processes.start('worker')])
    return processes
  }

  /** The GraphQL addresses of the servers. */
  get urls(): readonly string[] {
    return serverNames.map((name) => `http://127.0.0.1:${this.ports.get(name)}/graphql`)
  }

  /** Starts a process that does not run. A server has answered by the end. */
  async start(name: ProcessName): Promise<void> {
    if (this.children.has(name) || this.isClosed) return
    const args = name === 'worker' ? ['worker'] : ['serve']
    const child = this.spawn(name, args, this.log(name))
    this.children.set(name, child)
    child.once('exit', () => {
      if (this.children.get(name) === child) this.children.delete(name)
    })
    const port = this.ports.get(name)
    if (port === undefined) return
    await until(`${name} is ready`, readyMsMax, async () => {
      if (!this.children.has(name)) throw new Error(`${name} ended: ${await this.lastLines(name)}`)
      const signal = AbortSignal.timeout(2_000)
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(
        () => undefined,
      )
      return answer?.ok === true
    })
  }

  /** Sends a signal; SIGKILL waits for the end of the process. */
  async signal(name: ProcessName, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.children.get(name)
    if (!child) return
    const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined
    child.kill(signal)
    await ended
  }

  /** Shifts the wall clock of a process by so many milliseconds; 0 corrects it. */
  async shiftClock(name: ProcessName, ms: number): Promise<void> {
    await writeFile(this.clockOf(name), String(ms))
  }

  /** Corrects all clocks, thaws and restarts every process. */
  async heal(): Promise<void> {
    await Promise.all(
      processNames.map(async (name) => {
        await this.shiftClock(name, 0)
        await this.signal(name, 'SIGCONT')
        // A process whose start failed during a fault gets a second try.
        await this.start(name).catch(() => this.start(name))
      }),
    )
  }

  /** Runs a command of the command line. @returns its exit code and standard output. */
  async run(args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
    const child = this.spawn('server-1', args, 'pipe')
    let out = ''
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    const [code] = await once(child, 'close')
    return { code: Number(code ?? 1), out }
  }

  /** The last lines that a process logged. */
  async lastLines(name: ProcessName, count = 5): Promise<string> {
    const text = await readFile(join(this.place.folder, `${name}.log`), 'utf8').catch(() => '')
    return text.trim().split('\n').slice(-count).join('\n')
  }

  /** The lines that every process logged with level error or above; the last 200 of each. */
  async errors(): Promise<string[]> {
    const logs = await Promise.all(
      processNames.map(async (name) => {
        const text = await this.lastLines(name, 100_000)
        const lines = text
          .split('\n')
          .filter((line) => line !== '' && !/^\{"level":[1-4]0/.test(line))
        return lines.slice(-200).map((line) => `${name}: ${line.slice(0, 2_000)}`)
      }),
    )
    return logs.flat()
  }

  /** Ends every process and waits for its end. */
  private async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.children.keys()].map((name) => this.signal(name, 'SIGKILL')))
  }

  private clockOf(name: ProcessName): string {
    return join(this.place.folder, `${name}.clock`)
  }

  private log(name: ProcessName): number {
    return openSync(join(this.place.folder, `${name}.log`), 'a')
  }

  private spawn(name: ProcessName, args: readonly string[], out: number | 'pipe'): ChildProcess {
    const port = this.ports.get(name)
    const child = spawn(process.execPath, [join(this.place.built, 'main.js'), ...args], {
      cwd: root,
      detached: true,
      stdio: ['ignore', out, out === 'pipe' ? 'ignore' : out],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_OPTIONS: `--import ${preload}`,
        FAULTS_CLOCK_FILE: this.clockOf(name),
        ...settingsOf(name, this.place.mongodbUri),
        ...(port === undefined ? {} : { PORT: String(port) }),
      },
    })
    if (typeof out === 'number') closeSync(out)
    return child
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { compiledProgram } from '../../support/process.ts'
import type { PollOrders } from '../processes/poll-child.ts'

const program = compiledProgram('poll-child')

/** A running process, and the line that it printed when it was ready. */
export interface PollProcess {
  readonly orders: PollOrders
  readonly line: string
  readonly kill: () => Promise<void>
}

/** Processes of one database. Its disposal kills them. */
export class PollProcesses implements AsyncDisposable {
  private readonly running = new Set<ChildProcess>()

  /** Starts a process. @returns it when it is ready. */
  async start(orders: PollOrders): Promise<PollProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    this.running.add(child)
    const ended = once(child, 'exit').then(() => this.running.delete(child))
    const printed = once(createInterface({ input: child.stdout }), 'line')
    const line = await Promise.race([printed, ended])
    if (typeof line === 'boolean') throw new Error(`a process ended: ${child.exitCode}`)
    const kill = async () => {
      child.kill('SIGKILL')
      await ended
    }
    return { orders, line: String(line[0]), kill }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.running]
    for (const child of all) child.kill('SIGKILL')
    await Promise.all(all.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')))
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { compiledProgram } from '../../support/process.ts'
import type { Check, Checked, LogOrders, Written } from '../processes/log-child.ts'

/** Counts of all checks. */
interface Tally {
  compared: number
  fromMemory: number
  overwritten: number
  readonly stale: string[]
}

/** A write that was acknowledged, until all readers have compared it. */
interface Pending {
  readonly lane: number
  readonly writer: ChildProcess
  readersLeft: number
}

/**
 * Two processes that write documents, and some that read each document after each of its writes.
 */
export class LogProcesses implements Disposable {
  readonly tally: Tally = { compared: 0, fromMemory: 0, overwritten: 0, stale: [] }
  readonly readers: readonly ChildProcess[]
  private readonly writers: readonly ChildProcess[]
  private readonly pending = new Map<number, Pending>()
  private checks = 0

  constructor(uri: string, database: string, readerCount: number) {
    const start = (orders: Omit<LogOrders, 'uri' | 'database'>) =>
      fork(compiledProgram('log-child'), [JSON.stringify({ uri, database, ...orders })])
    this.readers = Array.from({ length: readerCount }, () => start({}))
    this.writers = ['x', 'y'].map((writer) => start({ writer }))
    for (const writer of this.writers) {
      writer.on('message', (written: Written) => this.startCheck(writer, written))
    }
    for (const reader of this.readers) {
      reader.on('message', (checked: Checked) => this.countCheck(checked))
    }
  }

  /** A reader does nothing at all for some time, as if it were busy. */
  blockReader(reader: number, blockMs: number): void {
    this.readers[reader]?.send({ blockMs } satisfies Check)
  }

  [Symbol.dispose](): void {
    for (const child of [...this.writers, ...this.readers]) child.kill('SIGKILL')
  }

  private startCheck(writer: ChildProcess, { lane, states }: Written): void {
    const id = this.checks++
    this.pending.set(id, { lane, writer, readersLeft: this.readers.length })
    for (const reader of this.readers) reader.send({ id, states } satisfies Check)
  }

  private countCheck({ id, compared, fromMemory, overwritten, stale }: Checked): void {
    this.tally.compared += compared
    this.tally.fromMemory += fromMemory
    this.tally.overwritten += overwritten
    this.tally.stale.push(...stale)
    const pending = this.pending.get(id)
    if (!pending || --pending.readersLeft > 0) return
    this.pending.delete(id)
    if (pending.writer.connected) pending.writer.send(pending.lane)
  }
}

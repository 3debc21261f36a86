import { AssertionError } from 'node:assert'
import type { Collection, Db } from 'mongodb'
import { Log } from '../../../src/memory/log.ts'
import { eventually } from '../../support/eventually.ts'
import { HeldCommands } from '../../support/held-commands.ts'
import { silent } from '../../support/jobs.ts'
import {
  followed,
  type Load,
  loadFrom,
  type Numbered,
  NumberedMemory,
  type State,
} from './log-memory.ts'

/** A log with a memory over a database, and a writer of another process. */
export class LogScene implements AsyncDisposable {
  readonly log: Log
  readonly memory: NumberedMemory
  /** The commands of the log. */
  readonly commands: HeldCommands
  /** The reads of the memory. */
  readonly reads: HeldCommands

  private constructor(
    db: Db,
    readonly writer: Collection<Numbered>,
    load: ((db: Db) => Load) | undefined,
  ) {
    this.commands = new HeldCommands(db)
    this.reads = new HeldCommands(db)
    this.log = new Log(this.commands.db, [followed])
    const find = load ?? ((source) => loadFrom(numberedOf(source)))
    this.memory = new NumberedMemory(this.log, find(this.reads.db))
  }

  /**
   * Opens a scene with one document, `a`, whose number is 1 and that is not in memory, and waits
   * until the log is current.
   * @param db of the process with the log.
   * @param writerDb of the process that writes.
   * @param load how the memory reads. Default: as production does.
   */
  static async open(db: Db, writerDb: Db, load?: (db: Db) => Load): Promise<LogScene> {
    const scene = new LogScene(db, numberedOf(writerDb), load)
    await scene.write('a', 1)
    scene.log.start(scene.memory, silent)
    await scene.isCurrent()
    // The stream begins with the last write, and has it no later than the next one.
    await scene.write('other', 1)
    await scene.isCurrent()
    scene.memory.kept.clear()
    return scene
  }

  /** Writes a document, until a majority has it. */
  async write(_id: string, n: number): Promise<void> {
    await this.writer.updateOne({ _id }, { $set: { n } }, { upsert: true })
  }

  /** Waits until the log is current. */
  async isCurrent(): Promise<void> {
    await eventually(async () => {
      if (!(await this.log.isCurrent())) throw new Error('the log is not current')
    })
  }

  /** @throws AssertionError if memory keeps another state of a document. */
  expectKept(key: string, state: State): void {
    const kept = this.memory.kept.get(key)
    if (kept === undefined || kept === state) return
    throw new AssertionError({ message: `stale: ${key} is ${state}, memory keeps ${kept}` })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log.close()
  }
}

const numberedOf = (db: Db): Collection<Numbered> => {
  const collection = db.collection<Numbered>(followed.collection)
  // findAtOnce sends its command to the database of the collection.
  return new Proxy(collection, {
    get: (target, property) => {
      if (property === 'db') return db
      const value = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

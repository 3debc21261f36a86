import type { Db } from 'mongodb'
import { ChangeStream } from '../../../src/db/change-stream.ts'
import { Fills } from '../../../src/memory/fill.ts'
import { Log } from '../../../src/memory/log.ts'

/** Puts a defect into the log, and returns what repairs it. */
export type Mutant = () => () => void

interface Methods {
  [name: string]: unknown
}

/** Replaces a method or a getter of a class, also a private one. */
function replace(
  type: { readonly prototype: object },
  name: string,
  defect: PropertyDescriptor,
): Mutant {
  return () => {
    const original = Object.getOwnPropertyDescriptor(type.prototype, name)
    if (!original) throw new Error(`there is no ${name}`)
    Object.defineProperty(type.prototype, name, { configurable: true, ...defect })
    return () => Object.defineProperty(type.prototype, name, original)
  }
}

const { isCurrent } = Log.prototype

/** A tick that runs counts for a request that came after it had looked. */
export const earlyTick = replace(Log, 'isCurrent', {
  value(this: Log) {
    const { running } = this as unknown as { running?: { isCurrent: Promise<boolean> } }
    return running?.isCurrent ?? isCurrent.call(this)
  },
})

/** A tick is one `getMore`, as the next batch of a driver's cursor is. */
export const oneBatch = replace(ChangeStream, 'readAll', {
  async value(this: Methods, take: unknown) {
    const { pass, readBatch, db } = this as {
      db: Db
      pass: (batch: unknown, take: unknown) => number
      readBatch: () => Promise<unknown>
    }
    await db.command({ hello: 1 })
    pass.call(this, await readBatch.call(this), take)
  },
})

/** The time of a full batch counts as complete. */
export const fullBatch = replace(ChangeStream, 'completeTo', {
  value: ({ time }: { time: bigint }) => time,
})

/** A server that has stepped down proves that everything has been read. */
export const anyServer = replace(ChangeStream, 'checkPrimary', { value: () => {} })

/** Memory is kept when the stream is opened again. */
export const keptMemory = replace(Log, 'drop', {
  value(this: Methods) {
    this.stream = undefined
    this.drops = Number(this.drops) + 1
  },
})

/** A change during a fill does not count. */
export const untouchedFill = replace(Fills, 'touch', { value: () => {} })

/** A drop during a fill does not count. */
export const oneEpoch = replace(Log, 'epoch', { get: () => 0 })

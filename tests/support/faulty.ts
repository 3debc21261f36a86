import type { Collection, Db } from 'mongodb'
import { gate } from './jobs.ts'

/**
 * The effect of the last write of a killed process: nothing, half of it, or all of it is written.
 */
export const effects = ['none', 'part', 'all'] as const
export type Effect = (typeof effects)[number]

/** Thrown by every write of a killed process. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

const writes = new Set([
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'replaceOne',
  'bulkWrite',
  'deleteOne',
  'deleteMany',
  'findOneAndUpdate',
  'findOneAndReplace',
  'findOneAndDelete',
])

interface Call {
  readonly isWrite: boolean
  readonly inTransaction: boolean
  readonly method: string
  readonly args: readonly unknown[]
}
type Go = (args: readonly unknown[]) => Promise<unknown>
type Around = (call: Call, go: Go) => Promise<unknown>

/** A database of a process that dies at one of its writes. It refuses all later writes. */
export function killedAtWrite(db: Db, at: number, effect: Effect) {
  const underWay = new Set<Promise<unknown>>()
  let left = at
  let dead = false
  const around: Around = async ({ isWrite, method, args }, go) => {
    if (!isWrite) return go(args)
    if (dead) throw new Killed()
    const dies = left-- === 0
    dead = dies
    const some = dies && effect === 'part' ? partOf(method, args) : args
    const written = dies && effect === 'none' ? Promise.resolve() : go(some)
    underWay.add(written.catch(() => {}))
    const result = await written.catch((error) => {
      if (!dies) throw error
    })
    if (dies) throw new Killed()
    return result
  }
  return {
    db: watched(db, around),
    /** Waits for the commands that the process had sent when it died. */
    ended: async () => void (await Promise.all(underWay)),
  }
}

/**
 * A database that holds one call, outside of transactions, before it is sent.
 * @param which `all` also counts calls in transactions, and aggregates of the whole database, such
 * as the facts of a page where nothing is kept.
 */
export function heldAtCall(db: Db, at: number, which: 'collections' | 'all' = 'collections') {
  const { db: held, hold } = holdable(db, which)
  return { db: held, ...hold(at) }
}

/** As {@link heldAtCall}, for one call after the other: `hold` counts the calls from then on. */
export function holdable(db: Db, which: 'collections' | 'all') {
  let held: { left: number; readonly reach: () => void; readonly going: Promise<void> } | undefined
  const around: Around = async ({ inTransaction, args }, go) => {
    if (held && (which === 'all' || !inTransaction) && held.left-- === 0) {
      held.reach()
      await held.going
    }
    return go(args)
  }
  const hold = (at: number) => {
    const [reached, going] = [gate(), gate()]
    held = { left: at, reach: reached.open, going: going.opened }
    return { reached: reached.opened, go: going.open }
  }
  return { db: watched(db, around, which === 'all'), hold }
}

/** The half of a bulk write that a killed server has written. */
function partOf(method: string, [first, ...rest]: readonly unknown[]): readonly unknown[] {
  if (method === 'insertMany' || method === 'bulkWrite') {
    const all = first as unknown[]
    return [all.slice(0, Math.ceil(all.length / 2)), ...rest]
  }
  const filter = first as Record<string, { $in?: unknown[] } | undefined>
  const field = ['_id', 'reader'].find((name) => Array.isArray(filter[name]?.$in))
  if (!method.endsWith('Many') || field === undefined) return [first, ...rest]
  const all = filter[field]?.$in ?? []
  return [{ ...filter, [field]: { $in: all.slice(0, Math.ceil(all.length / 2)) } }, ...rest]
}

function watched(db: Db, around: Around, isWhole = false): Db {
  const whole: Db = new Proxy(db, {
    get: (target, property) => {
      if (property === 'collection') {
        return (name: string) =>
          watchedCollection(
            target.collection(name),
            around,
            isWhole ? whole : watchedCommands(db, around),
          )
      }
      if (property === 'command') return commandOf(target, around)
      const real = own(target, property)
      return isWhole && property === 'aggregate' ? watchedCursor(real, around) : real
    },
  })
  return whole
}

/** A database whose commands are watched: reads that are decoded as a whole. */
const watchedCommands = (db: Db, around: Around): Db =>
  new Proxy(db, {
    get: (target, property) =>
      property === 'command' ? commandOf(target, around) : own(target, property),
  })

const commandOf = (db: Db, around: Around) => {
  const real = own(db, 'command')
  return (...args: unknown[]) =>
    around({ isWrite: false, inTransaction: false, method: 'command', args }, async (given) =>
      real(...given),
    )
}

/** A function that returns a cursor whose only read is watched. */
const watchedCursor =
  (real: (...args: unknown[]) => { toArray: () => Promise<unknown> }, around: Around) =>
  (...args: unknown[]) => {
    const cursor = real(...args)
    const toArray = cursor.toArray.bind(cursor)
    const call = { isWrite: false, inTransaction: false, method: 'aggregate', args }
    cursor.toArray = () => around(call, () => toArray())
    return cursor
  }

function watchedCollection(collection: Collection, around: Around, whole: Db): Collection {
  return new Proxy(collection, {
    get: (target, property) => {
      if (property === 'db') return whole
      const real = own(target, property)
      if (typeof real !== 'function' || typeof property !== 'string') return real
      const isWrite = writes.has(property)
      const call = (args: readonly unknown[]): Call => ({
        isWrite,
        inTransaction: args.some((one) => (one as { session?: object } | undefined)?.session),
        method: property,
        args,
      })
      if (isWrite || property === 'findOne') {
        return (...args: unknown[]) => around(call(args), async (given) => real(...given))
      }
      if (property !== 'find' && property !== 'aggregate') return real
      return (...args: unknown[]) => {
        const cursor = real(...args)
        const toArray = cursor.toArray.bind(cursor)
        cursor.toArray = () => around(call(args), () => toArray())
        return cursor
      }
    },
  })
}

function own(target: object, property: string | symbol) {
  const value: unknown = Reflect.get(target, property, target)
  return typeof value === 'function' ? value.bind(target) : value
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import { pino } from 'pino'
import { connect } from '../../../src/db/client.ts'
import { Log } from '../../../src/memory/log.ts'
import {
  followed,
  loadFrom,
  type Numbered,
  NumberedMemory,
  type State,
} from '../model/log-memory.ts'

/** The states of documents whose writes were acknowledged. */
export type States = readonly (readonly [key: string, state: State])[]

/** What a child process does. */
export interface LogOrders {
  readonly uri: string
  readonly database: string
  /** Of a writer: what its keys begin with. Undefined for a reader. */
  readonly writer?: string
}

/** From a writer: these writes were acknowledged. It waits with the next ones of the lane. */
export interface Written {
  readonly lane: number
  readonly states: States
}

/** To a reader: compare. Or: do nothing at all for some time, in milliseconds. */
export type Check = { readonly id: number; readonly states: States } | { readonly blockMs: number }

/** From a reader. */
export interface Checked {
  readonly id: number
  /** How many states were compared. The log was not current for the others. */
  readonly compared: number
  /** How many were compared without a command. */
  readonly fromMemory: number
  /** How many differ because a write that had no answer came late. */
  readonly overwritten: number
  /** What was older than an acknowledged write. */
  readonly stale: readonly string[]
}

export const laneCount = 10
const keysOfLane = 20
/** The time between two writes of a lane: both writers write 2,000 documents a second. */
const laneMs = 200

if (process.argv[2]) await main(JSON.parse(process.argv[2]) as LogOrders)

async function main({ uri, database, writer }: LogOrders): Promise<void> {
  const client = await connect(uri)
  const collection = client.db(database).collection<Numbered>(followed.collection)
  if (writer !== undefined) return runWriter(writer, collection)
  await runReader(collection)
}

function runWriter(name: string, collection: Collection<Numbered>): void {
  const goOn = new Map<number, () => void>()
  process.on('message', (lane: number) => goOn.get(lane)?.())
  const runLane = async (lane: number) => {
    const keys = Array.from({ length: keysOfLane }, (_, n) => `${name}-${lane}-${n}`)
    for (let n = 1; ; n++) {
      const pause = sleep(laneMs)
      const written = keys.map((key, at) => operation(key, n, (n + at) % 8))
      await writeUntilAcknowledged(
        collection,
        written.map(({ write }) => write),
      )
      const isChecked = new Promise<void>((resolve) => goOn.set(lane, resolve))
      const states = written.map(({ key, state }) => [key, state] as const)
      process.send?.({ lane, states } satisfies Written)
      await Promise.all([pause, isChecked])
    }
  }
  for (let lane = 0; lane < laneCount; lane++) void runLane(lane)
}

/** One of several kinds of writes. A repeat changes nothing. */
function operation(key: string, n: number, kind: number) {
  const filter = { _id: key }
  const write: AnyBulkWriteOperation<Numbered> =
    kind === 0
      ? { deleteOne: { filter } }
      : kind === 1
        ? { updateOne: { filter, update: { $set: { n } }, upsert: true } }
        : { replaceOne: { filter, replacement: { n }, upsert: true } }
  return { key, write, state: kind === 0 ? null : n }
}

async function writeUntilAcknowledged(
  collection: Collection<Numbered>,
  writes: AnyBulkWriteOperation<Numbered>[],
): Promise<void> {
  for (;;) {
    try {
      await collection.bulkWrite(writes, { ordered: false })
      return
    } catch {
      await sleep(50)
    }
  }
}

async function runReader(collection: Collection<Numbered>): Promise<void> {
  const log = new Log(collection.db, [followed])
  const load = loadFrom(collection)
  const memory = new NumberedMemory(log, load)
  log.start(memory, pino({ level: 'silent' }))
  const known: string[] = []
  process.on('message', async (check: Check) => {
    if ('blockMs' in check) {
      const end = performance.now() + check.blockMs
      while (performance.now() < end);
      return
    }
    const counts = { compared: 0, fromMemory: 0, overwritten: 0 }
    const stale: string[] = []
    await Promise.all(
      check.states.map(async ([key, state]) => {
        if (known.length < 400) known.push(key)
        const read = await memory.read(key).catch(() => undefined)
        if (!read?.isCurrent) return
        counts.compared++
        if (read.isKept) counts.fromMemory++
        if (read.state === state) return
        const stored = await load(key).catch(() => undefined)
        if (stored === state) stale.push(`${key}: ${read.state} instead of ${state}`)
        else counts.overwritten++
      }),
    )
    process.send?.({ id: check.id, ...counts, stale } satisfies Checked)
  })
  // Fills memory all the time, as requests do.
  for (let at = 0; ; at++) {
    await sleep(5)
    const key = known[(at * 7) % known.length]
    if (key !== undefined) await memory.read(key).catch(() => {})
  }
}

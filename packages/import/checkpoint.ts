import { createHash, randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Collections, ImportDoc } from '../../src/db/collections.ts'
import { type Tx, unknownOutcome } from '../../src/db/transaction.ts'
import { DomainError } from '../../src/errors.ts'
import { type TimeId, timeIdAt } from '../../src/lib/ids.ts'

export type Counts<Counter extends string> = Readonly<Record<Counter, number>>

/** Adds (1) or subtracts (-1) each counter of `other`. */
export const combineCounts = <Counter extends string>(
  counts: Counts<Counter>,
  other: Counts<Counter>,
  sign: 1 | -1,
): Counts<Counter> => {
  const names = Object.keys(counts) as Counter[]
  const combined = names.map((name) => [name, counts[name] + sign * other[name]])
  return Object.fromEntries(combined) as Counts<Counter>
}

/** The state of an import. It is exact, because the transaction of each batch updates it. */
export interface Checkpoint<Counter extends string = string> {
  readonly id: string
  /** The start of the first run. It dates everything that the import writes. */
  readonly startedAt: Date
  /** The number of the last line that is written. */
  readonly position: number
  readonly done: boolean
  /** Written by all runs of this import. */
  readonly counts: Counts<Counter>
}

/** The part of a checkpoint that changes with each batch. */
export type Progress<Counter extends string> = Pick<
  Checkpoint<Counter>,
  'position' | 'done' | 'counts'
>

/** Identifies an import: an unchanged file with the same options is the same import. */
export interface ImportKey {
  readonly kind: 'graph' | 'relations'
  readonly file: {
    readonly path: string
    readonly sizeBytes: number
    /** Detects a file that was edited but has the same size. */
    readonly modifiedMs: number
  }
  readonly options: Readonly<Record<string, string | number | boolean>>
}

/** Hashes a key to 32 hex digits. */
function idOf({ kind, file, options }: ImportKey): string {
  const { path, sizeBytes, modifiedMs } = file
  const parts = [kind, resolve(path), sizeBytes, modifiedMs, Object.entries(options).sort()]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** The checkpoints of all imports, in the collection `imports`, as one run moves them. */
export class Checkpoints {
  /** Tells this run from another one of the same import. */
  private readonly run = randomUUID()

  constructor(private readonly imports: Collections['imports']) {}

  /**
   * Returns the checkpoint of an import, and creates it for a new import. Ends the session that
   * moved it last, because MongoDB would keep the open transaction of a killed run, with its locks,
   * for up to 90 s. A live run retries, and one of the two runs gets a CONFLICT. At most two
   * commands.
   * @param now milliseconds since 1970.
   */
  async open<Counter extends string>(
    key: ImportKey,
    zero: Counts<Counter>,
    now: number,
  ): Promise<Checkpoint<Counter>> {
    const path = resolve(key.file.path)
    const startedAt = new Date(now)
    const fresh = { kind: key.kind, path, startedAt, position: 0, done: false, counts: zero }
    const stored = await this.imports.findOneAndUpdate(
      { _id: idOf(key) },
      { $setOnInsert: fresh },
      { upsert: true, returnDocument: 'after' },
    )
    if (!stored) throw new Error('an upsert returned nothing')
    if (stored.session) await this.imports.db.admin().command({ killSessions: [stored.session] })
    return fromDoc(stored)
  }

  /** Reads the checkpoint again. One command. */
  async reload<Counter extends string>({ id }: Checkpoint<Counter>): Promise<Checkpoint<Counter>> {
    const stored = await this.imports.findOne({ _id: id })
    if (stored) return fromDoc(stored)
    throw new DomainError('CONFLICT', 'The record of this import was deleted while the import ran')
  }

  /**
   * Moves the checkpoint in the caller's transaction, and records the session for {@link open}. One
   * command. One more if the checkpoint was moved by then.
   * @throws {DomainError} CONFLICT if another run moved it; UNAVAILABLE if an earlier try of this
   *   run did, whose commit had no answer. The transaction must not commit then.
   */
  async move<Counter extends string>(
    tx: Tx,
    before: Checkpoint<Counter>,
    { position, done, counts }: Progress<Counter>,
  ): Promise<Checkpoint<Counter>> {
    const { matchedCount } = await this.imports.updateOne(
      { _id: before.id, position: before.position, done: before.done },
      done
        ? { $set: { position, done, counts, run: this.run }, $unset: { session: '' } }
        : { $set: { position, done, counts, run: this.run, session: tx.session.id } },
      { session: tx.session },
    )
    if (matchedCount === 0) {
      const own = { _id: before.id, run: this.run }
      if (await this.imports.findOne(own, { session: tx.session })) throw unknownOutcome()
      throw new DomainError(
        'CONFLICT',
        'Another process is running the same import. Wait until it finishes.',
      )
    }
    return { ...before, position, done, counts }
  }
}

/** How many places an import has. */
const placesMax = 2 ** 32

/**
 * Makes an id from the import, the time and the place in the source, so a repeated batch makes the
 * same ids. Ids of one import are unique. Ids of two imports are equal with a chance of 1 in
 * 65,536, and only within one millisecond.
 * @param atMs milliseconds since 1970.
 * @param place each used once.
 * @throws {DomainError} BAD_USER_INPUT if the place is not below {@link placesMax}.
 */
export function importedId<Id extends TimeId>(importId: string, atMs: number, place: number): Id {
  if (place >= placesMax) throw new DomainError('BAD_USER_INPUT', 'The file has too many lines')
  return timeIdAt<Id>(atMs, importId.slice(0, 4) + place.toString(16).padStart(8, '0'))
}

/** What all ids of one import at one time begin with. */
export const importOf = (id: TimeId): string => id.slice(0, 16)

const fromDoc = <Counter extends string>(doc: ImportDoc): Checkpoint<Counter> => {
  const { startedAt, position, done, counts } = doc as unknown as Checkpoint<Counter>
  return { id: doc._id, startedAt, position, done, counts }
}

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Collections, ImportDoc } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { type TimeId, timeIdAt } from '../lib/ids.ts'

/**
 * How far an import has come: moves in the transactions that write what it imports, so it is exact.
 */
export interface Checkpoint<Counter extends string> {
  readonly id: string
  /** When the import first began; everything it writes is dated by it. */
  readonly startedAt: Date
  /** How much of the source is written, in the import's own units. */
  readonly position: number
  readonly done: boolean
  /** What it has written since it first began. */
  readonly counts: Readonly<Record<Counter, number>>
}

/** What tells one import from another: the same file, unchanged, with the same options is the same import. */
export interface ImportKey {
  readonly kind: 'graph' | 'posts' | 'relations'
  readonly file: {
    readonly path: string
    readonly sizeBytes: number
    /** Tells apart what was edited without becoming longer or shorter. */
    readonly modifiedMs: number
  }
  readonly options: Readonly<Record<string, number | boolean>>
}

/** The hash of a key: 32 hex digits. */
function idOf({ kind, file, options }: ImportKey): string {
  const { path, sizeBytes, modifiedMs } = file
  const parts = [kind, resolve(path), sizeBytes, modifiedMs, Object.entries(options).sort()]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** The checkpoints of all imports, in the collection `imports`. */
export class Checkpoints {
  constructor(private readonly imports: Collections['imports']) {}

  /**
   * Where the import stands, at the beginning when it is new. Ends the session that moved it last:
   * MongoDB would keep the open transaction of a run that was killed, and its locks, for up to 90 s.
   * A run that is alive tries again, and one of the two meets a CONFLICT. At most two commands.
   * @param now milliseconds since 1970.
   */
  async open<Counter extends string>(
    key: ImportKey,
    zero: Readonly<Record<Counter, number>>,
    now: number,
  ): Promise<Checkpoint<Counter>> {
    const path = resolve(key.file.path)
    const fresh = {
      kind: key.kind,
      path,
      startedAt: new Date(now),
      position: 0,
      done: false,
      counts: zero,
    }
    const found = await this.imports.findOneAndUpdate(
      { _id: idOf(key) },
      { $setOnInsert: fresh },
      { upsert: true, returnDocument: 'after' },
    )
    if (!found) throw new Error('an upsert returned nothing')
    if (found.session) await this.imports.db.admin().command({ killSessions: [found.session] })
    return fromDoc(found)
  }

  /** Leaves it where it is, but records the session, for {@link open}. One command. */
  async claim<Counter extends string>(tx: Tx, at: Checkpoint<Counter>): Promise<void> {
    await this.move(tx, at, at)
  }

  /** Where it stands now. One command. */
  async reload<Counter extends string>({ id }: Checkpoint<Counter>): Promise<Checkpoint<Counter>> {
    const found = await this.imports.findOne({ _id: id })
    if (!found)
      throw new DomainError(
        'CONFLICT',
        'The record of this import was deleted while the import ran',
      )
    return fromDoc(found)
  }

  /**
   * Moves it within the caller's transaction. One command.
   * @throws {DomainError} CONFLICT when it no longer stands at `before`; the transaction must not
   *   commit then.
   */
  async move<Counter extends string>(
    tx: Tx,
    before: Checkpoint<Counter>,
    { position, done, counts }: Pick<Checkpoint<Counter>, 'position' | 'done' | 'counts'>,
  ): Promise<Checkpoint<Counter>> {
    const { matchedCount } = await this.imports.updateOne(
      { _id: before.id, position: before.position, done: before.done },
      done
        ? { $set: { position, done, counts }, $unset: { session: '' } }
        : { $set: { position, done, counts, session: tx.session.id } },
      { session: tx.session },
    )
    if (matchedCount === 0) {
      throw new DomainError(
        'CONFLICT',
        'Another process is running the same import. Wait until it finishes.',
      )
    }
    return { ...before, position, done, counts }
  }
}

/**
 * An id that depends on nothing but the import, the time and the place in the source, so that a
 * repeat makes the same. Ids of one import never meet; those of two do by chance of 1 in 65,536,
 * and only within one millisecond.
 * @param atMs milliseconds since 1970.
 * @param place 0 to 4,294,967,295, each used once.
 */
export const importedId = <Id extends TimeId>(importId: string, atMs: number, place: number): Id =>
  timeIdAt<Id>(atMs, importId.slice(0, 4) + place.toString(16).padStart(8, '0'))

/** How many places there are in an import. */
export const placesMax = 2 ** 32

function fromDoc<Counter extends string>(doc: ImportDoc): Checkpoint<Counter> {
  const { startedAt, position, done, counts } = doc as unknown as Checkpoint<Counter>
  return { id: doc._id, startedAt, position, done, counts }
}

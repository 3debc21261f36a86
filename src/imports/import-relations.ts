import type { EdgeSource } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { batches } from '../lib/batch.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import type { StatsChange } from '../users/stats.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import { type Checkpoint, Checkpoints, importedId, placesMax } from './checkpoint.ts'
import {
  type Counter,
  choose,
  keyOf,
  mapped,
  nothing,
  type RelationCounts,
  stands,
  sum,
} from './choose-relations.ts'
import type { ImportProgress, ImportRun, ImportServices } from './import-graph.ts'
import { withSoFar } from './interrupted.ts'
import { type BatchWriter, writePatiently } from './patience.ts'
import type { RelationFile, RelationFindings, RelationRow } from './relation-file.ts'
import { type ImportSize, sizeOf, type TimelineUpkeep } from './upkeep.ts'

export interface RelationImportOptions extends ImportRun {
  readonly file: RelationFile
  /** Rows in one transaction. Default: 1,000, which write up to 3,000 events. */
  readonly batchSize?: number | undefined
}

/** What an import has come to; a dry run, what it would. */
export interface RelationImportResult extends RelationFindings {
  /** By this run: nothing when the import was complete before. */
  readonly run: RelationCounts
  /** By all runs of this import. */
  readonly total: RelationCounts
}

const batchRows = 1_000

/**
 * Imports the relations of a file and opens accounts for whom it names (seed 3). One transaction a batch writes
 * accounts, edges, history, counters and the checkpoint: a kill at any moment resumes exactly where it was, a repeat
 * changes nothing, and counters stay exact beside live traffic. What it writes depends on the file alone, but for
 * what is there already: that is left as it is. Stored timelines come to hold the edges by jobs of the same
 * transaction ({@link TimelineUpkeep}).
 * Cost: ten to twenty-one commands per batch of 1,000 rows. Reads the file from its beginning, also to resume.
 * @throws {DomainError} BAD_USER_INPUT when the file cannot be read to its end; CONFLICT when another process runs
 *   the same import; UNAVAILABLE after 150 s without progress.
 */
export async function importRelations(
  services: ImportServices,
  options: RelationImportOptions,
): Promise<RelationImportResult> {
  const checkpoints = new Checkpoints(services.collections.imports)
  const key = { kind: 'relations', file: options.file.file, options: {} } as const
  const start = await checkpoints.open<Counter>(key, nothing, (options.now ?? Date.now)())
  const size = await sizeOf(options.file.file)
  return new RelationImport({ services, checkpoints, start, size, options }).run()
}

/**
 * Tells what {@link importRelations} would write now, and writes nothing. Holds the names and pairs of the file: some
 * 200 bytes a row. Cost: five to eight commands per batch.
 * @throws {DomainError} BAD_USER_INPUT as there.
 */
export async function previewRelations(
  services: ImportServices,
  { file, batchSize = batchRows, signal, onProgress, now = Date.now }: RelationImportOptions,
): Promise<RelationImportResult> {
  const written = { users: new Set<UserId>(), pairs: new Set<string>() }
  let run: RelationCounts = nothing
  for await (const rows of batches(file.rows(now()), batchSize)) {
    signal?.throwIfAborted()
    const { accounts, chosen } = await services.transactions.run(async (tx) => {
      const accounts = await accountsAmong(services, tx, handlesOf(rows))
      const candidates = { rows, accounts, before: written.pairs }
      return { accounts, chosen: await choose(services, tx, candidates) }
    })
    const before = written.users.size
    for (const id of accounts.opened) written.users.add(id)
    for (const row of chosen.fresh) written.pairs.add(keyOf(row))
    run = sum(run, chosen.counts, written.users.size - before)
    onProgress?.(progressOf(file, run))
  }
  return { run, total: run, ...file.findings }
}

interface RelationImportParts {
  readonly services: ImportServices
  readonly checkpoints: Checkpoints
  readonly start: Checkpoint<Counter>
  readonly size: ImportSize
  readonly options: RelationImportOptions
}

class RelationImport implements BatchWriter<RelationRow> {
  private checkpoint: Checkpoint<Counter>

  private readonly services: ImportServices
  private readonly checkpoints: Checkpoints
  private readonly start: Checkpoint<Counter>
  private readonly size: ImportSize
  private readonly options: RelationImportOptions

  constructor({ services, checkpoints, start, size, options }: RelationImportParts) {
    this.services = services
    this.checkpoints = checkpoints
    this.start = start
    this.size = size
    this.options = options
    this.checkpoint = start
  }

  async run(): Promise<RelationImportResult> {
    try {
      await this.writeAll()
    } catch (error) {
      throw withSoFar(error, this.options.signal, () => this.result())
    }
    return this.result()
  }

  private async writeAll(): Promise<void> {
    const { transactions } = this.services
    const { file, onProgress, batchSize = batchRows } = this.options
    if (!this.start.done) await transactions.run((tx) => this.checkpoints.claim(tx, this.start))
    for await (const rows of batches(this.remainder(), batchSize)) {
      await writePatiently(rows, this, this.options)
      onProgress?.(progressOf(file, this.written()))
    }
    if (!this.checkpoint.done) await this.finish()
    onProgress?.(progressOf(file, this.written()))
  }

  private result(): RelationImportResult {
    const { findings } = this.options.file
    return { run: this.written(), total: this.checkpoint.counts, ...findings }
  }

  /** What is found is counted by the walk itself, so also before the checkpoint. */
  private async *remainder(): AsyncGenerator<RelationRow> {
    for await (const row of this.options.file.rows(this.start.startedAt.getTime())) {
      if (!this.start.done && row.line > this.start.position) yield row
    }
  }

  async unwritten(rows: readonly RelationRow[]): Promise<readonly RelationRow[]> {
    this.checkpoint = await this.checkpoints.reload(this.checkpoint)
    return rows.filter(({ line }) => line > this.checkpoint.position)
  }

  async write(rows: readonly RelationRow[]): Promise<void> {
    const { services, checkpoint } = this
    const handles = handlesOf(rows)
    const position = rows.at(-1)?.line ?? checkpoint.position
    if (placeOf(position + 1, 0) > placesMax) {
      throw new DomainError('BAD_USER_INPUT', 'The file has too many lines')
    }
    this.checkpoint = await services.transactions.run(async (tx) => {
      const { collections, stats } = services
      const accounts = await openAccounts(collections, tx, handles, checkpoint.startedAt)
      const { fresh, counts } = await choose(services, tx, { rows, accounts })
      if (fresh.length > 0) {
        await stats.change(tx, changesOf(fresh))
        await this.insert(tx, fresh)
      }
      const after = sum(checkpoint.counts, counts, accounts.opened.size)
      return this.checkpoints.move(tx, checkpoint, { position, done: false, counts: after })
    })
  }

  /** An edge has the id of the event that began it: its time is since when. */
  private async insert(tx: Tx, rows: readonly RelationRow[]): Promise<void> {
    const { edges, collections, upkeep } = this.services
    const idOf = ({ line, events }: RelationRow, at: number) =>
      importedId<EdgeId>(this.checkpoint.id, events[at]?.atMs ?? 0, placeOf(line, at))
    const standing = rows.filter(stands).map((row) => {
      const { follower, followee, events } = row
      const source: EdgeSource = events.at(-1)?.source ?? 'IMPORT'
      return { id: idOf(row, events.length - 1), follower, followee, source }
    })
    if (standing.length > 0) {
      await edges.store(tx, standing)
      await upkeep.leaveJobs(tx, { follows: standing, posts: [] }, this.size)
    }
    const events = rows.flatMap((row) =>
      row.events.map(({ type, source, atMs }, at) => ({
        _id: toObjectId(idOf(row, at)),
        user: row.follower,
        followee: row.followee,
        type,
        source,
        at: new Date(atMs),
      })),
    )
    await collections.follow_events.insertMany(events, { session: tx.session })
  }

  private async finish(): Promise<void> {
    const { checkpoint } = this
    this.checkpoint = await this.services.transactions.run((tx) =>
      this.checkpoints.move(tx, checkpoint, { ...checkpoint, done: true }),
    )
  }

  private written(): RelationCounts {
    const { counts } = this.start
    return mapped((counter) => this.checkpoint.counts[counter] - counts[counter])
  }
}

/** As {@link openAccounts} would find and open them. One command. */
async function accountsAmong(
  { collections: { users } }: ImportServices,
  { session }: Tx,
  handles: ReadonlySet<UserId>,
): Promise<Accounts> {
  const [live, opened] = [new Set(handles), new Set(handles)]
  const there = users.find(
    { _id: { $in: [...handles] } },
    { session, projection: { _id: 1, deletedAt: 1 } },
  )
  for await (const { _id, deletedAt } of there) {
    opened.delete(_id as UserId)
    if (deletedAt) live.delete(_id as UserId)
  }
  return { live, opened }
}

/** The summed differences to counters; who gets but a history must not be deleted unseen meanwhile. */
function changesOf(rows: readonly RelationRow[]): Map<UserId, StatsChange> {
  const changes = new Map<UserId, StatsChange>()
  const add = (id: UserId, field: 'followers' | 'following', count: 0 | 1) => {
    const change = changes.get(id)
    changes.set(id, { guard: 1, ...change, [field]: (change?.[field] ?? 0) + count })
  }
  for (const row of rows) {
    add(row.follower, 'following', stands(row) ? 1 : 0)
    add(row.followee, 'followers', stands(row) ? 1 : 0)
  }
  return changes
}

const placeOf = (line: number, event: number) => 4 * line + event
const handlesOf = (rows: readonly RelationRow[]) =>
  new Set(rows.flatMap(({ follower, followee }) => [follower, followee]))

const progressOf = ({ file }: RelationFile, { pairs }: RelationCounts): ImportProgress => ({
  done: file.bytesRead,
  total: file.sizeBytes,
  written: pairs,
})

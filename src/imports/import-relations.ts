import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { EdgeId } from '../lib/ids.ts'
import { countAll, countEdges, handlesOf, openAccounts } from './accounts.ts'
import { type Checkpoint, importedId } from './checkpoint.ts'
import { classifyRows, type RelationCounter, withEvents, zeroCounts } from './classify-rows.ts'
import {
  type ImportOptions,
  type ImportResult,
  type ImportServices,
  runImport,
  type WrittenBatch,
} from './importer.ts'
import { lineSource } from './line-source.ts'
import type { RelationFile, RelationFindings, RelationRow } from './relation-file.ts'
import { sizeOf } from './upkeep.ts'

export interface RelationImportOptions extends ImportOptions {
  readonly file: RelationFile
}

export type RelationImportResult = ImportResult<RelationCounter, RelationFindings>

/** Rows in one transaction. They write up to 3,000 events. */
export const batchRows = 1_000

/**
 * Imports the relations of a file, and opens an account for each user of a written row, by {@link runImport}.
 * Counters stay exact beside live traffic. What it writes depends on the file alone; it skips pairs that have an
 * edge or a history.
 * Cost: ten to twenty-one commands per batch of 1,000 rows.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end; else as {@link runImport}.
 */
export async function importRelations(
  services: ImportServices,
  options: RelationImportOptions,
): Promise<RelationImportResult> {
  const { file } = options
  return runImport(services, options, {
    key: { kind: 'relations', file: file.file, options: {} },
    source: lineSource(
      file.file,
      ({ startedAt }) => file.rows(startedAt.getTime()),
      () => file.findings,
    ),
    write: (tx, rows, checkpoint) => writeRelations(services, tx, rows, checkpoint),
    counters: zeroCounts,
    progressCounter: 'pairs',
    size: await sizeOf(file.file),
    batchSize: batchRows,
  })
}

async function writeRelations(
  services: ImportServices,
  tx: Tx,
  rows: readonly RelationRow[],
  { id: importId, startedAt }: Checkpoint,
): Promise<WrittenBatch<RelationCounter>> {
  const { collections, edges } = services
  const accounts = await openAccounts(services, tx, { pairs: withEvents(rows) }, startedAt)
  const { fresh, counts } = await classifyRows(collections, tx, { rows, accounts })
  const histories = fresh.map((row) => eventsOf(row, importId))
  const last = histories.flatMap((events) => events.slice(-1))
  const follows = last.filter(({ type }) => type === 'FOLLOWED')
  const changes = countEdges(follows)
  // A user who gets only a history must not be deleted at the same time.
  for (const id of handlesOf(fresh)) changes.set(id, { ...changes.get(id), guard: 1 })
  await countAll(services, tx, accounts, changes)
  if (fresh.length > 0) {
    if (follows.length > 0) await edges.storeImported(tx, follows)
    const docs = histories.flat().map(({ id, follower: user, ...event }) => ({
      _id: toObjectId(id),
      user,
      ...event,
    }))
    await collections.follow_events.insertMany(docs, { session: tx.session })
  }
  return { counts, follows, posts: [] }
}

/** The events of a row. An edge has the id of the event that began it, so its time is the time of that follow. */
const eventsOf = ({ line, follower, followee, events }: RelationRow, importId: string) =>
  events.map(({ type, source, atMs }, index) => ({
    id: importedId<EdgeId>(importId, atMs, 4 * line + index),
    follower,
    followee,
    type,
    source,
    at: new Date(atMs),
  }))

import type { EdgeId } from '../../src/lib/ids.ts'
import { importedId } from './checkpoint.ts'
import {
  type ImportOptions,
  type ImportPlan,
  type ImportResult,
  type ImportServices,
  previewImport,
  runImport,
} from './importer.ts'
import { RelationFile, type RelationFindings, type RelationRow } from './relation-file.ts'
import { type NamedBy, namingOptions } from './user-names.ts'
import { type PairCounter, zeroCounts } from './write-pairs.ts'

export interface RelationImportOptions extends ImportOptions {
  /** The path of the file. */
  readonly file: string
  readonly namedBy?: NamedBy
}

export type RelationImportResult = ImportResult<PairCounter, RelationFindings>

/** Rows in one transaction. They write up to 3,000 events. */
const batchRows = 1_000

/**
 * Imports the relations of a file, and opens an account for each user of a written row, by
 * {@link runImport}. What it writes depends on the file alone, but for the ids of new accounts; it
 * skips pairs that have an edge or a history. Cost: ten to twenty-five commands per batch of 1,000
 * rows.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end; else as
 *   {@link runImport}.
 */
export const importRelations = async (
  services: ImportServices,
  options: RelationImportOptions,
): Promise<RelationImportResult> => runImport(services, options, await planOf(options))

/** Returns what {@link importRelations} would write now, by {@link previewImport}. */
export const previewRelations = async (
  services: ImportServices,
  options: RelationImportOptions,
): Promise<RelationImportResult> => previewImport(services, options, await planOf(options))

const planOf = async ({
  file,
  namedBy,
}: RelationImportOptions): Promise<ImportPlan<RelationRow, PairCounter, RelationFindings>> => ({
  kind: 'relations',
  source: await RelationFile.open(file, namedBy),
  options: namingOptions(namedBy),
  // An edge has the id of the event that began it, so its time is the time of that follow.
  pairsOf: ({ line, follower, followee, events }, { id: importId }) => [
    {
      line,
      follower,
      followee,
      events: events.map((event, index) => ({
        id: importedId<EdgeId>(importId, event.atMs, 4 * line + index),
        ...event,
      })),
    },
  ],
  pairsPerRow: 1,
  rules: { skipsHistory: true, looksForEdges: true, namedBy },
  counters: zeroCounts,
  progressCounter: 'pairs',
  batchSize: batchRows,
})

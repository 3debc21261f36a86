import type { EdgeId } from '../../src/lib/ids.ts'
import { type Checkpoint, importedId } from './checkpoint.ts'
import { type EdgeFindings, type EdgeLine, EdgeList } from './edge-list.ts'
import {
  type ImportOptions,
  type ImportResult,
  type ImportServices,
  runImport,
} from './importer.ts'
import { type NamedBy, namingOptions } from './user-names.ts'
import type { ImportedPair } from './write-pairs.ts'

export interface GraphImportOptions extends ImportOptions {
  /** The path of the file. */
  readonly file: string
  /** Both users of each line follow each other. */
  readonly mutual: boolean
  readonly namedBy?: NamedBy
}

/** What an import of edges counts, at zero. */
const counters = { users: 0, edges: 0, known: 0, blocked: 0, deleted: 0, unknown: 0 }

export type GraphImportResult = ImportResult<keyof typeof counters, EdgeFindings>

/**
 * Edges in one transaction. It takes 0.3 to 0.9 s on two cores, during which other writes to the
 * same users wait.
 */
const batchEdges = 6_000

/**
 * Imports the edges of a file (see {@link EdgeList}), and opens an account for each handle that it
 * names, and for each subject that is a free handle, by {@link runImport}. Skips edges that exist,
 * edges of deleted users and of other subjects without an account, and edges between users with a
 * block. Cost: ten to thirty-five commands per batch of 6,000 edges. Until the first edge that is
 * stored already, no batch looks for stored edges: the unique index finds that one, and its batch
 * is tried again.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read; else as {@link runImport}.
 */
export async function importGraph(
  services: ImportServices,
  options: GraphImportOptions,
): Promise<GraphImportResult> {
  const { mutual, namedBy } = options
  return runImport(services, options, {
    kind: 'graph',
    source: await EdgeList.open(options.file, namedBy),
    options: { mutual, ...namingOptions(namedBy) },
    pairsOf: (line, checkpoint) => edgesOf(line, mutual, checkpoint),
    pairsPerRow: mutual ? 2 : 1,
    rules: { skipsHistory: false, looksForEdges: false, namedBy },
    counters,
    progressCounter: 'edges',
    batchSize: mutual ? batchEdges / 2 : batchEdges,
  })
}

function edgesOf(
  { line, from, to }: EdgeLine,
  mutual: boolean,
  { id: importId, startedAt }: Checkpoint,
): ImportedPair[] {
  const atMs = startedAt.getTime()
  const pairs = [{ follower: from, followee: to }]
  if (mutual) pairs.push({ follower: to, followee: from })
  return pairs.map((pair, index) => {
    const id = importedId<EdgeId>(importId, atMs, 2 * line + index)
    return { ...pair, line, events: [{ id, type: 'FOLLOWED', source: 'IMPORT', atMs }] }
  })
}

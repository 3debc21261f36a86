import { isDuplicateKey } from '../db/errors.ts'
import { TryAgain, type Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { FollowEdge } from '../follows/edges.ts'
import { pairKey } from '../follows/pair-lists.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import { type Accounts, bothIn, countAll, countEdges, handlesOf, openAccounts } from './accounts.ts'
import type { BadLines } from './bad-lines.ts'
import { type Checkpoint, importedId } from './checkpoint.ts'
import { type EdgeLine, EdgeList } from './edge-list.ts'
import { recordFollows } from './history.ts'
import {
  type ImportOptions,
  type ImportResult,
  type ImportServices,
  runImport,
  type WrittenBatch,
} from './importer.ts'
import { lineSource } from './line-source.ts'
import { LiveAccounts } from './live-accounts.ts'
import { storedPairs } from './pairs.ts'
import { TextFile } from './text-file.ts'
import { sizeOf } from './upkeep.ts'

export interface GraphImportOptions extends ImportOptions {
  readonly file: string
  /** Both users of each line follow each other. */
  readonly mutual: boolean
}

type Counter = 'users' | 'edges'
export type GraphImportResult = ImportResult<Counter, { readonly bad: BadLines }>

/** Edges in one transaction. It takes 0.3 to 0.9 s on two cores, during which other writes to the same users wait. */
const batchEdges = 6_000

/**
 * Imports the edges of a file (see {@link EdgeList}), and opens an account for each user that it names, by
 * {@link runImport}. Counters stay exact beside live traffic. Skips edges that exist, edges of deleted users, and
 * edges between users with a block.
 * Cost: ten to thirty commands per batch of 6,000 edges. Until the first edge that is stored already, no batch looks for
 * stored edges: the unique index finds that one, and its batch is tried again.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read; else as {@link runImport}.
 */
export async function importGraph(
  services: ImportServices,
  options: GraphImportOptions,
): Promise<GraphImportResult> {
  const { mutual } = options
  const seen: Seen = { storedEdge: false, accounts: new LiveAccounts() }
  const file = await TextFile.open(options.file)
  const list = new EdgeList(file)
  return runImport(services, options, {
    key: { kind: 'graph', file, options: { mutual } },
    source: lineSource(
      file,
      () => list,
      () => ({ bad: list.bad }),
    ),
    write: (tx, lines, checkpoint) =>
      writeEdges(services, tx, { edges: edgesOf(lines, mutual, checkpoint), checkpoint, seen }),
    counters: { users: 0, edges: 0 },
    progressCounter: 'edges',
    size: await sizeOf(file, mutual ? 2 : 1),
    batchSize: mutual ? batchEdges / 2 : batchEdges,
  })
}

/** The edges of some lines, each once. A repeat makes the same ids. */
function edgesOf(
  lines: readonly EdgeLine[],
  mutual: boolean,
  { id: importId, startedAt }: Checkpoint,
): FollowEdge[] {
  const edges = new Map<string, FollowEdge>()
  const add = (follower: UserId, followee: UserId, place: number) => {
    const key = pairKey({ follower, followee })
    if (edges.has(key)) return
    const id = importedId<EdgeId>(importId, startedAt.getTime(), place)
    edges.set(key, { id, follower, followee, source: 'IMPORT' })
  }
  for (const { line, from, to } of lines) {
    add(from, to, 2 * line)
    if (mutual) add(to, from, 2 * line + 1)
  }
  return [...edges.values()]
}

/** What earlier batches of the run have seen. */
interface Seen {
  readonly accounts: LiveAccounts
  /** Whether an edge was stored already, so that further batches look for stored edges. */
  storedEdge: boolean
}

/** What one transaction writes. */
interface Batch {
  readonly edges: readonly FollowEdge[]
  /** The state before the batch. Its start is the date of new accounts. */
  readonly checkpoint: Checkpoint
  readonly seen: Seen
}

async function writeEdges(
  services: ImportServices,
  tx: Tx,
  { edges, checkpoint, seen }: Batch,
): Promise<WrittenBatch<Counter>> {
  const handles = handlesOf(edges)
  const known = seen.accounts.among(handles, checkpoint.position)
  const accounts = await openAccounts(services, tx, { pairs: edges, known }, checkpoint.startedAt)
  seen.accounts.note(accounts.live, checkpoint.position)
  const fresh = await freshEdges(services, tx, { edges, seen }, accounts)
  await countAll(services, tx, accounts, countEdges(fresh)).catch((error: unknown) => {
    const isGone = error instanceof DomainError && error.code === 'NOT_FOUND'
    throw isGone && seen.accounts.forget() ? new TryAgain() : error
  })
  if (fresh.length > 0) {
    await services.edges.storeImported(tx, fresh).catch((error: unknown) => {
      // The transaction is tried again.
      if (isDuplicateKey(error)) seen.storedEdge = true
      throw error
    })
    const older = fresh.filter((edge) => isOlder(edge, accounts))
    await recordFollows(services, tx, fresh, older)
  }
  const counts = { users: accounts.opened.size, edges: fresh.length }
  return { counts, follows: fresh, posts: [] }
}

/** Whether both accounts existed before this batch. */
const isOlder = ({ follower, followee }: FollowEdge, { opened }: Accounts) =>
  !opened.has(follower) && !opened.has(followee)

/** The edges that the import may add, or some that are stored. An account that was opened in this batch has no edges. */
async function freshEdges(
  { collections }: ImportServices,
  tx: Tx,
  { edges, seen }: Pick<Batch, 'edges' | 'seen'>,
  accounts: Accounts,
): Promise<FollowEdge[]> {
  const living = edges.filter((edge) => bothIn(edge, accounts.live))
  const older = living.filter((edge) => isOlder(edge, accounts))
  const existing = await storedPairs(collections, tx, 'followers', seen.storedEdge ? older : [])
  // Spares a database without mutes and blocks up to four commands.
  const options = { session: tx.session, projection: { _id: 1 } }
  const restricted = await collections.restrictions.findOne({}, options)
  const blocked = await storedPairs(collections, tx, 'restrictions', restricted ? living : [])
  return living.filter((edge) => !existing.has(pairKey(edge)) && !blocked.has(pairKey(edge)))
}

import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Edges, FollowEdge } from '../follows/edges.ts'
import { batches } from '../lib/batch.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import type { StatsChange, UserStats } from '../users/stats.ts'
import { openAccounts } from './accounts.ts'
import { type Checkpoint, Checkpoints, importedId, placesMax } from './checkpoint.ts'
import { type BadLines, type EdgeLine, EdgeList } from './edge-list.ts'
import { withSoFar } from './interrupted.ts'
import { type Pair, pairKey, storedPairs } from './pairs.ts'
import { type BatchWriter, writePatiently } from './patience.ts'
import { TextFile } from './text-file.ts'
import { type ImportSize, sizeOf, type TimelineUpkeep } from './upkeep.ts'

/** What imports write through. */
export interface ImportServices {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly stats: UserStats
  readonly upkeep: TimelineUpkeep
}

/** How far a run has come. `done` of `total` is for a bar; the units are the import's own. */
export interface ImportProgress {
  readonly done: number
  readonly total: number
  /** Written by this run. */
  readonly written: number
}

/** What every import can be told. */
export interface ImportRun {
  /**
   * Called after each batch that was committed; what it throws ends the run, which a repeat
   * resumes.
   */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Ends the run between two batches with {@link ImportInterrupted}, where the reason is an Error. */
  readonly signal?: AbortSignal | undefined
  /** Called each time that a batch was turned away for 5 s; it is tried again for 150 s in all. */
  readonly onBusy?: (() => void) | undefined
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined
}

export interface GraphImportOptions extends ImportRun {
  readonly file: string
  /** Each line makes both follow each other. */
  readonly mutual: boolean
  /** Lines in one transaction. Default: as many as make 2,000 edges. */
  readonly batchSize?: number | undefined
}

type Counter = 'users' | 'edges'
type Counts = Readonly<Record<Counter, number>>

/** What an import has come to. */
export interface GraphImportResult {
  /** Written by this run: nothing when the import was complete before. */
  readonly written: Counts
  /** Written by all runs of this import. */
  readonly total: Counts
  readonly bad: BadLines
}

/** Takes some 0.2 to 0.4 s, during which writes to the same people wait. */
const batchEdges = 2_000

/**
 * Imports the edges of a file (see {@link EdgeList}) and opens accounts for whom it names.
 * One transaction a batch writes accounts, edges, history, counters and the checkpoint: a kill at
 * any moment resumes exactly where it was, a repeat changes nothing, and counters stay exact beside
 * live traffic. Passed over: edges that exist, edges of deleted people, edges across a block.
 * Stored timelines come to hold the edges by jobs of the same transaction ({@link TimelineUpkeep}).
 * Cost: eleven to twenty-three commands per batch of 2,000 edges. Reads the file from its beginning, also
 * to resume.
 * @throws {DomainError} BAD_USER_INPUT when the file cannot be read; CONFLICT when another
 *   process runs the same import; UNAVAILABLE after 150 s without progress.
 */
export async function importGraph(
  services: ImportServices,
  options: GraphImportOptions,
): Promise<GraphImportResult> {
  const file = await TextFile.open(options.file)
  const { mutual, now = Date.now } = options
  const checkpoints = new Checkpoints(services.collections.imports)
  const key = { kind: 'graph', file, options: { mutual } } as const
  const start = await checkpoints.open<Counter>(key, { users: 0, edges: 0 }, now())
  const size = await sizeOf(file, mutual ? 2 : 1)
  return new GraphImport({ services, checkpoints, start, file, size, options }).run()
}

/** What one run of an import works with. */
interface GraphImportParts {
  readonly services: ImportServices
  readonly checkpoints: Checkpoints
  readonly start: Checkpoint<Counter>
  readonly file: TextFile
  readonly size: ImportSize
  readonly options: GraphImportOptions
}

class GraphImport implements BatchWriter<EdgeLine> {
  private checkpoint: Checkpoint<Counter>

  constructor(private readonly parts: GraphImportParts) {
    this.checkpoint = parts.start
  }

  async run(): Promise<GraphImportResult> {
    const { file, options } = this.parts
    const list = new EdgeList(file)
    try {
      await this.writeAll(list)
    } catch (error) {
      throw withSoFar(error, options.signal, () => this.result(list))
    }
    return this.result(list)
  }

  private async writeAll(list: EdgeList): Promise<void> {
    const { services, checkpoints, start, options } = this.parts
    if (!start.done) await services.transactions.run((tx) => checkpoints.claim(tx, start))
    const { mutual, onProgress, batchSize = mutual ? batchEdges / 2 : batchEdges } = options
    for await (const lines of batches(this.remainder(list), batchSize)) {
      await writePatiently(lines, this, options)
      onProgress?.(this.progress())
    }
    if (!this.checkpoint.done) await this.finish()
    onProgress?.(this.progress())
  }

  private result({ bad }: EdgeList): GraphImportResult {
    return { written: this.written(), total: this.checkpoint.counts, bad }
  }

  /** Bad lines are counted by the walk itself, so also those before the checkpoint. */
  private async *remainder(list: EdgeList): AsyncGenerator<EdgeLine> {
    const { start } = this.parts
    for await (const edge of list) {
      if (!start.done && edge.line > start.position) yield edge
    }
  }

  async unwritten(lines: readonly EdgeLine[]): Promise<readonly EdgeLine[]> {
    this.checkpoint = await this.parts.checkpoints.reload(this.checkpoint)
    return lines.filter(({ line }) => line > this.checkpoint.position)
  }

  async write(lines: readonly EdgeLine[]): Promise<void> {
    const { services, checkpoints, size } = this.parts
    const { checkpoint } = this
    const edges = this.edgesOf(lines)
    const handles = new Set(edges.flatMap(({ follower, followee }) => [follower, followee]))
    this.checkpoint = await services.transactions.run(async (tx) => {
      const { collections } = services
      const { live, opened } = await openAccounts(collections, tx, handles, checkpoint.startedAt)
      const fresh = await this.importable(
        tx,
        edges.filter(({ follower, followee }) => live.has(follower) && live.has(followee)),
        opened,
      )
      if (fresh.length > 0) {
        await services.stats.change(tx, changesOf(fresh))
        await services.edges.insert(tx, fresh)
        await services.upkeep.leaveJobs(tx, { follows: fresh, posts: [] }, size)
      }
      const { users, edges: before } = checkpoint.counts
      const counts = { users: users + opened.size, edges: before + fresh.length }
      const position = lines.at(-1)?.line ?? checkpoint.position
      return checkpoints.move(tx, checkpoint, { position, done: false, counts })
    })
  }

  /** The edges of some lines, each once, with ids that a repeat makes again. */
  private edgesOf(lines: readonly EdgeLine[]): FollowEdge[] {
    const edges = new Map<string, FollowEdge>()
    const { id: importId, startedAt } = this.checkpoint
    const add = (follower: UserId, followee: UserId, place: number) => {
      const key = pairKey({ one: followee, other: follower })
      if (edges.has(key)) return
      if (place >= placesMax) throw new DomainError('BAD_USER_INPUT', 'The file has too many lines')
      const id = importedId<EdgeId>(importId, startedAt.getTime(), place)
      edges.set(key, { id, follower, followee, source: 'IMPORT' })
    }
    for (const { line, from, to } of lines) {
      add(from, to, 2 * line)
      if (this.parts.options.mutual) add(to, from, 2 * line + 1)
    }
    return [...edges.values()]
  }

  /**
   * Those that neither exist nor cross a block. People whose account was `opened` just now have no
   * edges.
   */
  private async importable(
    tx: Tx,
    edges: readonly FollowEdge[],
    opened: ReadonlySet<UserId>,
  ): Promise<FollowEdge[]> {
    const pairs = edges.map((edge) => ({ edge, one: edge.followee, other: edge.follower }))
    const older = pairs.filter(({ one, other }) => !opened.has(one) && !opened.has(other))
    const { followers } = this.parts.services.collections
    const existing = await storedPairs(
      { collection: followers, one: 'user', other: 'follower', hint: { user: 1, follower: 1 } },
      tx,
      older,
    )
    const blocked = await this.blocked(tx, pairs)
    return pairs
      .filter((pair) => !existing.has(pairKey(pair)) && !blocked.has(pairKey(pair)))
      .map(({ edge }) => edge)
  }

  private async blocked(tx: Tx, pairs: readonly Pair[]): Promise<ReadonlySet<string>> {
    const { restrictions } = this.parts.services.collections
    const any = await restrictions.findOne({}, { session: tx.session, projection: { _id: 1 } })
    if (!any) return new Set()
    const hint = { owner: 1, other: 1, kind: 1 } as const
    const where = { kind: { $in: ['BLOCK', 'BLOCKED_BY'] } }
    return storedPairs(
      { collection: restrictions, one: 'owner', other: 'other', hint, where },
      tx,
      pairs,
    )
  }

  private async finish(): Promise<void> {
    const { services, checkpoints } = this.parts
    const { checkpoint } = this
    this.checkpoint = await services.transactions.run((tx) =>
      checkpoints.move(tx, checkpoint, { ...checkpoint, done: true }),
    )
  }

  private written(): Counts {
    const { users, edges } = this.checkpoint.counts
    const { counts } = this.parts.start
    return { users: users - counts.users, edges: edges - counts.edges }
  }

  private progress(): ImportProgress {
    const { bytesRead, sizeBytes } = this.parts.file
    return { done: bytesRead, total: sizeBytes, written: this.written().edges }
  }
}

/** The summed differences that edges make to counters. */
function changesOf(edges: readonly FollowEdge[]): Map<UserId, StatsChange> {
  const changes = new Map<UserId, StatsChange>()
  const add = (id: UserId, field: 'followers' | 'following') => {
    const change = changes.get(id)
    changes.set(id, { ...change, [field]: (change?.[field] ?? 0) + 1 })
  }
  for (const { follower, followee } of edges) {
    add(follower, 'following')
    add(followee, 'followers')
  }
  return changes
}

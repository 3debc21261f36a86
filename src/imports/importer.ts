import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Edges } from '../follows/edges.ts'
import { batches, readAhead } from '../lib/batch.ts'
import type { UserStats } from '../users/stats.ts'
import { type BatchWriter, writeAdaptively } from './adaptive-batch.ts'
import {
  type Checkpoint,
  Checkpoints,
  type Counts,
  combineCounts,
  type ImportKey,
  type Progress,
} from './checkpoint.ts'
import type { ImportSize, TimelineUpkeep, Written } from './upkeep.ts'

/** The services that every import writes through. */
export interface ImportServices {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly stats: UserStats
  readonly upkeep: TimelineUpkeep
}

/** The progress of one run, for display. */
export interface ImportProgress {
  /** How much of `total` is done, in units of the source: bytes or rows. */
  readonly done: number
  readonly total: number
  /** Edges, pairs or posts that this run has written. */
  readonly written: number
}

/** Options of every import. */
export interface ImportOptions {
  /** Called after each committed batch and at the end. If it throws, the run ends; a repeat resumes it. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
  /** Ends the run between two batches. If the reason is an Error, the run throws {@link ImportInterrupted}. */
  readonly signal?: AbortSignal | undefined
  /** Called each time the database refused a batch for 5 s. The run retries for up to 150 s. */
  readonly onBusy?: (() => void) | undefined
  /** Returns the time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  /** Rows in one transaction. Each import has a default. */
  readonly batchSize?: number | undefined
}

/** Where the rows of an import come from. Their order never changes. */
export interface ImportSource<Row, Findings> {
  /** Streams the rows. May omit rows up to the position of `start`: the importer skips these. */
  rows(start: Checkpoint): AsyncIterable<Row> | Iterable<Row>
  /** The position of the checkpoint when `row` and all rows before it are written. */
  positionOf(row: Row): number
  /** The position after the last row. A source that knows it saves the import one transaction. */
  readonly lastPosition?: number
  /** How much of the source is done. */
  progress(position: number): Pick<ImportProgress, 'done' | 'total'>
  /** What the stream has found so far, for example invalid lines. */
  findings(): Findings
}

/** What the writer did in one transaction. */
export interface WrittenBatch<Counter extends string> extends Written {
  readonly counts: Counts<Counter>
}

/** What distinguishes one kind of import from the others. */
export interface ImportPlan<Row, Counter extends string, Findings extends object> {
  readonly key: ImportKey
  readonly source: ImportSource<Row, Findings>
  /** Writes rows in the transaction. `id` and `startedAt` of the checkpoint are the same in every run. */
  write(tx: Tx, rows: readonly Row[], checkpoint: Checkpoint): Promise<WrittenBatch<Counter>>
  /** All counters, at zero. */
  readonly counters: Counts<Counter>
  /** The counter that the progress shows. */
  readonly progressCounter: NoInfer<Counter>
  readonly size: ImportSize
  /** Default of {@link ImportOptions.batchSize}. */
  readonly batchSize: number
}

/** The counts of an import, with the findings of its source. */
export type ImportResult<Counter extends string, Findings = object> = Findings & {
  /** Written by this run. Zero if the import was complete before. */
  readonly written: Counts<Counter>
  /** Written by all runs of this import. */
  readonly total: Counts<Counter>
}

/** A signal ended the run between two batches. A repeat resumes the import. */
export class ImportInterrupted<Result> extends Error {
  override readonly name = 'ImportInterrupted'

  constructor(
    override readonly cause: Error,
    readonly partialResult: Result,
  ) {
    super(cause.message, { cause })
  }
}

/**
 * Imports all rows of a source. One transaction per batch writes the rows, the jobs for stored timelines
 * ({@link TimelineUpkeep}) and the checkpoint. A run that was killed resumes at the first row that is not
 * committed. Repeating a complete import changes nothing.
 * Cost, beside the commands of the plan: one or two commands and up to two transactions of two commands per run;
 * one command for the checkpoint and one commit per batch.
 * @throws {ImportInterrupted} if the signal ended the run.
 * @throws {DomainError} CONFLICT if another process runs the same import; UNAVAILABLE after 150 s without progress.
 */
export async function runImport<Row, Counter extends string, Findings extends object>(
  services: ImportServices,
  options: ImportOptions,
  plan: ImportPlan<Row, Counter, Findings>,
): Promise<ImportResult<Counter, Findings>> {
  const checkpoints = new Checkpoints(services.collections.imports)
  const start = await checkpoints.open(plan.key, plan.counters, (options.now ?? Date.now)())
  return new Importer(services, options, plan, start).run()
}

class Importer<Row, Counter extends string, Findings extends object> implements BatchWriter<Row> {
  private readonly checkpoints: Checkpoints
  private checkpoint: Checkpoint<Counter>

  constructor(
    private readonly services: ImportServices,
    private readonly options: ImportOptions,
    private readonly plan: ImportPlan<Row, Counter, Findings>,
    private readonly start: Checkpoint<Counter>,
  ) {
    this.checkpoints = new Checkpoints(services.collections.imports)
    this.checkpoint = start
  }

  async run(): Promise<ImportResult<Counter, Findings>> {
    const { signal } = this.options
    try {
      await this.writeAll()
    } catch (error) {
      const isInterruption = signal?.aborted && error === signal.reason && error instanceof Error
      throw isInterruption ? new ImportInterrupted(error, this.result()) : error
    }
    return this.result()
  }

  async write(rows: readonly Row[]): Promise<void> {
    const { source, size } = this.plan
    const position = source.positionOf(rows.at(-1) as Row)
    await this.commit(async (tx, before) => {
      const batch = await this.plan.write(tx, rows, before)
      if (batch.follows.length + batch.posts.length > 0) {
        await this.services.upkeep.leaveJobs(tx, batch, size)
      }
      const counts = combineCounts(before.counts, batch.counts, 1)
      return { position, done: position === source.lastPosition, counts }
    })
  }

  async unwritten(rows: readonly Row[]): Promise<readonly Row[]> {
    this.checkpoint = await this.checkpoints.reload(this.checkpoint)
    return rows.filter((row) => this.plan.source.positionOf(row) > this.checkpoint.position)
  }

  private async writeAll(): Promise<void> {
    const { onProgress, batchSize = this.plan.batchSize } = this.options
    // Records the session before the first batch, so that the next run can end it if this process is killed.
    if (!this.start.done) await this.commit(async (_, before) => before)
    for await (const rows of readAhead(batches(this.remainingRows(), batchSize))) {
      await writeAdaptively(rows, this, this.options)
      onProgress?.(this.progress())
    }
    if (!this.checkpoint.done) await this.commit(async (_, before) => ({ ...before, done: true }))
    onProgress?.(this.progress())
  }

  /** Reads all rows of a complete import too: the findings of every run describe the whole source. */
  private async *remainingRows(): AsyncGenerator<Row> {
    const { start, plan } = this
    for await (const row of plan.source.rows(start)) {
      if (!start.done && plan.source.positionOf(row) > start.position) yield row
    }
  }

  /** Runs `work` in a transaction that moves the checkpoint to the progress that it returns. */
  private async commit(
    work: (tx: Tx, before: Checkpoint<Counter>) => Promise<Progress<Counter>>,
  ): Promise<void> {
    const before = this.checkpoint
    this.checkpoint = await this.services.transactions.run(async (tx) =>
      this.checkpoints.move(tx, before, await work(tx, before)),
    )
  }

  private result(): ImportResult<Counter, Findings> {
    const total = this.checkpoint.counts
    const written = combineCounts(total, this.start.counts, -1)
    return { written, total, ...this.plan.source.findings() }
  }

  private progress(): ImportProgress {
    const { source, progressCounter } = this.plan
    const written = this.result().written[progressCounter]
    return { ...source.progress(this.checkpoint.position), written }
  }
}

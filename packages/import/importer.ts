import type { Collections } from '../../src/db/collections.ts'
import type { Transactions, Tx } from '../../src/db/transaction.ts'
import { DomainError } from '../../src/errors.ts'
import type { Edges } from '../../src/follows/edges.ts'
import { batches, readAhead } from '../../src/lib/batch.ts'
import type { ImportSize, Upkeep } from '../../src/timeline/registry/upkeep.ts'
import type { UserStats } from '../../src/users/stats.ts'
import {
  type Checkpoint,
  Checkpoints,
  type Counts,
  combineCounts,
  type ImportKey,
  type Progress,
} from './checkpoint.ts'
import { SkippedPairs } from './skipped-pairs.ts'
import type { Line, TextFile } from './text-file.ts'
import type { UserName } from './user-names.ts'
import {
  classifyPairs,
  type ImportedPair,
  type PairCounter,
  type PairRules,
  writePairs,
  zeroCounts,
} from './write-pairs.ts'

/**
 * The most edges of a small import. Their jobs take about 2 ms each, in total as long as a rebuild
 * of a few thousand timelines. During that time no page falls back to FANOUT_ON_READ.
 */
export const smallImportMax = 10_000

/** The services that every import writes through. */
export interface ImportServices {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly stats: UserStats
  readonly upkeep: Pick<Upkeep, 'leaveJobs'>
}

/** The progress of one run, for display. */
export interface ImportProgress {
  /** How many of `total` bytes are done. */
  readonly done: number
  readonly total: number
  /** Edges or pairs that this run has written. */
  readonly written: number
}

/** Options of every import. */
export interface ImportOptions {
  /**
   * Called after each committed batch and at the end. If it throws, the run ends; a repeat resumes
   * it.
   */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
  /**
   * Ends the run between two batches. If the reason is an Error, the run throws
   * {@link ImportInterrupted}.
   */
  readonly signal?: AbortSignal | undefined
  /** Called each time the database refused a batch for 5 s. The run retries for up to 150 s. */
  readonly onBusy?: (() => void) | undefined
  /** Returns the time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  /** Rows in one transaction. Each import has a default. */
  readonly batchSize?: number | undefined
}

/** What distinguishes one kind of import from the others. */
export interface ImportPlan<Row extends Pick<Line, 'line'>, Counter extends PairCounter, Findings> {
  readonly kind: ImportKey['kind']
  readonly source: {
    readonly file: TextFile
    /** Streams the rows of the file from its start, always in the same order. */
    rows(startedMs: number): AsyncIterable<Row>
    /** What the stream has found so far, for example bad lines. */
    readonly findings: Findings
  }
  /** An import with other options is another import. */
  readonly options: ImportKey['options']
  /** The pairs of a row. `id` and `startedAt` of the checkpoint are the same in every run. */
  pairsOf(row: Row, checkpoint: Checkpoint): readonly ImportedPair[]
  readonly pairsPerRow: number
  readonly rules: PairRules
  /** What this kind counts, at zero. */
  readonly counters: Counts<Counter>
  /** The counter that the progress shows. */
  readonly progressCounter: NoInfer<Counter>
  /** Default of {@link ImportOptions.batchSize}. */
  readonly batchSize: number
}

/** The counts of an import, with the findings of its source. */
export type ImportResult<Counter extends string, Findings> = Findings & {
  /** Written by this run. Zero if the import was complete before. */
  readonly written: Counts<Counter>
  /** Written by all runs of this import. */
  readonly total: Counts<Counter>
  /** The first pairs that this run has skipped, by the reason. */
  readonly skipped: SkippedPairs['first']
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
 * Imports all rows of a source. One transaction per batch writes accounts, edges, history and
 * counters, the jobs for stored timelines and the checkpoint. So counters stay exact beside live
 * traffic, and a run that was killed resumes at the first row that is not committed. Repeating a
 * complete import changes nothing. After each batch that the database refused, a batch has half as
 * many rows, but at least 25. Cost, beside the commands of {@link writePairs} and the jobs: one or
 * two commands and two transactions of two commands per run; one command for the checkpoint and one
 * commit per batch. Reads up to 10,000 lines of the file twice.
 * @throws {ImportInterrupted} if the signal ended the run.
 * @throws {DomainError} CONFLICT if another process runs the same import; UNAVAILABLE after 150 s
 *   without progress.
 */
export async function runImport<
  Row extends Pick<Line, 'line'>,
  Counter extends PairCounter,
  Findings,
>(
  services: ImportServices,
  options: ImportOptions,
  plan: ImportPlan<Row, Counter, Findings>,
): Promise<ImportResult<Counter, Findings>> {
  const size = await sizeOf(plan.source.file, plan.pairsPerRow)
  const checkpoints = new Checkpoints(services.collections.imports)
  const key = { kind: plan.kind, file: plan.source.file, options: plan.options }
  const start = await checkpoints.open(key, plan.counters, (options.now ?? Date.now)())
  return new Importer({ services, options, plan, size, checkpoints, start }).run()
}

/** Estimates the size of an import from the first lines of its file. */
async function sizeOf(file: TextFile, pairsPerLine: number): Promise<ImportSize> {
  for await (const { line } of file.lines()) {
    if (line * pairsPerLine > smallImportMax) return 'LARGE'
  }
  return 'SMALL'
}

/**
 * Returns what {@link runImport} would write now, and writes nothing. Holds the users and pairs of
 * the file in memory: about 200 bytes per row. Cost: five to nine commands per batch.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end.
 */
export async function previewImport<Row extends Pick<Line, 'line'>, Findings>(
  { collections, transactions }: ImportServices,
  { signal, onProgress, now = Date.now, batchSize }: ImportOptions,
  plan: ImportPlan<Row, PairCounter, Findings>,
): Promise<ImportResult<PairCounter, Findings>> {
  const { source } = plan
  const startedAt = new Date(now())
  const start = { id: '0000', startedAt, position: 0, done: false, counts: zeroCounts }
  const [users, previewed] = [new Set<UserName>(), new Set<string>()]
  const passedOver = new SkippedPairs()
  let total: Counts<PairCounter> = zeroCounts
  for await (const rows of batches(source.rows(startedAt.getTime()), batchSize ?? plan.batchSize)) {
    signal?.throwIfAborted()
    const pairs = rows.flatMap((row) => plan.pairsOf(row, start))
    const { fresh, accounts, counts, skipped } = await transactions.run((tx) =>
      classifyPairs(collections, tx, pairs, { ...plan.rules, previewed }),
    )
    passedOver.add(skipped)
    const usersBefore = users.size
    for (const name of accounts.opened) users.add(name)
    for (const { key } of fresh) previewed.add(key)
    total = combineCounts(total, { ...counts, users: users.size - usersBefore }, 1)
    const { bytesRead, sizeBytes } = source.file
    onProgress?.({ done: bytesRead, total: sizeBytes, written: total[plan.progressCounter] })
  }
  return { written: total, total, skipped: passedOver.first, ...source.findings }
}

/**
 * Above the 90 s for which MongoDB may keep the open transaction of a killed process, with its
 * locks.
 */
const withoutProgressMsMax = 150_000
const batchMin = 25

/** What one run of an import works with. */
interface Run<Row extends Pick<Line, 'line'>, Counter extends PairCounter, Findings> {
  readonly services: ImportServices
  readonly options: ImportOptions
  readonly plan: ImportPlan<Row, Counter, Findings>
  readonly size: ImportSize
  readonly checkpoints: Checkpoints
  readonly start: Checkpoint<Counter>
}

class Importer<Row extends Pick<Line, 'line'>, Counter extends PairCounter, Findings> {
  private checkpoint: Checkpoint<Counter>
  private readonly skipped = new SkippedPairs()

  constructor(private readonly parts: Run<Row, Counter, Findings>) {
    this.checkpoint = parts.start
  }

  async run(): Promise<ImportResult<Counter, Findings>> {
    const { signal } = this.parts.options
    try {
      await this.writeAll()
    } catch (error) {
      const isInterruption = signal?.aborted && error === signal.reason && error instanceof Error
      throw isInterruption ? new ImportInterrupted(error, this.result()) : error
    }
    return this.result()
  }

  private async writeAll(): Promise<void> {
    const { options, plan, start } = this.parts
    const { onProgress, batchSize = plan.batchSize } = options
    // Records the session before the first batch, so that the next run can end it if this process
    // is killed.
    if (!start.done) await this.commit(async (_, before) => before)
    for await (const rows of readAhead(batches(this.remainingRows(), batchSize))) {
      await this.writeRows(rows)
      onProgress?.(this.progress())
    }
    if (!this.checkpoint.done) await this.commit(async (_, before) => ({ ...before, done: true }))
    onProgress?.(this.progress())
  }

  /**
   * Reads all rows of a complete import too: the findings of every run describe the whole source.
   */
  private async *remainingRows(): AsyncGenerator<Row> {
    const { start, plan } = this.parts
    for await (const row of plan.source.rows(start.startedAt.getTime())) {
      if (!start.done && row.line > start.position) yield row
    }
  }

  /**
   * Writes rows in order: all in one transaction, or in smaller ones if live traffic locks the same
   * data.
   */
  private async writeRows(rows: readonly Row[]): Promise<void> {
    const { signal, onBusy } = this.parts.options
    let left = rows
    let size = rows.length
    let giveUpAt = performance.now() + withoutProgressMsMax
    while (left.length > 0) {
      signal?.throwIfAborted()
      try {
        await this.writeBatch(left.slice(0, size))
        left = left.slice(size)
        giveUpAt = performance.now() + withoutProgressMsMax
      } catch (error) {
        const isBusy = error instanceof DomainError && error.code === 'UNAVAILABLE'
        if (!isBusy || performance.now() >= giveUpAt) throw error
        onBusy?.()
        // The write may have been committed.
        this.checkpoint = await this.parts.checkpoints.reload(this.checkpoint)
        left = left.filter(({ line }) => line > this.checkpoint.position)
        size = Math.max(Math.min(batchMin, size), size >> 1)
      }
    }
  }

  private async writeBatch(rows: readonly Row[]): Promise<void> {
    const { services, plan, size } = this.parts
    const { line: position } = rows.at(-1) as Row
    const pairs = rows.flatMap((row) => plan.pairsOf(row, this.checkpoint))
    let skipped: Parameters<SkippedPairs['add']>[0] = []
    await this.commit(async (tx, before) => {
      const { counts, follows, ...others } = await writePairs(
        services,
        tx,
        { pairs, createdAt: before.startedAt },
        plan.rules,
      )
      if (follows.length > 0) await services.upkeep.leaveJobs(tx, follows, size)
      skipped = others.skipped
      return { position, done: false, counts: combineCounts(before.counts, counts, 1) }
    })
    this.skipped.add(skipped)
  }

  /** Runs `work` in a transaction that moves the checkpoint to the progress that it returns. */
  private async commit(
    work: (tx: Tx, before: Checkpoint<Counter>) => Promise<Progress<Counter>>,
  ): Promise<void> {
    const { services, checkpoints } = this.parts
    const before = this.checkpoint
    this.checkpoint = await services.transactions.run(async (tx) =>
      checkpoints.move(tx, before, await work(tx, before)),
    )
  }

  private result(): ImportResult<Counter, Findings> {
    const { plan, start } = this.parts
    const total = this.checkpoint.counts
    const written = combineCounts(total, start.counts, -1)
    return { written, total, skipped: this.skipped.first, ...plan.source.findings }
  }

  private progress(): ImportProgress {
    const { source, progressCounter } = this.parts.plan
    const { bytesRead: done, sizeBytes: total } = source.file
    return { done, total, written: this.result().written[progressCounter] }
  }
}

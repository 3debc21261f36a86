import type { Tx } from '../db/transaction.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import type { TextFile } from './text-file.ts'

/** The edges and posts that a batch has written. */
export interface Written {
  readonly follows: readonly { readonly follower: UserId; readonly followee: UserId }[]
  readonly posts: readonly PostRef[]
}

/**
 * How stored timelines receive what an import writes. SMALL: one job per edge and post.
 * LARGE: a rebuild of all timelines after the import ended or stopped.
 */
export type ImportSize = 'SMALL' | 'LARGE'

/** Keeps stored timelines correct: imports write edges and posts without the services that deliver them. */
export interface TimelineUpkeep {
  /**
   * Adds, in the transaction of a batch, the jobs that bring stored timelines up to date.
   * Three commands if no strategy is registered, otherwise four for a small import and up to ten for a large one.
   */
  leaveJobs(tx: Tx, written: Written, size: ImportSize): Promise<void>
  /**
   * Starts the rebuilds of large imports now. Otherwise they start a minute after the last batch, even if the
   * importing process was killed. One command.
   */
  beginRebuilds(): Promise<void>
}

/**
 * The most edges or posts of a small import. Their jobs take about 2 ms each, in total as long as a rebuild of
 * a few thousand timelines. During that time no page falls back to FANOUT_ON_READ.
 */
export const smallImportMax = 10_000

/** Estimates the size of an import from the first lines of its file. Each line counts as `edgesPerLine` edges. */
export async function sizeOf(file: TextFile, edgesPerLine = 1): Promise<ImportSize> {
  for await (const { line } of file.lines()) {
    if (line * edgesPerLine > smallImportMax) return 'LARGE'
  }
  return 'SMALL'
}

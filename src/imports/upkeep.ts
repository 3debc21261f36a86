import type { Tx } from '../db/transaction.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import type { TextFile } from './text-file.ts'

/** What a batch of an import has written. */
export interface Written {
  readonly follows: readonly { readonly follower: UserId; readonly followee: UserId }[]
  readonly posts: readonly PostRef[]
}

/**
 * How stored timelines come to hold what an import writes: by a job for each edge and post, or by a rebuild of all
 * timelines once the import has ended or stopped.
 */
export type ImportSize = 'SMALL' | 'LARGE'

/** Keeps stored timelines right beside imports, which write edges and posts past the services. */
export interface TimelineUpkeep {
  /**
   * Leaves, in the transaction of a batch, the jobs by which stored timelines come to hold what the batch writes.
   * Two commands where no strategy is registered, else three for a small import and five for a large one.
   */
  leaveJobs(tx: Tx, written: Written, size: ImportSize): Promise<void>
  /**
   * Has the rebuilds of large imports begin now: without it they begin a minute after the last batch, so also where
   * the importing process was killed. One command.
   */
  beginRebuilds(): Promise<void>
}

/**
 * Edges or posts of an import that has a job for each. A job takes some 2 ms of a worker, so all of them as long as a
 * rebuild of a few thousand timelines does, during which no page needs to come from FANOUT_ON_READ.
 */
export const smallImportMax = 10_000

/** How large an import of a file is, by its first lines: each is taken for an edge. */
export async function sizeOf(file: TextFile, edgesPerLine = 1): Promise<ImportSize> {
  let lines = 0
  for await (const _ of file.lines()) {
    if (++lines * edgesPerLine > smallImportMax) return 'LARGE'
  }
  return 'SMALL'
}

import type { IntegrityServices, Invariant } from './invariant.ts'
import { accounts } from './invariants/accounts.ts'
import { blockMirrors } from './invariants/block-mirrors.ts'
import { byUserEntries } from './invariants/by-user-entries.ts'
import { celebrityMarks } from './invariants/celebrity-marks.ts'
import { crossedBlocks } from './invariants/crossed-blocks.ts'
import { edgeHistory } from './invariants/edge-history.ts'
import { listRepeats } from './invariants/list-repeats.ts'
import { orphanedEngagement } from './invariants/orphaned-engagement.ts'
import { parkedJobs } from './invariants/parked-jobs.ts'
import { postLists } from './invariants/post-lists.ts'
import { strayByUserEntries } from './invariants/stray-by-user-entries.ts'
import { unfinishedStrategies } from './invariants/unfinished-strategies.ts'
import type { Tally } from './runs.ts'
import type { ScannedPosts, ScannedUsers } from './snapshot-scan.ts'

/** An invariant, and the number of a run that counts its repairs. */
export interface Listed<Range> {
  readonly create: (services: IntegrityServices) => Invariant<Range>
  readonly counted: keyof Pick<Tally, 'edges' | 'accounts' | 'others'>
}

/** The invariants about users that read more than their counters. The range is a condition on a handle. */
export const userInvariants: readonly Listed<object>[] = [
  { create: edgeHistory, counted: 'edges' },
  { create: crossedBlocks, counted: 'edges' },
  { create: blockMirrors, counted: 'others' },
  { create: strayByUserEntries, counted: 'others' },
]

/** The invariants about users whose suspects the count of their edges and posts finds. */
export const countedUserInvariants: readonly Listed<ScannedUsers>[] = [
  { create: accounts, counted: 'accounts' },
]

/** The invariants about posts that read more than their lists. The range is a condition on an id. */
export const postInvariants: readonly Listed<object>[] = [
  { create: byUserEntries, counted: 'others' },
]

/** The invariants about posts whose suspects the count of their lists finds. */
export const countedPostInvariants: readonly Listed<ScannedPosts>[] = [
  { create: listRepeats, counted: 'others' },
  { create: orphanedEngagement, counted: 'others' },
  { create: postLists, counted: 'others' },
]

/** The invariants about the whole database, which read few documents. */
export const databaseInvariants: readonly Listed<object>[] = [
  { create: unfinishedStrategies, counted: 'others' },
  { create: celebrityMarks, counted: 'others' },
  { create: parkedJobs, counted: 'others' },
]

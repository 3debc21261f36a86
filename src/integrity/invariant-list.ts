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

interface InvariantLists {
  /** About users, beyond the count of their edges and posts. The range is a condition on a handle. */
  readonly users: readonly Listed<object>[]
  /** About users whose suspects that count finds. */
  readonly countedUsers: readonly Listed<ScannedUsers>[]
  /** About posts, beyond the count of their lists. The range is a condition on an id. */
  readonly posts: readonly Listed<object>[]
  /** About posts whose suspects that count finds. */
  readonly countedPosts: readonly Listed<ScannedPosts>[]
  /** About the whole database, of which they read few documents. */
  readonly database: readonly Listed<object>[]
}

/** The invariants that `verify` and `reconcile` check, in the order of the repairs. */
export const invariants: InvariantLists = {
  users: [
    { create: edgeHistory, counted: 'edges' },
    { create: crossedBlocks, counted: 'edges' },
    { create: blockMirrors, counted: 'others' },
    { create: strayByUserEntries, counted: 'others' },
  ],
  countedUsers: [{ create: accounts, counted: 'accounts' }],
  posts: [{ create: byUserEntries, counted: 'others' }],
  countedPosts: [
    { create: listRepeats, counted: 'others' },
    { create: orphanedEngagement, counted: 'others' },
    { create: postLists, counted: 'others' },
  ],
  database: [
    { create: unfinishedStrategies, counted: 'others' },
    { create: celebrityMarks, counted: 'others' },
    { create: parkedJobs, counted: 'others' },
  ],
}

import type { Collection } from '../db/mongo.ts'
import { lowestId } from '../db/object-id.ts'
import { batches } from '../lib/batch.ts'
import { inspect } from './inspect.ts'
import type { IntegrityServices, Invariant, Run } from './invariant.ts'
import { accounts } from './invariants/accounts.ts'
import { celebrityMarks } from './invariants/celebrity-marks.ts'
import { documentShapes, forgetRepaired } from './invariants/document-shapes.ts'
import { edgeSides, edges } from './invariants/edges.ts'
import { listEntries } from './invariants/list-entries.ts'
import { parkedJobs } from './invariants/parked-jobs.ts'
import { postLists } from './invariants/post-lists.ts'
import { checkTimelines, type Readers } from './invariants/timelines.ts'
import { unfinishedStrategies } from './invariants/unfinished-strategies.ts'
import { idRanges } from './ranges.ts'
import { Report } from './report.ts'

/** The options of a run. */
export interface RunOptions {
  /** The readers whose timelines are compared with FANOUT_ON_READ. */
  readonly readers: Readers
  /** Ends the run between two steps, or during a scan by the server. */
  readonly signal?: AbortSignal | undefined
}

/** The conditions that cut the documents of a step into ranges. */
type Cut = (run: Run) => AsyncIterable<object> | Iterable<object>

const [edgesAtOnce, accountsAtOnce, postsAtOnce, rangesAtOnce] = [20_000, 500, 1_000, 2]
const once: Cut = () => [{}]
const byEdge: Cut = ({ edges: { followers } }) =>
  idRanges(followers.collection as unknown as Collection, edgesAtOnce, lowestId)
const byUser: Cut = ({ collections }) =>
  idRanges(collections.users as unknown as Collection, accountsAtOnce, '')
const byPost: Cut = ({ collections }) =>
  idRanges(collections.posts as unknown as Collection, postsAtOnce, lowestId)

/**
 * The invariants that each run checks, in the order of the repairs: counters are counted when nothing that they count
 * is repaired any more.
 */
const steps: readonly { readonly create: (run: Run) => Invariant<object>; readonly cut: Cut }[] = [
  { create: documentShapes, cut: once },
  { create: edgeSides, cut: byEdge },
  { create: edges, cut: byUser },
  { create: accounts, cut: byUser },
  { create: listEntries, cut: byPost },
  { create: postLists, cut: byPost },
  { create: unfinishedStrategies, cut: once },
  { create: celebrityMarks, cut: once },
  { create: parkedJobs, cut: once },
]

/**
 * Checks all invariants of a database, which may be in use, and writes nothing. Its memory is bounded. Reads every
 * edge, event, post and entry, and reads suspects again on one snapshot.
 * @param report updated during the run.
 * @throws {DomainError} UNAVAILABLE
 */
export const verify = (
  services: IntegrityServices,
  options: RunOptions,
  report = new Report(),
): Promise<Report> => check({ ...services, ...options, report, repair: false })

/**
 * As {@link verify}, and repairs every repairable violation. May be killed, repeated and run by several processes at
 * the same time: each repair checks again in its transaction, and no difference is added twice (law L3).
 */
export const reconcile = (
  services: IntegrityServices,
  options: RunOptions,
  report = new Report(),
): Promise<Report> => check({ ...services, ...options, report, repair: true })

async function check(options: Omit<Run, 'malformed'> & RunOptions): Promise<Report> {
  const run: Run & RunOptions = { ...options, malformed: new Set() }
  for (const { create, cut } of steps) {
    for await (const ranges of batches(cut(run), rangesAtOnce)) {
      run.signal?.throwIfAborted()
      await Promise.all(ranges.map((range) => inspect(run, create(run), range)))
    }
    if (run.repair && create === documentShapes) await forgetRepaired(run)
  }
  await checkTimelines(run, run.readers)
  return run.report
}

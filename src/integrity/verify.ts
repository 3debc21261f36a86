import { lowestId } from '../db/object-id.ts'
import { failureOf, inspect } from './inspect.ts'
import type { Finding, IntegrityServices, Invariant, InvariantId } from './invariant.ts'
import { invariants, type Listed } from './invariant-list.ts'
import { documentShapes, servicesOfRun } from './invariants/document-shapes.ts'
import { edgeSides } from './invariants/edge-sides.ts'
import { postCounters, postFindings } from './invariants/post-counters.ts'
import { userCountersId, userFindings } from './invariants/user-counters.ts'
import { edgeSegments, postSegments, userRanges } from './ranges.ts'
import { SnapshotScan } from './snapshot-scan.ts'
import { checkTimelines, type Readers } from './timeline-checks.ts'

/** The options of a run. */
export interface VerifyOptions {
  readonly readers: Readers
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}

/** The current part of a run, and its progress. */
export interface VerifyProgress {
  readonly part: 'users' | 'edges' | 'posts' | 'readers'
  readonly done: number
  /** An estimate. */
  readonly total: number
}

/** The numbers of a run so far. */
export class Tally {
  readonly checked = { users: 0, edges: 0, posts: 0, engagements: 0, readers: 0, timelines: 0 }
  /** Violations that a waiting job repairs. */
  inFlight = 0
}

/**
 * Checks all invariants of a database, which may be in use, and writes nothing. Its memory is bounded. Reads every
 * edge, event, post and entry once, and reads suspects again on one snapshot.
 * @param tally updated during the run.
 * @throws {DomainError} UNAVAILABLE
 */
export async function* verify(
  given: IntegrityServices,
  { readers, onProgress }: VerifyOptions,
  tally: Tally,
): AsyncGenerator<Finding> {
  const services = servicesOfRun(given, 'all')
  const { collections, edges, transactions } = services
  const { users, posts, user_stats } = collections
  const { checked } = tally
  const scan = new SnapshotScan(services)
  const progress = (part: VerifyProgress['part'], total: number) => (done: number) =>
    onProgress?.({ part, done, total: Math.max(total, done) })
  async function* check<Range, Suspect>(invariant: Invariant<Range, Suspect>, range: Range) {
    for await (const one of inspect({ transactions, repair: false }, invariant, range)) {
      tally.inFlight += one.inFlight
      yield* one.violations.map(({ finding }) => finding)
    }
  }

  async function* checkAll<Range>(list: readonly Listed<Range>[], range: Range) {
    for (const { create } of list) yield* check(create(services), range)
  }

  yield* check(documentShapes(services), 'all')

  const usersDone = progress('users', await users.estimatedDocumentCount())
  for await (const { handles } of userRanges(users, 'all')) {
    yield* guarded(userCountersId, async function* () {
      const scanned = await scan.countUsers(handles)
      yield* scanned.differences.flatMap(userFindings)
      yield* checkAll(invariants.countedUsers, scanned)
      checked.users += scanned.checked
      checked.edges += scanned.edges
    })
    yield* checkAll(invariants.users, handles)
    usersDone(checked.users)
  }

  const edgesDone = progress('edges', await edges.followers.collection.estimatedDocumentCount())
  let read = 0
  for await (const { ids } of edgeSegments(edges, lowestId)) {
    yield* check(
      edgeSides(services, (documents) => {
        read += documents / 2
      }),
      ids,
    )
    edgesDone(Math.round(read))
  }

  const postsDone = progress('posts', await posts.estimatedDocumentCount())
  for await (const { filter, ids } of postSegments(posts, {}, lowestId)) {
    yield* guarded(postCounters, async function* () {
      const scanned = await scan.countPosts(filter, ids)
      yield* scanned.differences.flatMap(postFindings)
      yield* checkAll(invariants.countedPosts, scanned)
      checked.posts += scanned.checked
      checked.engagements += scanned.lists.size
    })
    yield* checkAll(invariants.posts, ids)
    postsDone(checked.posts)
  }

  const all = await user_stats.estimatedDocumentCount()
  const readersDone = progress(
    'readers',
    typeof readers === 'number' ? Math.min(all, readers) : all,
  )
  for await (const one of checkTimelines(services, { readers, repair: false })) {
    yield* one.findings
    tally.inFlight += one.inFlight
    checked.readers += one.readers
    checked.timelines += one.timelines
    readersDone(checked.readers)
  }
  yield* checkAll(invariants.database, {})
}

/** Yields the findings of a part. If it fails on the stored data, that is a finding too. */
async function* guarded(
  id: InvariantId,
  part: () => AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    yield* part()
  } catch (error) {
    yield failureOf(id, error)
  }
}

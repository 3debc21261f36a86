import { createHash } from 'node:crypto'
import { lowestId, toObjectId } from '../db/object-id.ts'
import { batches, chunks } from '../lib/batch.ts'
import type { EdgeId, PostId } from '../lib/ids.ts'
import { failureOf, inspect } from './inspect.ts'
import type { Finding, IntegrityServices, InvariantId, Violation } from './invariant.ts'
import { invariants, type Listed } from './invariant-list.ts'
import { documentShapes, servicesOfRun } from './invariants/document-shapes.ts'
import { edgeHistory } from './invariants/edge-history.ts'
import { edgeSides, edgesOf } from './invariants/edge-sides.ts'
import { postCounters } from './invariants/post-counters.ts'
import { userCountersId } from './invariants/user-counters.ts'
import { Ledger } from './ledger.ts'
import { edgeSegments, postSegments, userRanges } from './ranges.ts'
import { type Drifted, Report } from './report.ts'
import { emptyTally, type HeldRun, type Position, Runs, type Tally } from './runs.ts'
import { type Scanned, SnapshotScan } from './snapshot-scan.ts'
import { Throttle } from './throttle.ts'
import { checkTimelines, type Readers } from './timeline-checks.ts'

/** The options of a run. */
export interface ReconcileOptions {
  /** The users whose data is reconciled, with their posts. `all`: also strategies and jobs. */
  readonly users: 'all' | readonly string[]
  /** The readers whose timelines are compared with FANOUT_ON_READ. */
  readonly readers: Readers
  /** Changes nothing, and reports the repairs of a run. */
  readonly dryRun: boolean
  /** The most documents and index keys that are read per second. Undefined: no limit. */
  readonly perSecond?: number | undefined
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined
  /** Ends the run between two commands, or during a scan by the server. A later run with the same options resumes. */
  readonly signal?: AbortSignal | undefined
}

export interface ReconcileProgress {
  readonly part: Position['part']
  readonly done: number
  /** An estimate. */
  readonly total: number
}

/** The result of a run. */
export interface Reconciled {
  /** The id of the run. Undefined for a dry run, which stores no record. */
  readonly run: string | undefined
  readonly tally: Tally
  /** The users and posts with the largest differences: at most 100. */
  readonly largest: readonly Drifted[]
  /** The unrepairable findings: the first 100 of this process. */
  readonly reported: readonly Finding[]
}

const [rangesAtOnce, usersAtOnce, repairsAtOnce] = [2, 500, 32]
/** The most counts of a difference whose user or post another repair changes. */
const scansMax = 3

/**
 * Repairs every repairable violation while the database is in use, one range at a time. The history decides if the two
 * edge collections disagree. Counters are compared with their documents on one snapshot. Each difference is added in a
 * transaction that records it (law L3). Posts, timelines and jobs follow.
 * @throws {DomainError} CONFLICT if another process takes over the run; UNAVAILABLE.
 */
export async function reconcile(
  given: IntegrityServices,
  options: ReconcileOptions,
): Promise<Reconciled> {
  const services = servicesOfRun(given, options.users, options.signal)
  const { users, readers, dryRun } = options
  const runs = new Runs(services.collections.reconciliations)
  const list = (some: Readers) => (typeof some === 'object' ? [...some].sort().join() : `${some}`)
  const asked = hashOf(`${list(users)} ${list(readers)}`)
  const run = dryRun ? undefined : await runs.open(asked, services.now())
  const work = new Reconciliation({ services, options, held: run, runs })
  try {
    return await work.run()
  } catch (error) {
    if (run) await runs.release(run)
    throw error
  }
}

interface ReconciliationParts {
  readonly services: IntegrityServices
  readonly options: ReconcileOptions
  /** Undefined: a dry run. */
  readonly held: HeldRun | undefined
  readonly runs: Runs
}

class Reconciliation {
  private readonly ledger: Ledger
  private readonly throttle: Throttle
  private readonly scan: SnapshotScan
  private readonly report = new Report()
  private position: Position

  constructor(private readonly parts: ReconciliationParts) {
    const { services, options, held } = parts
    const { collections, transactions } = services
    this.ledger = new Ledger(collections, transactions, services.now)
    this.throttle = new Throttle(options.perSecond)
    this.scan = new SnapshotScan(services, () => this.count({ renewed: 1 }))
    this.position = held ?? { part: 'edges', after: '', tally: emptyTally }
  }

  async run(): Promise<Reconciled> {
    const { services, options, held } = this.parts
    if (this.position.part === 'edges') await this.reconcileEdges()
    if (this.position.part === 'users') await this.reconcileUsers()
    if (this.position.part === 'posts') await this.reconcilePosts()
    await this.reconcileTimelines()
    if (options.users === 'all') {
      for (const one of invariants.database) await this.check(one, {})
    }
    await this.save({ part: 'timelines', after: this.position.after }, true)
    const largest = await this.report.largest(services.collections.repairs, held?.id)
    return { run: held?.id, tally: this.position.tally, largest, reported: this.report.reported }
  }

  private async reconcileEdges(): Promise<void> {
    const { services, options } = this.parts
    const { followers } = services.edges
    if (this.position.after === '') {
      await this.check({ create: documentShapes, counted: 'others' }, options.users)
    }
    if (options.users === 'all') {
      const total = await followers.collection.estimatedDocumentCount()
      const from = this.position.after === '' ? lowestId : toObjectId(this.position.after as EdgeId)
      let done = 0
      for await (const some of batches(edgeSegments(services.edges, from), rangesAtOnce)) {
        const before = this.position.tally.documents
        const onRead = (documents: number) => this.count({ documents })
        const create = () => edgeSides(services, onRead)
        await Promise.all(some.map(({ ids }) => this.check({ create, counted: 'edges' }, ids)))
        const read = this.position.tally.documents - before
        await this.throttle.spend(read, options.signal)
        await this.save({ part: 'edges', after: some.at(-1)?.upTo.toHexString() ?? '' })
        done = Math.min(total, done + read / 2)
        options.onProgress?.({ part: 'edges', done, total })
      }
    }
    await this.save({ part: 'users', after: '' })
  }

  private async reconcileUsers(): Promise<void> {
    const { users } = this.parts.services.collections
    const listed = this.parts.options.users
    const total = listed === 'all' ? await users.estimatedDocumentCount() : listed.length
    const ranges = userRanges(users, listed, this.position.after)
    for await (const some of batches(ranges, rangesAtOnce)) {
      await Promise.all(some.map(({ handles }) => this.repairUsers(handles)))
      await this.save({ part: 'users', after: some.at(-1)?.upTo ?? this.position.after })
      this.parts.options.onProgress?.({ part: 'users', done: this.position.tally.users, total })
    }
    await this.save({ part: 'posts', after: '' })
  }

  private async repairUsers(handles: object): Promise<void> {
    const touched = new Set<string>()
    const { options } = this.parts
    for (const { create, counted } of invariants.users) {
      // Both collections of all edges were compared before. Those of some users are compared here, with the history.
      const isHistory = create === edgeHistory && options.users !== 'all'
      await this.check({ create: isHistory ? edgesOf : create, counted }, handles, touched)
    }
    await this.guarded(userCountersId, () => this.repairUserCounters(handles, touched))
  }

  private async repairUserCounters(handles: object, touched: ReadonlySet<string>): Promise<void> {
    let scanned = await this.scan.countUsers(handles)
    this.count({ users: scanned.checked })
    for (const one of invariants.countedUsers) {
      if ((await this.check(one, scanned)) > 0) scanned = await this.scan.countUsers(handles)
    }
    await this.repairCounters(scanned, (ids) => this.scan.countUsersOnce({ $in: ids }))
    await this.throttle.spend(scanned.documents, this.parts.options.signal)
    // An earlier range may have counted the other end of a repaired edge.
    for (const ids of chunks([...touched], usersAtOnce)) {
      const others = await this.scan.countUsersOnce({ $in: ids })
      await this.repairCounters(others, (some) => this.scan.countUsersOnce({ $in: some }))
    }
  }

  private async reconcilePosts(): Promise<void> {
    const { users } = this.parts.options
    const total = await this.parts.services.collections.posts.estimatedDocumentCount()
    const authors = users === 'all' ? [] : [...new Set(users)].sort()
    if (users === 'all') await this.repairPosts({}, this.position.after, total)
    for (const author of authors) await this.repairPosts({ author }, '', total)
    await this.save({ part: 'timelines', after: '' })
  }

  private async repairPosts(which: { author?: string }, from: string, total: number) {
    const { services, options } = this.parts
    const { posts } = services.collections
    const after = from === '' ? lowestId : toObjectId(from as PostId)
    for await (const { filter, ids, upTo } of postSegments(posts, which, after)) {
      for (const one of invariants.posts) await this.check(one, ids)
      await this.guarded(postCounters, async () => {
        let scanned = await this.scan.countPosts(filter, ids)
        for (const one of invariants.countedPosts) {
          if ((await this.check(one, scanned)) > 0)
            scanned = await this.scan.countPosts(filter, ids)
        }
        this.count({ posts: scanned.checked })
        await this.repairCounters(scanned, (some) => {
          const those = { $in: some.map((id) => toObjectId(id as PostId)) }
          return this.scan.countPosts({ ...which, _id: those }, those)
        })
        await this.throttle.spend(scanned.documents, options.signal)
      })
      await this.save({ part: 'posts', after: upTo.toHexString() })
      options.onProgress?.({ part: 'posts', done: this.position.tally.posts, total })
    }
  }

  private async reconcileTimelines(): Promise<void> {
    const { services, options, held } = this.parts
    const { readers } = options
    const all = await services.collections.user_stats.estimatedDocumentCount()
    const total = typeof readers === 'number' ? readers : all
    let done = 0
    const which = { readers, repair: held !== undefined, after: this.position.after }
    for await (const one of checkTimelines(services, which)) {
      const left = one.left.filter(({ unrepairable }) => unrepairable === undefined)
      for (const finding of one.left) if (finding.unrepairable) this.reportOne(finding)
      const others = one.findings.length - one.left.length
      this.count({ others, remaining: left.length, documents: one.entries })
      await this.throttle.spend(one.entries, options.signal)
      done += one.readers
      if (typeof readers !== 'number') await this.save({ part: 'timelines', after: one.upTo })
      options.onProgress?.({ part: 'timelines', done, total: Math.max(done, total) })
    }
  }

  /** Checks one invariant and repairs its violations. @returns the number of repaired violations. */
  private async check<Range>(
    { create, counted }: Listed<Range>,
    range: Range,
    touched?: Set<string>,
  ): Promise<number> {
    const { services, held, options } = this.parts
    const invariant = create(services)
    const inspection = {
      transactions: services.transactions,
      repair: held !== undefined,
      onRetry: () => this.count({ renewed: 1 }),
    }
    let repaired = 0
    options.signal?.throwIfAborted()
    for await (const outcome of inspect(inspection, invariant, range)) {
      options.signal?.throwIfAborted()
      const subjects = new Set<string>()
      const isReported = ({ finding }: Violation) => finding.unrepairable !== undefined
      for (const { finding } of outcome.violations.filter(isReported)) this.reportOne(finding)
      const done = held ? outcome.repaired : outcome.violations.filter((one) => !isReported(one))
      for (const { finding, touched: ends = [] } of done) {
        for (const handle of ends) touched?.add(handle)
        if (!subjects.has(finding.subject)) this.report.addEdge(ends)
        subjects.add(finding.subject)
      }
      this.count({ [counted]: subjects.size, remaining: outcome.remaining })
      repaired += outcome.repaired.length
    }
    return repaired
  }

  private reportOne(finding: Finding): void {
    this.count({ reported: 1 })
    this.report.addUnrepairable(finding)
  }

  /** Does a part of the run. If it fails on the stored data, reports that, so that the next part begins. */
  private async guarded(id: InvariantId, part: () => Promise<void>): Promise<void> {
    try {
      await part()
    } catch (error) {
      this.parts.options.signal?.throwIfAborted()
      this.reportOne(failureOf(id, error))
    }
  }

  /** Applies differences, and counts again until the counters of their users and posts are right. */
  private async repairCounters(
    first: Scanned,
    scan: (ids: readonly string[]) => Promise<Scanned>,
  ): Promise<void> {
    const { held } = this.parts
    this.count({ documents: first.documents, drifted: first.differences.length })
    for (const one of first.differences) this.report.addDifference(one)
    if (!held) return
    let drifted = first.differences
    for (let scans = 0; drifted.length > 0 && scans < scansMax; scans++) {
      for (const some of chunks(drifted, repairsAtOnce)) {
        await this.ledger.apply(held.id, some, this.report.edgesRepairedOf)
      }
      drifted = (await scan(drifted.map(({ id }) => id))).differences
    }
    this.count({ repaired: first.differences.length - drifted.length, remaining: drifted.length })
  }

  private async save(to: Omit<Position, 'tally'>, done = false): Promise<void> {
    const { options, held, runs } = this.parts
    options.signal?.throwIfAborted()
    this.position = { ...to, tally: this.position.tally }
    if (held) await runs.save(held, this.position, done)
  }

  private count(more: Partial<Tally>): void {
    const tally: Record<string, number> = { ...this.position.tally }
    for (const [name, count] of Object.entries(more)) tally[name] = (tally[name] ?? 0) + count
    this.position = { ...this.position, tally: tally as unknown as Tally }
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

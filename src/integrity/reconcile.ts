import { createHash } from 'node:crypto'
import { lowestId, toObjectId } from '../db/object-id.ts'
import { batches, chunks } from '../lib/batch.ts'
import type { EdgeId, PostId } from '../lib/ids.ts'
import { inspect } from './inspect.ts'
import type { Finding, IntegrityServices, Invariant } from './invariant.ts'
import { accounts } from './invariants/accounts.ts'
import { blockMirrors } from './invariants/block-mirrors.ts'
import { celebrityMarks } from './invariants/celebrity-marks.ts'
import { crossedBlocks } from './invariants/crossed-blocks.ts'
import { edgeHistory } from './invariants/edge-history.ts'
import { edgeSides, edgesOf } from './invariants/edge-sides.ts'
import { engagementLog } from './invariants/engagement-log.ts'
import { engagementRows } from './invariants/engagement-rows.ts'
import { listRepeats } from './invariants/list-repeats.ts'
import { orphanedEngagement } from './invariants/orphaned-engagement.ts'
import { parkedJobs } from './invariants/parked-jobs.ts'
import { postLists, suspectPosts } from './invariants/post-lists.ts'
import { unfinishedStrategies } from './invariants/unfinished-strategies.ts'
import { Ledger } from './ledger.ts'
import { edgeStretches, postStretches, userRanges } from './ranges.ts'
import { type Drifted, Report } from './report.ts'
import { type HeldRun, nothing, type Position, Runs, type Tally } from './runs.ts'
import { type Scanned, SnapshotScan } from './snapshot-scan.ts'
import { Throttle } from './throttle.ts'
import { checkTimelines, type Readers } from './timeline-checks.ts'

/** How a run is made. */
export interface ReconcileOptions {
  /** The users whose data is reconciled, posts included. All: strategies and jobs too. */
  readonly users: 'all' | readonly string[]
  /** Whose timelines are compared with FANOUT_ON_READ. */
  readonly readers: Readers
  /** Changes nothing, and reports what a run would repair. */
  readonly dryRun: boolean
  /** Documents and index keys that are counted a second at most. Undefined: no limit. */
  readonly perSecond?: number | undefined
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined
  /** Ends the run between two steps. A later run with the same options goes on from there. */
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
  /** Undefined for a dry run, which keeps no record. */
  readonly run: string | undefined
  readonly tally: Tally
  /** Users and posts whose counters were off the most: at most 100. */
  readonly worst: readonly Drifted[]
  /** Findings that no run can repair: the first 100 of this process. */
  readonly reported: readonly Finding[]
}

const [rangesAtOnce, usersAtOnce, repairsAtOnce] = [2, 500, 32]
/** How often a difference is counted again because another repair changed its user or post. */
const scansMax = 3

/**
 * Repairs every violation that can be repaired, while the database is in use. Edges are repaired from the history
 * where their collections disagree; then counters and what they count are read on one snapshot, and each difference is
 * added in a transaction that records it (law L3). Posts follow, then timelines and jobs. Holds one range at a time.
 * @throws {DomainError} CONFLICT when another process takes the run over; UNAVAILABLE.
 */
export async function reconcile(
  services: IntegrityServices,
  options: ReconcileOptions,
): Promise<Reconciled> {
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
  private at: Position

  constructor(private readonly parts: ReconciliationParts) {
    const { services, options, held } = parts
    const { collections, transactions } = services
    this.ledger = new Ledger(collections, transactions, services.now)
    this.throttle = new Throttle(options.perSecond)
    this.scan = new SnapshotScan(services, () => this.add({ renewed: 1 }))
    this.at = held ?? { part: 'edges', after: '', tally: nothing }
  }

  async run(): Promise<Reconciled> {
    const { services, options, held } = this.parts
    if (this.at.part === 'edges') await this.allEdges()
    if (this.at.part === 'users') await this.allUsers()
    if (this.at.part === 'posts') await this.allPosts()
    await this.timelines()
    for (const invariant of [unfinishedStrategies, celebrityMarks, parkedJobs]) {
      if (options.users !== 'all') break
      await this.check<object, unknown>(invariant(services), {}, 'others')
    }
    await this.keep({ part: 'timelines', after: this.at.after }, true)
    const worst = await this.report.worst(services.collections.repairs, held?.id)
    return { run: held?.id, tally: this.at.tally, worst, reported: this.report.reported }
  }

  private async allEdges(): Promise<void> {
    const { services, options } = this.parts
    const { followers } = services.edges
    if (options.users === 'all') {
      const total = await followers.collection.estimatedDocumentCount()
      const from = this.at.after === '' ? lowestId : toObjectId(this.at.after as EdgeId)
      let done = 0
      for await (const some of batches(edgeStretches(services.edges, from), rangesAtOnce)) {
        const before = this.at.tally.documents
        const sides = edgeSides(services, (documents) => this.add({ documents }))
        await Promise.all(some.map(({ ids }) => this.check(sides, ids, 'mended')))
        const read = this.at.tally.documents - before
        await this.throttle.spend(read, options.signal)
        await this.keep({ part: 'edges', after: some.at(-1)?.upTo.toHexString() ?? '' })
        done = Math.min(total, done + read / 2)
        options.onProgress?.({ part: 'edges', done, total })
      }
    }
    await this.keep({ part: 'users', after: '' })
  }

  private async allUsers(): Promise<void> {
    const { users } = this.parts.services.collections
    const listed = this.parts.options.users
    const total = listed === 'all' ? await users.estimatedDocumentCount() : listed.length
    const ranges = userRanges(users, listed, this.at.after)
    for await (const some of batches(ranges, rangesAtOnce)) {
      await Promise.all(some.map(({ handles }) => this.users(handles)))
      await this.keep({ part: 'users', after: some.at(-1)?.upTo ?? this.at.after })
      this.parts.options.onProgress?.({ part: 'users', done: this.at.tally.users, total })
    }
    await this.keep({ part: 'posts', after: '' })
  }

  private async users(handles: object): Promise<void> {
    const { services, options } = this.parts
    const touched = new Set<string>()
    const pairs = [
      options.users === 'all' ? edgeHistory(services) : edgesOf(services),
      crossedBlocks(services),
    ]
    for (const invariant of pairs) await this.check(invariant, handles, 'mended', touched)
    await this.check(blockMirrors(services), handles, 'others')
    await this.check(engagementRows(services), handles, 'others')
    let scanned = await this.scan.usersWithin(handles)
    this.add({ users: scanned.checked })
    const changed = await this.check(accounts(services), scanned.suspects, 'accounts')
    if (changed > 0) scanned = await this.scan.usersWithin(handles)
    await this.repair(scanned, (ids) => this.scan.users({ $in: ids }))
    await this.throttle.spend(scanned.documents, options.signal)
    // The other end of a repaired edge may have been counted before.
    for (const ids of chunks([...touched], usersAtOnce)) {
      const others = await this.scan.users({ $in: ids })
      await this.repair(others, (some) => this.scan.users({ $in: some }))
    }
  }

  private async allPosts(): Promise<void> {
    const { users } = this.parts.options
    const total = await this.parts.services.collections.posts.estimatedDocumentCount()
    if (users === 'all') await this.posts({}, this.at.after, total)
    else for (const author of [...new Set(users)].sort()) await this.posts({ author }, '', total)
    await this.keep({ part: 'timelines', after: '' })
  }

  private async posts(which: { author?: string }, from: string, total: number): Promise<void> {
    const { services, options } = this.parts
    const { posts } = services.collections
    const after = from === '' ? lowestId : toObjectId(from as PostId)
    for await (const { filter, ids, upTo } of postStretches(posts, which, after)) {
      let changed = await this.check(engagementLog(services), ids, 'others')
      let scanned = await this.scan.posts(filter, ids)
      changed += await this.check(listRepeats(services), scanned.lists, 'others')
      if (changed > 0) scanned = await this.scan.posts(filter, ids)
      await this.check(orphanedEngagement(services), scanned.orphans, 'others')
      if ((await this.check(postLists(services), suspectPosts(scanned.lists), 'others')) > 0) {
        scanned = await this.scan.posts(filter, ids)
      }
      this.add({ posts: scanned.checked })
      await this.repair(scanned, (some) => {
        const those = { $in: some.map((id) => toObjectId(id as PostId)) }
        return this.scan.posts({ ...which, _id: those }, those)
      })
      await this.throttle.spend(scanned.documents, options.signal)
      await this.keep({ part: 'posts', after: upTo.toHexString() })
      options.onProgress?.({ part: 'posts', done: this.at.tally.posts, total })
    }
  }

  private async timelines(): Promise<void> {
    const { services, options, held } = this.parts
    const { readers } = options
    const all = await services.collections.user_stats.estimatedDocumentCount()
    const total = typeof readers === 'number' ? readers : all
    let done = 0
    const which = { readers, repair: held !== undefined, after: this.at.after }
    for await (const one of checkTimelines(services, which)) {
      this.add({ others: one.findings.length, documents: one.entries })
      await this.throttle.spend(one.entries, options.signal)
      done += one.readers
      if (typeof readers !== 'number') await this.keep({ part: 'timelines', after: one.upTo })
      options.onProgress?.({ part: 'timelines', done, total: Math.max(done, total) })
    }
  }

  /** Checks one invariant and repairs it. @returns how many violations were repaired, or would be. */
  private async check<Range, Suspect>(
    invariant: Invariant<Range, Suspect>,
    range: Range,
    name: 'mended' | 'accounts' | 'others',
    touched?: Set<string>,
  ): Promise<number> {
    const { services, held } = this.parts
    const inspection = {
      transactions: services.transactions,
      repair: held !== undefined,
      onRetry: () => this.add({ renewed: 1 }),
    }
    let repaired = 0
    for await (const outcome of inspect(inspection, invariant, range)) {
      const subjects = new Set<string>()
      for (const { finding, touched: ends = [] } of outcome.violations) {
        if (finding.unrepairable !== undefined) {
          this.add({ reported: 1 })
          this.report.addUnrepairable(finding)
          continue
        }
        for (const handle of ends) touched?.add(handle)
        if (!subjects.has(finding.subject)) this.report.addEdge(ends)
        subjects.add(finding.subject)
      }
      this.add({ [name]: subjects.size, remaining: outcome.busy })
      repaired += outcome.repaired.length
    }
    return repaired
  }

  /** Applies differences, and counts again until none of their users and posts is off. */
  private async repair(
    first: Scanned,
    scan: (ids: readonly string[]) => Promise<Scanned>,
  ): Promise<void> {
    const { held } = this.parts
    this.add({ documents: first.documents, off: first.differences.length })
    for (const one of first.differences) this.report.addDifference(one)
    if (!held) return
    let off = first.differences
    for (let scans = 0; off.length > 0 && scans < scansMax; scans++) {
      for (const some of chunks(off, repairsAtOnce)) {
        const applied = await this.ledger.apply(held.id, some, this.report.edgesRepairedOf)
        this.add({ repaired: applied.length })
      }
      off = (await scan(off.map(({ id }) => id))).differences
    }
    this.add({ remaining: off.length })
  }

  private async keep(to: Omit<Position, 'tally'>, done = false): Promise<void> {
    const { options, held, runs } = this.parts
    options.signal?.throwIfAborted()
    this.at = { ...to, tally: this.at.tally }
    if (held) await runs.save(held, this.at, done)
  }

  private add(more: Partial<Tally>): void {
    const tally: Record<string, number> = { ...this.at.tally }
    for (const [name, count] of Object.entries(more)) tally[name] = (tally[name] ?? 0) + count
    this.at = { ...this.at, tally: tally as unknown as Tally }
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

import type {
  ClusterState,
  StrategyDoc,
  TimelineSession,
  TimelineTx,
} from '../../db/collections.ts'
import { isDisconnected, isRefused, isSlow, isUnreachable } from '../../db/errors.ts'
import {
  type ClusterPrimary,
  TimelinesAway,
  type TimelinesCluster,
} from '../../db/timelines-cluster.ts'
import { Transactions, type Tx } from '../../db/transaction.ts'
import { DomainError } from '../../errors.ts'
import { within } from '../../lib/within.ts'
import { timelinesAvailable } from '../../metrics/timelines.ts'

/** How long pages do not try a cluster that did not answer in time, in milliseconds. */
const suspectMs = 3_000
/** How long a page waits for an answer of the cluster, in milliseconds. */
const answerMsMax = 1_500
/** The shortest and the longest pause of a job that the cluster failed, in milliseconds. */
const [pauseMsMin, pauseMsMax] = [500, 5_000]
/**
 * How long jobs wait for a cluster that answers, and does not get their commands done, in milliseconds. Then their tries
 * count. After two minutes without such a failure, this time begins again.
 */
const [slowMsMax, slowGapMs] = [600_000, 120_000]
/** How long after its last failure the cluster is taken for a failing one, in milliseconds. Longer than a pause. */
const calmMs = 10_000

/**
 * Where this process stores timelines: in the database, or on a cluster of their own (TIMELINES_URI). A registration
 * names the state of the cluster under which its timelines are complete. They are used only while the cluster is in this
 * state: it holds the mark, and its primary is that of the named election. So a cluster that is lost, restored, or led by
 * an outdated primary never serves a page (law L1).
 */
export class Placement {
  /** Called when the state of the cluster is in doubt. */
  onDoubt: () => void = () => {}
  /** Called with the first error after which jobs wait. */
  onFailure: (error: unknown) => void = () => {}
  /** The state that the database named, and the primary that was seen to have it. */
  private verified: { readonly state: ClusterState; readonly primary: ClusterPrimary } | undefined
  /** By the monotonic clock, in milliseconds. */
  private suspectUntil = 0
  /** When jobs began to wait, and when the last one did. By the monotonic clock, in milliseconds. */
  private failing = { since: -Infinity, last: -Infinity }
  /** The same for jobs that waited for a cluster that answers. */
  private slow = { since: -Infinity, last: -Infinity }
  /** When the cluster did not answer a job the last time. By the monotonic clock, in milliseconds. */
  private unanswered = -Infinity

  /** @param cluster undefined: the timelines are in the database. */
  constructor(
    readonly cluster: TimelinesCluster | undefined,
    private readonly transactions: Transactions,
  ) {}

  /** Whether timelines have a cluster of their own, so that no transaction covers them and other data. */
  get isSeparate(): boolean {
    return this.cluster !== undefined
  }

  /**
   * Checks that this process may use the timelines of a registration that it has just read. Sends no command.
   * @throws {TimelinesAway}
   */
  check({ cluster: state }: Pick<StrategyDoc, 'cluster'>): void {
    if (this.isNamed(state)) return
    if (!this.cluster)
      throw new TimelinesAway('the timelines are on a cluster of their own: set TIMELINES_URI')
    throw new TimelinesAway('the timelines cluster cannot be used now')
  }

  /** Whether a page may use the timelines of a registration. As {@link check}, and not while the cluster is slow. */
  isUsable({ cluster: state }: Pick<StrategyDoc, 'cluster'>): boolean {
    return performance.now() >= this.suspectUntil && this.isNamed(state)
  }

  /**
   * Whether the timelines of a registration were complete while a page read them. Called after the page has read the
   * registration again. One command, shared. None if timelines are in the database.
   * @throws {TimelinesAway} if the cluster does not answer within 1.5 s.
   */
  async isIntact({ cluster: state }: Pick<StrategyDoc, 'cluster'>): Promise<boolean> {
    if (!this.cluster) return state === undefined
    if (!this.isVerified(state)) return false
    const mark = await this.waitForAnswer(this.cluster.loadMark())
    if (mark?.value === state?.mark && this.isVerified(state)) return true
    this.forget()
    this.onDoubt()
    return false
  }

  /** Checks that the cluster is still in the state that the database named. Sends no command. @throws {TimelinesAway} */
  checkState(): void {
    if (this.cluster && !this.isVerified(this.verified?.state))
      throw new TimelinesAway('the timelines cluster has another primary')
  }

  /** Notes that the cluster is in the state that the database names. */
  verify(state: ClusterState, primary: ClusterPrimary): void {
    this.verified = { state, primary }
    timelinesAvailable.set(1)
  }

  /** The state of the cluster, for a new registration. Undefined if timelines are in the database. */
  currentState(): ClusterState | undefined {
    this.checkState()
    return this.verified?.state
  }

  /**
   * Waits for what a page reads from the cluster. After 1.5 s, pages use FANOUT_ON_READ for some seconds.
   * @throws {TimelinesAway} then.
   */
  async waitForAnswer<T>(work: Promise<T>): Promise<T> {
    return within(answerMsMax, work, () => {
      this.suspectUntil = performance.now() + suspectMs
      return new TimelinesAway('the timelines cluster did not answer in time')
    })
  }

  /**
   * Whether a page or a job failed because of the timelines cluster: it did not answer, or a part of it did not, or it
   * did not get a write done in time. A command that it refused is such a failure if it has lost its data, as an index
   * that is gone. Then one command, otherwise none. An error of the database is none.
   * @param before the state of the cluster when the work began.
   */
  async isOutage(error: unknown, before: ClusterState | undefined): Promise<boolean> {
    if (error instanceof TimelinesAway) return true
    if (!this.cluster) return false
    if (this.cluster.failures.has(error) && mayPass(error)) return true
    if (!isRefused(error)) return false
    return !(await this.isIntact({ cluster: before }).catch(() => false))
  }

  /** The state in which this process uses the cluster. Undefined while it cannot use it, and without a cluster. */
  get state(): ClusterState | undefined {
    return this.isAway ? undefined : this.verified?.state
  }

  /** Whether the timelines cluster cannot be used now. */
  get isAway(): boolean {
    return this.isSeparate && !this.isVerified(this.verified?.state)
  }

  /** Whether the cluster cannot be used now, or did not answer a job, in whole or in part, within the last 10 s. */
  get isFailing(): boolean {
    return this.isAway || performance.now() - this.unanswered < calmMs
  }

  /**
   * How long a job waits that the cluster failed, in milliseconds. Rises while jobs fail within 10 s of each other.
   * @returns undefined if the try counts: for 10 minutes, the cluster has answered that commands took too long or
   *   collided. Such a job may never succeed, and is parked in the end. On a sharded cluster no try counts, because a
   *   router answers the same for a shard that is down.
   */
  pauseAfter(error: unknown): number | undefined {
    const now = performance.now()
    const isRouter = this.cluster?.primary?.election === 'sharded'
    if (isSlow(error) && !isRouter && !this.isAway) {
      if (now - this.slow.last > slowGapMs) this.slow.since = now
      this.slow.last = now
      if (isDisconnected(error instanceof DomainError ? error.cause : error)) this.unanswered = now
      if (now - this.slow.since >= slowMsMax) return undefined
    } else {
      this.unanswered = now
      this.slow.last = -Infinity
    }
    if (!this.hasFailed) {
      this.failing.since = now
      this.onFailure(error)
    }
    this.failing.last = now
    return Math.min(pauseMsMax, Math.max(pauseMsMin, (now - this.failing.since) / 2))
  }

  /** The transaction of the database as that of its timelines. @throws {Error} if timelines have a cluster of their own. */
  join({ session }: Tx): TimelineTx {
    if (this.cluster)
      throw new Error('a transaction of the database cannot write to the timelines cluster')
    return { session: session as TimelineSession }
  }

  /** Runs a transaction where the timelines are stored. */
  async runTransaction<T>(work: (tx: TimelineTx) => Promise<T>): Promise<T> {
    if (this.isSeparate) return this.runOnCluster(work)
    return this.transactions.run((tx) => work(this.join(tx)))
  }

  /** Runs a transaction of the cluster. `work` may also read the database. */
  async runOnCluster<T>(work: (tx: TimelineTx) => Promise<T>): Promise<T> {
    const { cluster } = this
    if (!cluster) throw new Error('there is no timelines cluster')
    const transactions = new Transactions(cluster, this.transactions.idempotency)
    let last: unknown
    try {
      return await transactions.run(async ({ session }) => {
        try {
          return await work({ session: session as TimelineSession })
        } catch (error) {
          last = error
          throw error
        }
      })
    } catch (error) {
      const { cause = last } = error as Error
      const isOfWork = last !== undefined && (error === last || cause === last)
      // All other errors come from the commit, or from a command that was not answered.
      if (!isOfWork || cluster.failures.has(last)) cluster.failures.note(error)
      throw error
    }
  }

  /** Whether a job has failed because of the cluster within the last 10 s. */
  private get hasFailed(): boolean {
    return performance.now() - this.failing.last < calmMs
  }

  private isNamed(state: ClusterState | undefined): boolean {
    if (!this.cluster) return state === undefined
    if (this.isVerified(state)) return true
    this.onDoubt()
    return false
  }

  private isVerified(state: ClusterState | undefined): boolean {
    const { verified, cluster } = this
    const isIt =
      state !== undefined &&
      verified !== undefined &&
      verified.primary === cluster?.primary &&
      verified.state.mark === state.mark &&
      verified.state.election === state.election
    if (!isIt) timelinesAvailable.set(0)
    return isIt
  }

  private forget(): void {
    this.verified = undefined
  }
}

/** Whether the same work may succeed later. */
const mayPass = (error: unknown): boolean =>
  isDisconnected(error) ||
  isUnreachable(error) ||
  (error instanceof DomainError && error.code === 'UNAVAILABLE')

import { AsyncResource } from 'node:async_hooks'
import { commandMsMax } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import { type Transactions, transactionBounds } from '../../db/transaction.ts'
import { raiseVersions } from '../../db/versions.ts'
import type { InlineRunner } from '../../jobs/inline.ts'
import type { Run } from '../../jobs/lease.ts'
import type { Outbox } from '../../jobs/outbox.ts'
import { type Job, type JobQueue, LeaseLost } from '../../jobs/queue.ts'
import type { Pause } from '../../jobs/runner.ts'
import { stopwatch } from '../../lib/stopwatch.ts'
import { permitKind, permitMs } from '../registry/permits.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import { combineSmallWrites } from './follower-walk.ts'

/** How long after a confirmation a delivery without a job may begin, in milliseconds. */
const validMs = 6_000
/** The age from which a permit in use is confirmed again, in milliseconds. */
const renewAfterMs = 2_000
/** How long after a confirmation a transaction may still be committed under it, in milliseconds. */
const committedMs = validMs + transactionBounds.answerMsMax + commandMsMax

/** The parts that {@link DeliveryPermit} works with. */
export interface PermitParts {
  readonly collections: Pick<Collections, 'versions'>
  readonly registry: Registry
  readonly outbox: Outbox
  readonly queue: Pick<JobQueue, 'extend' | 'complete'>
  readonly inline: Pick<InlineRunner, 'isWriting'>
  readonly transactions: Transactions
}

/** A permit that this process holds. */
interface Held {
  readonly job: Job
  /** Read after the lease of the job was acknowledged. */
  readonly registered: Registered
  /** The time since its last confirmation began, in milliseconds. */
  readonly ageMs: () => number
}

/**
 * Lets this process leave out the jobs of posts that their transactions deliver: a job in the outbox, leased to it.
 *
 * - If the process dies between a commit and the new versions of timelines, a worker runs this job: it makes all kept
 *   answers out of date.
 * - Who changes the set of strategies sees the job, or this process sees the change: each writes first, and then reads.
 *   In the first case the change takes effect after {@link permitMs}. No transaction that knows the strategies
 *   of before can be committed by then.
 *
 * It is confirmed in the background, by two commands every two seconds, while posts use it. It ends when none does.
 * @see law L4
 */
export class DeliveryPermit {
  /** The context of no request: a permit is no part of its time and of its trace. */
  private readonly context = new AsyncResource('DeliveryPermit')
  private held: Held | undefined
  private renewing: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined
  private readonly outdating = combineSmallWrites<never>(() => this.raise())

  constructor(private readonly parts: PermitParts) {}

  /**
   * The registrations under which a transaction may deliver posts without jobs. Sends no command, but lets the permit be
   * confirmed.
   * @returns undefined while no permit is held that was confirmed lately. Then posts need jobs.
   */
  current(): Registered | undefined {
    const ageMs = this.held?.ageMs() ?? Number.POSITIVE_INFINITY
    if (ageMs > renewAfterMs) void this.renew()
    return ageMs <= validMs ? this.held?.registered : undefined
  }

  /** Confirms the permit, or gets one. Two commands. Never throws: without a permit, posts have jobs. */
  async renew(): Promise<void> {
    this.renewing ??= this.context
      .runInAsyncScope(() => this.confirm())
      .catch(() => {})
      .finally(() => {
        this.renewing = undefined
      })
    await this.renewing
  }

  /** Leaves the permit to a worker, which makes all kept answers out of date when its lease is over. */
  giveUp(): void {
    clearTimeout(this.timer)
    this.held = undefined
  }

  /** Ends the permit. Gives it up if a post is being written. One command. */
  async end(): Promise<void> {
    await this.renewing
    const { held } = this
    this.giveUp()
    // If that fails, a worker ends it.
    if (held && !this.parts.inline.isWriting)
      await this.parts.queue.complete(held.job).catch(() => {})
  }

  /**
   * What a worker does for a process whose lease is over: makes all kept answers out of date. Then it holds the permit for
   * 20 s more, because the process may live: the lease also ends if the clock of the database steps forward. Two
   * transactions of one command each, and one command for the checkpoint.
   */
  async runLeft(run: Pick<Run, 'checkpoint' | 'save'>): Promise<Pause | undefined> {
    await this.raise()
    if (run.checkpoint !== undefined) return undefined
    await run.save({ isTakenOver: true })
    return { continuesInMs: permitMs }
  }

  /** Makes all kept answers out of date. One transaction of one command, which concurrent calls share. */
  async outdateAnswers(): Promise<void> {
    await this.outdating.submit('', [])
  }

  private async raise(): Promise<void> {
    const { collections, transactions } = this.parts
    await transactions.run((tx) => raiseVersions(collections, ['registrations'], tx))
  }

  private async confirm(): Promise<void> {
    const { outbox, registry } = this.parts
    const before = this.held
    let ageMs = stopwatch()
    let job = before && (await this.extend(before.job))
    if (!job) {
      ageMs = stopwatch()
      job = await outbox.hold({ kind: permitKind, payload: {} }, permitMs)
    }
    const registered = await registry.read()
    // It may have been given up since.
    if (job === before?.job && this.held !== before) return
    this.held = { job, registered, ageMs }
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.end(), committedMs + 500).unref()
  }

  private async extend(job: Job): Promise<Job | undefined> {
    try {
      await this.parts.queue.extend(job)
      return job
    } catch (error) {
      if (error instanceof LeaseLost) return undefined
      throw error
    }
  }
}

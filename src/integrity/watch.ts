import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { IntegrityServices } from './invariant.ts'
import { type Reconciled, reconcile } from './reconcile.ts'

/** How often a sample is taken, and how many users it has at most. */
const [everyMs, sampleMax] = [60_000, 500]
const hourMs = 3_600_000

/** Called with the result of each sample. */
export type OnSample = (found: Reconciled) => void

/**
 * Checks a share of all users every hour, taken at random, a few each minute: their accounts, counters, edges, blocks,
 * posts and engagement, not their timelines. Logs what it finds, and repairs it where configured. Every process that
 * watches takes samples of its own.
 */
export class DriftWatch {
  private readonly stopping = new AbortController()
  private looping: Promise<void> | undefined

  constructor(
    private readonly services: IntegrityServices,
    private readonly config: Config['drift'],
    private readonly log: Log,
    private readonly onSample: OnSample,
  ) {}

  /** Begins to take samples, until {@link stop}. Does nothing where the share is 0. */
  start(): void {
    if (this.config.sharePerHour > 0) this.looping ??= this.loop()
  }

  /** Ends with the sample that is under way. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.looping
  }

  /**
   * Checks one sample now: a dry run of {@link reconcile}, and a run where it finds something and is to repair it.
   * @param size how many users.
   */
  async sample(size: number): Promise<void> {
    const { users } = this.services.collections
    const found = await users
      .aggregate<{ _id: string }>([{ $sample: { size } }, { $project: { _id: 1 } }])
      .toArray()
    if (found.length === 0) return
    const which = { users: found.map(({ _id }) => _id), readers: 0 } as const
    let result = await reconcile(this.services, { ...which, dryRun: true })
    const { off, mended, accounts, others, reported } = result.tally
    if (off + mended + accounts + others + reported > 0) {
      if (this.config.repair) {
        result = await reconcile(this.services, { ...which, dryRun: false })
      }
      const { tally, worst, ...more } = result
      const shown = { worst: worst.slice(0, 10), reported: more.reported.slice(0, 10) }
      this.log.warn({ ...tally, ...shown }, 'counters have drifted')
    }
    this.onSample(result)
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      await sleep(everyMs * (0.5 + Math.random()), undefined, { signal, ref: false }).catch(
        () => {},
      )
      if (signal.aborted) return
      try {
        const total = await this.services.collections.users.estimatedDocumentCount()
        const due = (total * this.config.sharePerHour * everyMs) / hourMs
        await this.sample(Math.min(sampleMax, Math.max(1, Math.round(due))))
      } catch (error) {
        this.log.warn({ err: error }, 'a sample for drift failed')
      }
    }
  }
}

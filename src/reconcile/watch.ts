import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { type Reconciled, type ReconcileServices, reconcile } from './reconcile.ts'

/** How often a sample is taken, and how many users it has at most. */
const [everyMs, sampleMax] = [60_000, 500]
const hourMs = 3_600_000

/** Hears what each sample came to. */
export type OnSample = (found: Reconciled) => void

/**
 * Looks at a share of all users every hour, taken at random, a few each minute, for counters and edges that have
 * drifted: repairs what it finds or only tells of it. Every process that watches takes samples of its own.
 */
export class DriftWatch {
  private readonly stopping = new AbortController()
  private looping: Promise<void> | undefined

  constructor(
    private readonly services: ReconcileServices,
    private readonly config: Config['drift'],
    private readonly log: Log,
    private readonly onSample: OnSample,
  ) {}

  /** Begins to look, until {@link stop}. Does nothing where the share is 0. */
  start(): void {
    if (this.config.sharePerHour > 0) this.looping ??= this.loop()
  }

  /** Ends with the sample that is under way. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.looping
  }

  /**
   * Looks at one sample now. Five commands over its users' index keys, and what is to be repaired.
   * @param size how many users.
   */
  async sample(size: number): Promise<void> {
    const { users } = this.services.collections
    const found = await users
      .aggregate<{ _id: string }>([{ $sample: { size } }, { $project: { _id: 1 } }])
      .toArray()
    if (found.length === 0) return
    const sampled = found.map(({ _id }) => _id)
    let result = await reconcile(this.services, { users: sampled, dryRun: true })
    const { off, mended, accounts } = result.tally
    if (off + mended + accounts > 0) {
      if (this.config.repair) {
        result = await reconcile(this.services, { users: sampled, dryRun: false })
      }
      const { tally, worst } = result
      this.log.warn({ ...tally, worst: worst.slice(0, 10) }, 'counters have drifted')
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

import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { drift } from '../metrics/drift.ts'
import type { IntegrityServices } from './invariant.ts'
import { type Reconciled, reconcile } from './reconcile.ts'

/** The time between two samples in milliseconds, and the most users of a sample. */
const [everyMs, sampleMax] = [60_000, 500]
const hourMs = 3_600_000

/**
 * Checks a random share of all users every hour, a few each minute. Checks their accounts, counters, edges, blocks,
 * posts and engagement, but not their timelines. Logs and repairs what it finds. Each process takes its
 * own samples.
 */
export class DriftWatch {
  private readonly stopping = new AbortController()
  private looping: Promise<void> | undefined

  constructor(
    private readonly services: IntegrityServices,
    private readonly config: Config['drift'],
    private readonly log: Log,
  ) {}

  /** Takes samples until {@link stop}. Does nothing if the share is 0. */
  start(): void {
    if (this.config.sharePerHour > 0) this.looping ??= this.loop()
  }

  /** Stops after the current sample. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.looping
  }

  /**
   * Checks one sample now: a dry run of {@link reconcile}. After findings, also a run.
   * @param size the number of users.
   */
  async sample(size: number): Promise<void> {
    const { users } = this.services.collections
    const found = await users
      .aggregate<{ _id: string }>([{ $sample: { size } }, { $project: { _id: 1 } }])
      .toArray()
    if (found.length === 0) return
    const which = { users: found.map(({ _id }) => _id), readers: 0 } as const
    let result = await reconcile(this.services, { ...which, dryRun: true })
    const { drifted, edges, accounts, others, reported } = result.tally
    if (drifted + edges + accounts + others + reported > 0) {
      result = await reconcile(this.services, { ...which, dryRun: false })
      const { tally, largest, ...more } = result
      const shown = { largest: largest.slice(0, 10), reported: more.reported.slice(0, 10) }
      this.log.warn({ ...tally, ...shown }, 'counters have drifted')
    }
    countSample(result)
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

function countSample({ tally: { users, posts, drifted, edges, repaired } }: Reconciled): void {
  drift.checked.inc(users + posts)
  drift.off.inc(drifted)
  drift.edges.inc(edges)
  drift.repaired.inc(repaired)
}

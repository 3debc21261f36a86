import { readBacklog } from './jobs/inspect.ts'
import { timeOf } from './lib/ids.ts'
import { shared } from './lib/shared.ts'
import { within } from './lib/within.ts'
import { jobs, jobsOldestSeconds } from './metrics/jobs.ts'
import { clockSkew } from './metrics/process.ts'
import type { OpenDatabase } from './open-database.ts'
import type { Services } from './services.ts'

/** How long two readers of `/metrics` share one count of jobs, in milliseconds. */
const backlogKeptMs = 2_000
/** How long a count may take before `/metrics` is answered without it, in milliseconds. */
const backlogMsMax = 1_000

/**
 * Has the gauges of the clock and of the database's jobs read from a database. Two commands a
 * scrape.
 */
export function measureDatabase(
  { clock }: Pick<OpenDatabase, 'clock'>,
  { collections, now }: Pick<Services, 'collections' | 'now'>,
): void {
  clockSkew.readFrom(async () => [{ labels: {}, value: clock.skewSeconds() }])
  const backlog = shared(backlogKeptMs, () =>
    within(backlogMsMax, readBacklog(collections.outbox), () => new Error('the count is late')),
  )
  jobs.readFrom(async () =>
    (await backlog()).map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
  )
  jobsOldestSeconds.readFrom(async () =>
    (await backlog()).map(({ kind, state, oldest }) => ({
      labels: { kind, state },
      value: Math.max(0, (now() - timeOf(oldest).getTime()) / 1000),
    })),
  )
}

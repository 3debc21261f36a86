import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from 'mongodb'
import type { Journal } from './journal.ts'

/**
 * How long to wait for jobs, in milliseconds. A job whose process is killed waits for its lease of
 * 30 s.
 */
const jobsTimeoutMs = 150_000

/**
 * Waits until all jobs have ended. A parked job, or a job that does not end in time, is a
 * violation.
 */
export async function waitForJobs(db: Db, journal: Journal): Promise<void> {
  const outbox = db.collection('outbox')
  const deadline = performance.now() + jobsTimeoutMs
  while (performance.now() < deadline) {
    const waiting = await outbox.countDocuments({ state: { $ne: 'PARKED' } }).catch(() => 1)
    if (waiting === 0) break
    await sleep(250)
  }
  for await (const job of outbox.find({})) {
    const { kind, state, payload, attempts, error, runAt } = job
    journal.recordViolation(
      'unfinishedJobs',
      performance.now(),
      JSON.stringify({ kind, state, payload, attempts, error, runAt }),
    )
  }
}

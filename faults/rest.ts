import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from 'mongodb'
import type { Journal } from './journal.ts'

/** The lease of a killed process is 30 s; a job that is killed twice waits for two. */
const restMsMax = 150_000

/** Waits until every job has ended. Jobs that are parked or do not end in time are violations. */
export async function waitForJobs(db: Db, journal: Journal): Promise<void> {
  const outbox = db.collection('outbox')
  const deadline = performance.now() + restMsMax
  while (performance.now() < deadline) {
    const ready = await outbox.countDocuments({ state: { $ne: 'PARKED' } }).catch(() => 1)
    if (ready === 0) break
    await sleep(250)
  }
  for await (const job of outbox.find({})) {
    const { kind, state, payload, attempts, error, runAt } = job
    journal.violate(
      'unfinishedJobs',
      performance.now(),
      JSON.stringify({ kind, state, payload, attempts, error, runAt }),
    )
  }
}

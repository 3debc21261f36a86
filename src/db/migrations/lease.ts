import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Collection, Db } from 'mongodb'

/**
 * How long a migration stays with a process that was killed, in milliseconds. Extended after each
 * third.
 */
const leaseMs = 30_000
const pollMs = 1_000

interface LeaseDoc {
  readonly _id: string
  /** Names the lease. */
  readonly holder: string
  /** The process that holds it, for an operator. */
  readonly process: string
  /** The end of the lease, by the server's clock. */
  readonly until: Date
}

/** How a migration is watched and ended. */
export interface MigrateOptions {
  readonly signal: AbortSignal
  /** Receives one sentence for each thing that happens. */
  readonly log: (sentence: string) => void
}

/**
 * Runs `work` while no other process migrates the database. Waits until another process finishes,
 * and 30 s at most for one that was killed.
 * @param work receives a signal that also aborts when another process has taken over the lease.
 */
export async function withMigrationLease<T>(
  db: Db,
  { signal, log }: MigrateOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leases: Collection<LeaseDoc> = db.collection('meta')
  const holder = randomUUID()
  await acquire(leases, holder, { signal, log })
  const controller = new AbortController()
  const forward = () => controller.abort(signal.reason)
  signal.addEventListener('abort', forward)
  const extend = async () => {
    const { matchedCount } = await leases.updateOne({ _id, holder }, [{ $set: { until } }])
    if (matchedCount === 0) controller.abort(new Error('Another process took over the migration.'))
  }
  // After an extension that failed, the next one extends the lease, or finds that it was taken
  // over.
  const timer = setInterval(() => void extend().catch(() => {}), leaseMs / 3)
  try {
    return await work(controller.signal)
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', forward)
    // Otherwise it runs out.
    await leases.deleteOne({ _id, holder }).catch(() => {})
  }
}

const _id = 'migration'
const until = { $add: ['$$NOW', leaseMs] }

/** One command, and one more each second while another process holds the lease. */
async function acquire(
  leases: Collection<LeaseDoc>,
  holder: string,
  { signal, log }: MigrateOptions,
): Promise<void> {
  const isHeld = { $gt: ['$until', '$$NOW'] }
  const own = { holder, process: { $literal: `${process.pid} on ${hostname()}` }, until }
  const ifFree = Object.entries(own).map(([field, value]) => [
    field,
    { $cond: [isHeld, `$${field}`, value] },
  ])
  for (let waits = false; ; waits = true) {
    signal.throwIfAborted()
    const lease = await leases.findOneAndUpdate({ _id }, [{ $set: Object.fromEntries(ifFree) }], {
      upsert: true,
      returnDocument: 'after',
    })
    if (lease?.holder === holder) return
    if (!waits) log(`Process ${lease?.process} is migrating this database. Waiting until it ends.`)
    await sleep(pollMs)
  }
}

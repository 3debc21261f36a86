import { type Logger, pino } from 'pino'
import { beforeEach } from 'vitest'
import { IdempotencyStore } from '../../src/db/idempotency.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { type NewJob, Outbox } from '../../src/jobs/outbox.ts'
import { type Job, JobQueue } from '../../src/jobs/queue.ts'
import { IdMint, type TimeId } from '../../src/lib/ids.ts'
import { useDatabase } from './mongo.ts'

/** The duration of the leases in these tests, in milliseconds. */
export const leaseMs = 30_000

/**
 * Gives a test file its own outbox, empty before each test, and functions to add, claim and read
 * jobs.
 */
export function useJobs() {
  const database = useDatabase()
  const mint = new IdMint(Date.now)
  const outbox = () => database.collections.outbox
  const transactions = () =>
    new Transactions(database.client, new IdempotencyStore(database.collections, Date.now))
  beforeEach(async () => void (await outbox().deleteMany({})))
  return {
    database,
    mint,
    outbox,
    transactions,
    /** A queue without back-off. */
    newQueue: (attemptsMax?: number) => new JobQueue(outbox(), { attemptsMax, random: () => 1 }),
    append: async (
      kind = 'greet',
      payload: Record<string, unknown> = {},
      options?: Pick<NewJob, 'queue'>,
    ): Promise<void> => {
      const append = (tx: Tx) =>
        new Outbox(outbox(), mint).enqueue(tx, [{ kind, payload, ...options }])
      await transactions().run(append)
    },
    claimed: async (queue: JobQueue): Promise<Job> => {
      const [job] = await queue.claim(leaseMs)
      if (!job) throw new Error('nothing is due')
      return job
    },
    /** Makes all jobs due and ends all leases. */
    becomeDue: () => outbox().updateMany({ state: 'READY' }, { $set: { runAt: new Date(0) } }),
    stored: async (id?: TimeId) => outbox().findOne(id ? { _id: toObjectId(id) } : {}),
  }
}

/** A promise, and the function that resolves it. */
export function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

export const silent: Logger = pino({ level: 'silent' })

/** A log and its lines. */
export function recordingLog() {
  const lines: Record<string, unknown>[] = []
  return {
    lines,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  }
}

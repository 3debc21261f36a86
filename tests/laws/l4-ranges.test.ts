import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openCollections } from '../../src/db/collections.ts'
import type { Db } from '../../src/db/mongo.ts'
import { fromObjectId } from '../../src/db/object-id.ts'
import { Outbox } from '../../src/jobs/outbox.ts'
import { JobQueue } from '../../src/jobs/queue.ts'
import { cutRanges, isSplit, type KeyRange, RangeJobs } from '../../src/jobs/ranges.ts'
import type { Tasks } from '../../src/jobs/runner.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { killedAtWrite } from '../support/faulty.ts'
import { leaseMs, silent, useJobs } from '../support/jobs.ts'
import { patient } from '../support/patience.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'

const { database, mint, outbox, transactions, append, becomeDue } = useJobs()
const keys = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
/** Number of keys that a range job walks between two checkpoints. */
const windowSize = 5
/** Number of ranges that were dropped. */
let drops = 0

/** The keys that were walked, how often, and those that were when the whole job ended. */
interface Walk {
  readonly walked: Map<string, number>
  readonly atEnd: number[]
}

/** What happens to jobs while a process runs them, at the number of a walked window. */
interface Moments {
  readonly losesLeaseAt?: number
  readonly dropsAt?: number
}

const nextKeys = ({ after, upTo = '~' }: KeyRange) =>
  keys.filter((key) => key > after && key <= upTo).slice(0, windowSize)

/**
 * Drops a range that is parked, as `feedline jobs drop` does. @returns whether there was one that
 * no worker runs.
 */
async function dropRange(): Promise<boolean> {
  const idle = { kind: 'walk.range', leased: { $exists: false } }
  const parked = await outbox().findOneAndUpdate(idle, { $set: { state: 'PARKED' } })
  return parked !== null && new JobQueue(outbox()).drop(fromObjectId(parked._id))
}

/** A process with its own connection to the outbox. */
function openProcess(
  db: Db,
  walk: Walk,
  size: number,
  { losesLeaseAt, dropsAt }: Moments = {},
  pollMs = 20,
) {
  const { outbox: jobs } = openCollections(db)
  const ranges = new RangeJobs({
    ...{ jobs, outbox: new Outbox(jobs, mint), transactions: transactions() },
  })
  let windows = 0
  const tasks: Tasks = {
    walk: async (payload, run) => {
      const waited = await ranges.wait(run)
      if (waited && waited !== 'ended') return waited
      if (waited === 'ended') return void walk.atEnd.push(walk.walked.size)
      const cut = await cutRanges('', { size, rangesMax: 8 }, async (after, distance) =>
        keys.filter((key) => key > after).at(distance - 1),
      )
      return ranges.split(run, { kind: 'walk', payload }, cut)
    },
    'walk.range': ranges.createTask(async (_, run, range) => {
      const { after } = (run.checkpoint ?? range) as KeyRange
      const window = nextKeys({ ...range, after })
      for (const key of window) walk.walked.set(key, (walk.walked.get(key) ?? 0) + 1)
      // All leases end, so that another worker runs the same ranges.
      if (++windows === losesLeaseAt) await becomeDue()
      if (windows === dropsAt && (await dropRange())) drops++
      const last = window.at(-1)
      if (last === undefined) return undefined
      await run.save({ after: last })
      return 'unfinished'
    }),
  }
  const queue = new JobQueue(jobs, { random: () => 0, attemptsMax: 100 })
  return new Worker(queue, tasks, silent, { concurrency: 4, pollMs, leaseMs })
}

test(
  'a split job walks every key, and ends after all its ranges, for every kill, lost lease and dropped range (L4)',
  async () => {
    const process = fc.record({
      dies: fc.nat(40),
      effect: fc.constantFrom('none', 'all'),
      losesLeaseAt: fc.integer({ min: 1, max: 20 }),
      dropsAt: fc.integer({ min: 1, max: 12 }),
    })
    const sizes = fc.integer({ min: 3, max: keys.length })
    const dropping = { dies: 40, effect: 'none', losesLeaseAt: 20, dropsAt: 1 } as const
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(process, { maxLength: 4 }), async (size, processes) => {
        const { db } = database
        const walk: Walk = { walked: new Map(), atEnd: [] }
        await append('walk', {}, { queue: 'BULK' })
        for (const { dies, effect, ...moments } of processes) {
          const killed = killedAtWrite(db, dies, effect)
          const doomed = openProcess(killed.db, walk, size, moments)
          const other = openProcess(db, walk, size)
          await Promise.all([doomed.drain().catch(() => {}), other.drain()])
          await killed.ended()
          await becomeDue()
        }
        for (let tries = 0; (await outbox().countDocuments()) > 0; tries++) {
          expect(tries).toBeLessThan(20)
          await becomeDue()
          await openProcess(db, walk, size).drain()
        }
        expect([...walk.walked.keys()].sort()).toEqual(keys)
        expect(walk.atEnd.length).toBeGreaterThanOrEqual(1)
        expect(walk.atEnd.every((count) => count === keys.length)).toBe(true)
      }),
      { numRuns: lawRuns(24) + 1, examples: [[3, [dropping, dropping, dropping]]], ...lawSeed() },
    )
    expect(drops).toBeGreaterThan(0)
  },
  patient(600_000),
)

test('the worker that split a job runs all its ranges and ends it without waiting for its next poll', async () => {
  const walk: Walk = { walked: new Map(), atEnd: [] }
  await append('walk', {}, { queue: 'BULK' })
  const worker = openProcess(database.db, walk, 20, {}, 600_000)
  worker.start()
  try {
    await expect.poll(() => outbox().countDocuments()).toBe(0)
  } finally {
    await worker.stop()
  }
  expect(walk.atEnd).toEqual([keys.length])
})

test('a repeat of a range changes nothing, and ranges of a cancelled job do no work', async () => {
  const walk: Walk = { walked: new Map(), atEnd: [] }
  await append('walk', {}, { queue: 'BULK' })
  const split = openProcess(database.db, walk, 20, { losesLeaseAt: 1 })
  await split.drain()
  await becomeDue()
  await outbox().deleteMany({ kind: 'walk' })
  walk.walked.clear()
  await openProcess(database.db, walk, 20).drain()
  expect(walk.walked.size).toBe(0)
  expect(await outbox().countDocuments()).toBe(0)
})

test('a split job begins again after an operator dropped one of its ranges', async () => {
  const walk: Walk = { walked: new Map(), atEnd: [] }
  await append('walk', {}, { queue: 'BULK' })
  const queue = new JobQueue(outbox())
  const [parent] = await outbox().find().toArray()
  const [job] = await queue.claim(leaseMs, { queues: ['BULK'] })
  const { tasks } = openProcess(database.db, walk, 20) as unknown as { tasks: Tasks }
  if (!job || !parent) throw new Error('the job is not due')
  const save = async (checkpoint: unknown, tx?: object) => {
    await queue.save(job, checkpoint, tx as never)
  }
  const run = { job, save, inline: false, signal: new AbortController().signal }
  await tasks.walk?.(job.payload, { ...run, checkpoint: undefined })
  await queue.release(job)
  // Three ranges of 20 keys, and the keys beyond, of which there are none.
  expect(await outbox().countDocuments({ kind: 'walk.range' })).toBe(4)
  expect(await dropRange()).toBe(true)
  for (let tries = 0; (await outbox().countDocuments()) > 0 && tries < 20; tries++) {
    await becomeDue()
    await openProcess(database.db, walk, 20).drain()
  }
  expect([...walk.walked.keys()].sort()).toEqual(keys)
  expect(walk.atEnd).toEqual([keys.length])
  expect(isSplit(parent.checkpoint)).toBe(false)
})

import { MongoError } from 'mongodb'
import { expect, test } from 'vitest'
import type { Tx } from '../../src/db/transaction.ts'
import { InlineRunner } from '../../src/jobs/inline.ts'
import { type JobWriter, type NewJob, Outbox } from '../../src/jobs/outbox.ts'
import type { Task } from '../../src/jobs/runner.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { gate, leaseMs, recordingLog, useJobs } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'

const { database, mint, outbox, transactions, newQueue, claimed, becomeDue, stored } = useJobs()

/** Inserts a job that was prepared during a write. */
const insertOne = (jobs: JobWriter, tx: Tx, job: Partial<NewJob> = {}) =>
  new Outbox(outbox(), mint).insert(tx, [jobs.prepare(tx, { kind: 'greet', payload: {}, ...job })])

/** A process that writes and runs its own jobs with `greet`. */
function newProcess(greet: Task, { slots = 2, leaseMs: ownLeaseMs = leaseMs } = {}) {
  const { lines, log } = recordingLog()
  const inline = new InlineRunner(newQueue(), slots, ownLeaseMs)
  inline.start({ greet }, log)
  const own = new Outbox(outbox(), mint, inline)
  const promise = (jobs: JobWriter) =>
    transactions().run((tx) => insertOne(jobs, tx, { payload: { who: '$ann' } }))
  return { own, lines, write: () => own.runInline(promise) }
}

test('an inline job runs in its process before the writer continues', async () => {
  const seen: unknown[] = []
  const { write } = newProcess(async (payload, { inline, checkpoint }) => {
    seen.push({ payload, inline, checkpoint })
  })
  const { commands } = await recorded(database.client, write)
  expect(seen).toEqual([{ payload: { who: '$ann' }, inline: true, checkpoint: undefined }])
  expect(commands.map(({ name }) => name)).toEqual(['update', 'commitTransaction', 'delete'])
  expect(await stored()).toBeNull()
})

test('an inline job is leased from its commit on, so no worker claims it during its run', async () => {
  const { open, opened } = gate()
  const { open: begin, opened: begun } = gate()
  const { write } = newProcess(async () => {
    begin()
    await opened
  })
  const written = write()
  await begun
  expect(await stored()).toMatchObject({ fence: 1, attempts: 1, leased: expect.any(String) })
  expect(await newQueue().claim(leaseMs)).toEqual([])
  open()
  await written
  expect(await stored()).toBeNull()
})

test('a job without a free inline slot is due for workers at once, and slots are released', async () => {
  let begun = 0
  let { open, opened } = gate()
  const { write } = newProcess(async () => {
    begun++
    await opened
  })
  for (let round = 1; round <= 2; round++) {
    const written = [write(), write()]
    await expect.poll(() => begun).toBe(2 * round)
    await write()
    expect(begun).toBe(2 * round)
    const left = await claimed(newQueue())
    expect(left).toMatchObject({ payload: { who: '$ann' }, queue: 'QUICK', attempts: 1, fence: 1 })
    await newQueue().complete(left)
    open()
    await Promise.all(written)
    expect(await stored()).toBeNull()
    ;({ open, opened } = gate())
  }
})

test('a retried or failed transaction runs only the jobs of its commit and keeps no slot', async () => {
  let runs = 0
  const { own, write } = newProcess(async () => void runs++)
  let tries = 0
  await own.runInline((jobs) =>
    transactions().run(async (tx) => {
      await insertOne(jobs, tx, { payload: { tries: ++tries } })
      if (tries < 4) throw transient()
      await write()
      expect(runs).toBe(1)
    }),
  )
  expect({ tries, runs }).toEqual({ tries: 4, runs: 2 })
  const refused = own.runInline((jobs) =>
    transactions().run(async (tx) => {
      await insertOne(jobs, tx)
      throw new Error('no')
    }),
  )
  await expect(refused).rejects.toThrow('no')
  expect(runs).toBe(2)
  await own.runInline(async (jobs) => {
    await transactions().run((tx) => insertOne(jobs, tx))
    await write()
    expect(runs).toBe(3)
  })
  expect(runs).toBe(4)
  expect(await stored()).toBeNull()
})

test('one slot runs one job, also of a transaction with two jobs', async () => {
  let runs = 0
  const { own } = newProcess(async () => void runs++, { slots: 1 })
  await own.runInline((jobs) =>
    transactions().run(async (tx) => {
      await insertOne(jobs, tx)
      await insertOne(jobs, tx, { queue: 'BULK' })
    }),
  )
  expect(runs).toBe(1)
  expect(await claimed(newQueue())).toMatchObject({ queue: 'BULK' })
})

test('the inline job of a process that dies after its commit goes to a worker when the lease ends', async () => {
  const { own } = newProcess(async () => {}, { leaseMs: 300 })
  const { open, opened } = gate()
  void own.runInline(async (jobs) => {
    await transactions().run((tx) => insertOne(jobs, tx))
    open()
    await new Promise(() => {})
  })
  await opened
  expect(await newQueue().claim(leaseMs)).toEqual([])
  await expect.poll(() => newQueue().claim(leaseMs)).toMatchObject([{ attempts: 2, fence: 2 }])
})

test('a failed inline job does not fail its writer: it backs off, and a worker runs it', async () => {
  const { write, lines } = newProcess(() => Promise.reject(new Error('no')))
  await write()
  expect(lines).toMatchObject([{ msg: 'job failed', kind: 'greet', attempts: 1 }])
  expect(await stored()).toMatchObject({ state: 'READY', attempts: 1, error: 'Error: no' })
  expect(await newQueue().claim(leaseMs)).toEqual([])
  await becomeDue()
  expect(await claimed(newQueue())).toMatchObject({ attempts: 2 })
})

test('a long job begins inline and continues in a worker from its checkpoint', async () => {
  const seen: unknown[] = []
  const greet: Task = async (_, { inline, checkpoint, save }) => {
    seen.push({ inline, checkpoint })
    if (!inline) return
    await save({ after: 'bob' })
    return 'unfinished'
  }
  const { write, lines } = newProcess(greet)
  await write()
  const options = { concurrency: 2, pollMs: 20, leaseMs }
  await new Worker(newQueue(), { greet }, recordingLog().log, options).drain()
  expect(seen).toEqual([
    { inline: true, checkpoint: undefined },
    { inline: false, checkpoint: { after: 'bob' } },
  ])
  expect(lines).toEqual([])
  expect(await stored()).toBeNull()
})

test('a job of a transaction try without a commit is not a failure', async () => {
  const { own, lines } = newProcess(async () => {})
  const answered = own.runInline(async (jobs) => {
    const run = transactions().run(async (tx) => {
      await insertOne(jobs, tx)
      throw new Error('a repeat was first')
    })
    return run.catch(() => 'the first result')
  })
  expect(await answered).toBe('the first result')
  expect(lines).toEqual([])
  expect(await stored()).toBeNull()
})

test('a job is due at once if nothing runs inline', async () => {
  const idle = new InlineRunner(newQueue())
  for (const own of [new Outbox(outbox(), mint), new Outbox(outbox(), mint, idle)]) {
    await own.runInline((jobs) =>
      transactions().run((tx) => insertOne(jobs, tx, { queue: 'BULK' })),
    )
    expect(await claimed(newQueue())).toMatchObject({ queue: 'BULK', attempts: 1, fence: 1 })
  }
})

function transient(): MongoError {
  const error = new MongoError('two met')
  error.addErrorLabel('TransientTransactionError')
  return error
}

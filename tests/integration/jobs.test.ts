import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { Transactions } from '../../src/db/transaction.ts'
import { Outbox } from '../../src/jobs/outbox.ts'
import { type Job, JobQueue, LeaseLost } from '../../src/jobs/queue.ts'
import { type Task, Worker, type WorkerOptions } from '../../src/jobs/worker.ts'
import { IdMint, type TimeId } from '../../src/lib/ids.ts'
import { failCommand, recorded, useDatabase } from '../support/mongo.ts'

const database = useDatabase()
const leaseMs = 30_000
const mint = new IdMint(Date.now)

const outbox = () => database.collections.outbox

beforeEach(async () => void (await outbox().deleteMany({})))

const newQueue = (attemptsMax?: number) => new JobQueue(outbox(), attemptsMax, () => 1)

async function append(kind = 'greet', payload: Record<string, unknown> = {}): Promise<void> {
  const { client, collections } = database
  const transactions = new Transactions(client, collections.mutations, Date.now)
  await transactions.run((tx) => new Outbox(outbox(), mint).append(tx, kind, payload))
}

async function claimed(queue: JobQueue): Promise<Job> {
  const job = await queue.claim(leaseMs)
  if (!job) throw new Error('nothing is due')
  return job
}

/** Lets the time come at which a job is due, or a lease ends. */
const becomeDue = () => outbox().updateMany({ state: 'READY' }, { $set: { runAt: new Date(0) } })

const stored = async (id?: TimeId) => outbox().findOne(id ? { _id: toObjectId(id) } : {})

type Given = Partial<WorkerOptions> & { queue?: JobQueue; log?: Logger }

function newWorker(tasks: Record<string, Task>, given: Given = {}) {
  const { queue = newQueue(), log = silent, ...options } = given
  return new Worker(queue, tasks, log, { concurrency: 2, pollMs: 20, leaseMs, ...options })
}

const silent: Logger = pino({ level: 'silent' })

/** A log and what was written to it. */
function recordingLog() {
  const lines: Record<string, unknown>[] = []
  return {
    lines,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  }
}

/** A task that goes on until its signal aborts, and a promise of its beginning. */
function endlessTask() {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const task: Task = (_, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      begin()
    })
  return { task, begun }
}

describe('outbox', () => {
  test('a job appended in a transaction that aborts does not exist', async () => {
    const { client, collections } = database
    const run = new Transactions(client, collections.mutations, Date.now).run(async (tx) => {
      await new Outbox(outbox(), mint).append(tx, 'greet', {})
      throw new Error('no')
    })
    await expect(run).rejects.toThrow('no')
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a committed job is due at once and carries its payload', async () => {
    await append('greet', { who: 'ann', n: 2 })
    const job = await claimed(newQueue())
    expect(job).toMatchObject({ kind: 'greet', payload: { who: 'ann', n: 2 }, attempts: 1 })
    expect(job.checkpoint).toBeUndefined()
  })
})

describe('queue', () => {
  test('eight claimers at once get one job once', async () => {
    await append()
    const claims = await Promise.all(Array.from({ length: 8 }, () => newQueue().claim(leaseMs)))
    expect(claims.filter((job) => job !== undefined)).toHaveLength(1)
  })

  test('eight claimers at once get eight jobs, each a different one', async () => {
    for (let n = 0; n < 8; n++) await append()
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimed(newQueue())))
    expect(new Set(claims.map(({ id }) => id)).size).toBe(8)
  })

  test('a lease ends by the clock of the server, and a save extends it', async () => {
    await append()
    const queue = newQueue()
    const job = await queue.claim(400)
    if (!job) throw new Error('nothing is due')
    await sleep(250)
    await queue.save(job, { at: 1 })
    await sleep(250)
    expect(await queue.claim(leaseMs)).toBeUndefined()
    await sleep(250)
    expect(await queue.claim(leaseMs)).toMatchObject({ id: job.id })
  })

  test('a worker whose lease ran out changes nothing any more', async () => {
    await append()
    const queue = newQueue()
    const first = await claimed(queue)
    await becomeDue()
    const second = await claimed(queue)
    expect(second).toMatchObject({ id: first.id, attempts: 2 })
    const before = await stored()
    await expect(queue.save(first, { at: 9 })).rejects.toThrow(LeaseLost)
    await expect(queue.extend(first)).rejects.toThrow(LeaseLost)
    await expect(queue.complete(first)).rejects.toThrow(LeaseLost)
    await expect(queue.fail(first, new Error('late'))).rejects.toThrow(LeaseLost)
    await expect(queue.release(first)).rejects.toThrow(LeaseLost)
    expect(await stored()).toEqual(before)
    await queue.complete(second)
    expect(await stored()).toBeNull()
  })

  test('the next worker resumes from the checkpoint, progress resets the attempts', async () => {
    await append()
    const queue = newQueue()
    await claimed(queue)
    await becomeDue()
    const saved = await queue.save(await claimed(queue), { after: '$bob', n: 1 })
    expect(saved.attempts).toBe(1)
    await becomeDue()
    const resumed = await claimed(queue)
    expect(resumed).toMatchObject({ checkpoint: { after: '$bob', n: 1 }, attempts: 2 })
    expect((await queue.save(resumed, { after: '$bob', n: 1 })).attempts).toBe(2)
  })

  test('a job that fails backs off longer each time, then is parked with the reason', async () => {
    await append()
    const queue = newQueue()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      const job = await claimed(queue)
      const parked = await queue.fail(job, new Error(`no ${attempt}`))
      expect(parked).toBe(attempt === 10)
      if (parked) break
      waits.push(((await stored())?.runAt.getTime() ?? 0) - Date.now())
      expect(await queue.claim(leaseMs)).toBeUndefined()
      await becomeDue()
    }
    const ceilings = waits.map((_, n) => 1_000 * 2 ** n)
    for (const [n, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan((ceilings[n] ?? 0) - 900)
      expect(wait).toBeLessThan((ceilings[n] ?? 0) + 900)
    }
    expect(await queue.claim(leaseMs)).toBeUndefined()
    expect(await queue.parked(10)).toMatchObject([{ attempts: 10, error: 'Error: no 10' }])
  })

  test('a job that failed is no longer its worker’s', async () => {
    await append()
    const queue = newQueue(1)
    const job = await claimed(queue)
    await queue.fail(job, 'no')
    await queue.retry(job.id)
    await expect(queue.complete(job)).rejects.toThrow(LeaseLost)
  })

  test('a parked job is retried from its checkpoint, or dropped, once', async () => {
    await append()
    const queue = newQueue(1)
    const job = await queue.save(await claimed(queue), 7)
    expect(await queue.retry(job.id)).toBe(false)
    expect(await queue.drop(job.id)).toBe(false)
    await queue.fail(job, 'no')
    expect(await queue.retry(job.id)).toBe(true)
    const again = await claimed(queue)
    expect(again).toMatchObject({ id: job.id, checkpoint: 7, attempts: 1 })
    await queue.fail(again, 'no')
    expect(await queue.drop(job.id)).toBe(true)
    expect(await queue.drop(job.id)).toBe(false)
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a released job is due at once and the attempt does not count', async () => {
    await append()
    const queue = newQueue()
    await queue.release(await claimed(queue))
    expect(await claimed(queue)).toMatchObject({ attempts: 1 })
  })

  test('every call is one command', async () => {
    await append()
    const queue = newQueue(1)
    const job = await claimed(queue)
    const calls: (() => Promise<unknown>)[] = [
      () => queue.save(job, 1),
      () => queue.extend(job),
      () => queue.release(job),
      async () => queue.fail((await queue.claim(leaseMs)) ?? job, 'no'),
      () => queue.parked(1_000),
      () => queue.retry(job.id),
      async () => queue.complete((await queue.claim(leaseMs)) ?? job),
      () => queue.claim(leaseMs),
      () => queue.drop(job.id),
    ]
    const sent: string[][] = []
    for (const call of calls) {
      const { commands } = await recorded(database.client, call)
      sent.push(commands.map(({ name }) => name))
    }
    expect(sent).toEqual([
      ['update'],
      ['update'],
      ['update'],
      ['findAndModify', 'update'],
      ['find'],
      ['update'],
      ['findAndModify', 'delete'],
      ['findAndModify'],
      ['delete'],
    ])
  })

  test('a claim examines one key, whatever is due later or parked', async () => {
    const job = { kind: 'greet', payload: {}, fence: 0, attempts: 0 }
    const later = { ...job, state: 'READY' as const, runAt: new Date(Date.now() + 3_600_000) }
    const parked = { ...job, state: 'PARKED' as const, runAt: new Date(0) }
    const others = [...Array(1_000).fill(later), ...Array(100).fill(parked)]
    await outbox().insertMany(others.map((doc) => ({ ...doc, _id: toObjectId(mint.next()) })))
    const examined = async () => {
      const { commands } = await recorded(database.client, () => newQueue().claim(leaseMs))
      expect(commands).toHaveLength(1)
      const { findAndModify, query, sort, update } = commands[0]?.command ?? {}
      const { executionStats } = await database.db.command({
        explain: { findAndModify, query, sort, update },
        verbosity: 'executionStats',
      })
      return executionStats.totalKeysExamined
    }
    expect(await examined()).toBeLessThanOrEqual(1)
    for (let n = 0; n < 5; n++) await append()
    expect(await examined()).toBe(1)
  })
})

describe('worker', () => {
  test('drain runs all that is due, also what tasks append, so many at a time', async () => {
    for (let n = 0; n < 6; n++) await append('greet', { n })
    const seen: unknown[] = []
    let now = 0
    let most = 0
    const worker = newWorker({
      greet: async ({ n }) => {
        most = Math.max(most, ++now)
        await sleep(10)
        now--
        seen.push(n)
        if (n === 0) await append('later')
      },
      later: async () => void seen.push('later'),
    })
    await worker.drain()
    expect(seen).toHaveLength(7)
    expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3, 4, 5, 'later']))
    expect(most).toBe(2)
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a task goes on from its checkpoint after it failed', async () => {
    await append()
    const starts: unknown[] = []
    const worker = newWorker({
      greet: async (_, { checkpoint, save }) => {
        starts.push(checkpoint)
        if (checkpoint) return
        await save({ after: 'bob' })
        throw new Error('crash')
      },
    })
    await worker.drain()
    await becomeDue()
    await worker.drain()
    expect(starts).toEqual([undefined, { after: 'bob' }])
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a failure is logged once, with its cause, and kept with the job', async () => {
    await append()
    const { lines, log } = recordingLog()
    const worker = newWorker(
      { greet: () => Promise.reject(new Error('no', { cause: new Error('why') })) },
      { log },
    )
    await worker.drain()
    expect(lines).toMatchObject([
      { msg: 'job failed', kind: 'greet', attempts: 1, err: { message: 'no: why' } },
    ])
    expect(await stored()).toMatchObject({ error: 'Error: no', state: 'READY' })
  })

  test('a job of an unknown kind fails with the reason, also when objects inherit it', async () => {
    await append('toString')
    await newWorker({}).drain()
    expect((await stored())?.error).toContain('no task for jobs of kind "toString"')
  })

  test('a job that kills its worker every time is parked without another run', async () => {
    await append()
    const queue = newQueue(3)
    for (let attempt = 1; attempt <= 3; attempt++) {
      await claimed(queue)
      await becomeDue()
    }
    let runs = 0
    await newWorker({ greet: async () => void runs++ }, { queue }).drain()
    expect(runs).toBe(0)
    expect(await queue.parked(1)).toMatchObject([
      { error: 'Error: none of its tries came to an end' },
    ])
  })

  test('the lease is kept while a task runs longer than it', async () => {
    await append()
    let runs = 0
    const tasks = {
      greet: async () => {
        runs++
        await sleep(900)
      },
    }
    const [one, two] = [newWorker(tasks, { leaseMs: 300 }), newWorker(tasks, { leaseMs: 300 })]
    const first = one.drain()
    await sleep(700)
    await two.drain()
    await first
    expect(runs).toBe(1)
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a task whose lease is lost is told so, and its outcome changes nothing', async () => {
    await append()
    const { task, begun } = endlessTask()
    const { lines, log } = recordingLog()
    const drained = newWorker({ greet: task }, { leaseMs: 150, log }).drain()
    await begun
    await outbox().updateOne(
      {},
      { $inc: { fence: 1 }, $set: { runAt: new Date(Date.now() + 60_000) } },
    )
    const before = await stored()
    await drained
    expect(await stored()).toEqual(before)
    expect(lines).toMatchObject([
      { msg: 'job left until its lease ends', err: { type: 'LeaseLost' } },
    ])
  })

  test('stop lets a short task finish', async () => {
    await append()
    let begun = false
    let done = false
    const worker = newWorker({
      greet: async () => {
        begun = true
        await sleep(100)
        done = true
      },
    })
    worker.start()
    await expect.poll(() => begun).toBe(true)
    await worker.stop()
    expect(done).toBe(true)
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('stop hands back a job whose claim was under way', async () => {
    await append()
    const { task } = endlessTask()
    const worker = newWorker({ greet: task })
    worker.start()
    await worker.stop()
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1, fence: 3 })
  })

  test('stop hands back a long task, uncounted and due at once', async () => {
    await append()
    const { task, begun } = endlessTask()
    const worker = newWorker({ greet: task })
    worker.start()
    await begun
    await worker.stop(20)
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
  })

  test('stop hands back what ignores its signal, and what returns early for it', async () => {
    await append('deaf')
    await append('early')
    let begun = 0
    const worker = newWorker({
      deaf: async () => {
        begun++
        await sleep(3_000)
      },
      early: async (_, { signal }) => {
        begun++
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    })
    worker.start()
    await expect.poll(() => begun).toBe(2)
    const startedAt = performance.now()
    await worker.stop(20)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
  })

  test('an empty poll is one command; a drain that cannot poll says so', async () => {
    const { commands } = await recorded(database.client, () => newWorker({}).drain())
    expect(commands.map(({ name }) => name)).toEqual(['findAndModify'])
    const failure = { failCommands: ['findAndModify'], errorCode: 8, times: 1 }
    await using _ = await failCommand(database.client, failure)
    await expect(newWorker({}).drain()).rejects.toMatchObject({ code: 8 })
  })

  test('a nudge is answered at once, whatever the time between polls', async () => {
    let runs = 0
    const worker = newWorker({ greet: async () => void runs++ }, { pollMs: 60_000 })
    worker.start()
    await sleep(100)
    await append()
    expect(runs).toBe(0)
    worker.nudge()
    await expect.poll(() => runs).toBe(1)
    await worker.stop()
  })

  test('a worker outlives a database that is away', async () => {
    await append()
    const { lines, log } = recordingLog()
    let runs = 0
    const worker = newWorker({ greet: async () => void runs++ }, { log })
    const failure = { failCommands: ['findAndModify'], closeConnection: true, times: 4 }
    await using _ = await failCommand(database.client, failure)
    worker.start()
    await expect.poll(() => runs, { timeout: 10_000 }).toBe(1)
    await worker.stop()
    expect(lines.length).toBeGreaterThan(0)
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(['no job could be claimed']))
    expect(await outbox().countDocuments()).toBe(0)
  })
})

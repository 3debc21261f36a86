import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { describe, expect, test, vi } from 'vitest'
import { listJobs } from '../../src/jobs/inspect.ts'
import { JobQueue } from '../../src/jobs/queue.ts'
import { type Task, Worker, type WorkerOptions } from '../../src/jobs/worker.ts'
import { gate, leaseMs, recordingLog, silent, useJobs } from '../support/jobs.ts'
import { failCommand } from '../support/mongo.ts'

const { database, outbox, newQueue, append, claimed, becomeDue, stored } = useJobs()

type Given = Partial<WorkerOptions> & { queue?: JobQueue; log?: Logger }

function newWorker(tasks: Record<string, Task>, given: Given = {}) {
  const { queue = newQueue(), log = silent, ...options } = given
  return new Worker(queue, tasks, log, { concurrency: 3, pollMs: 20, leaseMs, ...options })
}

/** A task that runs until its signal aborts, and a promise that resolves when it begins. */
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

describe('worker', () => {
  test('drain runs all due jobs, including those that tasks add, up to the concurrency at a time', async () => {
    for (let n = 0; n < 6; n++) await append('greet', { n })
    const seen: unknown[] = []
    let now = 0
    let most = 0
    const both = gate()
    const worker = newWorker({
      greet: async ({ n }) => {
        most = Math.max(most, ++now)
        if (now === 2) both.open()
        await both.opened
        await sleep(100)
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

  test('a failed task resumes from its checkpoint', async () => {
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

  test('a task that pauses holds no slot, is due again after that time, and has used no try', async () => {
    await append()
    let runs = 0
    const task: Task = async () => (++runs < 2 ? { continuesInMs: 60_000 } : undefined)
    const before = Date.now()
    await newWorker({ greet: task }).drain()
    expect(runs).toBe(1)
    const paused = await stored()
    expect(paused).toMatchObject({ state: 'READY', attempts: 0, fence: 2 })
    expect(paused?.runAt.getTime()).toBeGreaterThan(before + 59_000)
    await becomeDue()
    await newWorker({ greet: task }).drain()
    expect(runs).toBe(2)
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a failure of a task is logged once with its cause, and stored with the job', async () => {
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

  test('a job of an unknown kind fails with the reason, also if its name is an inherited property', async () => {
    await append('toString')
    await newWorker({}).drain()
    expect((await stored())?.error).toContain('no task for jobs of kind "toString"')
  })

  test('a job that always kills its worker is parked without another run', async () => {
    await append()
    const queue = newQueue(3)
    for (let attempt = 1; attempt <= 3; attempt++) {
      await claimed(queue)
      await becomeDue()
    }
    let runs = 0
    await newWorker({ greet: async () => void runs++ }, { queue }).drain()
    expect(runs).toBe(0)
    const { jobs } = await listJobs(outbox(), { parked: true }, 1)
    expect(jobs).toMatchObject([{ error: 'Error: no attempt of the job finished' }])
  })

  test('a worker extends the lease of a task that runs longer than its lease', async () => {
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

  test('a task is aborted when its lease is lost, and its outcome changes nothing', async () => {
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

  test('a worker’s stop lets a short task finish', async () => {
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

  test('a worker’s stop releases a job whose claim was in progress', async () => {
    await append()
    const { task } = endlessTask()
    const worker = newWorker({ greet: task })
    worker.start()
    await worker.stop()
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1, fence: 3 })
  })

  test('a worker’s stop releases a long task, uncounted and due at once', async () => {
    await append()
    const { task, begun } = endlessTask()
    const worker = newWorker({ greet: task })
    worker.start()
    await begun
    await worker.stop(20)
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
  })

  test('a worker’s stop releases a task that ignores its signal, and one that returns early for it', async () => {
    await append('deaf')
    await append('early')
    let begun = 0
    const ends = gate()
    const worker = newWorker({
      deaf: async () => {
        begun++
        await ends.opened
      },
      early: async (_, { signal }) => {
        begun++
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    })
    worker.start()
    await expect.poll(() => begun).toBe(2)
    await worker.stop(20)
    ends.open()
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
    expect(await claimed(newQueue())).toMatchObject({ attempts: 1 })
  })

  test('a worker survives an unreachable database', async () => {
    await append()
    const { lines, log } = recordingLog()
    let runs = 0
    const worker = newWorker({ greet: async () => void runs++ }, { log })
    const failure = { failCommands: ['find'], closeConnection: true, times: 4 }
    await using _ = await failCommand(database.client, failure)
    worker.start()
    await expect.poll(() => runs).toBe(1)
    await worker.stop()
    expect(lines.length).toBeGreaterThan(0)
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(['no job could be claimed']))
    expect(await outbox().countDocuments()).toBe(0)
  })
})

test('a drain runs the job that the last running job enqueued during an empty claim', async () => {
  const queue = newQueue()
  const [claimedNothing, ended] = [gate(), gate()]
  const claim = queue.claim.bind(queue)
  let claims = 0
  vi.spyOn(queue, 'claim').mockImplementation(async (...args) => {
    const job = await claim(...args)
    // The second and third claims look in the two queues.
    if (++claims !== 3) return job
    claimedNothing.open()
    await ended.opened
    return job
  })
  vi.spyOn(queue, 'complete').mockImplementation(async (job) => {
    await JobQueue.prototype.complete.call(queue, job)
    setTimeout(() => ended.open(), 50)
  })
  const run: string[] = []
  const greet = async () => {
    run.push('greet')
    await claimedNothing.opened
    await append('wave')
  }
  const wave = async () => void run.push('wave')
  await append('greet')
  await newWorker({ greet, wave }, { queue, concurrency: 3 }).drain()
  expect(run).toEqual(['greet', 'wave'])
  expect(await outbox().countDocuments()).toBe(0)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { JobQueue } from '../../src/jobs/queue.ts'
import { type Task, Worker } from '../../src/jobs/worker.ts'
import { leaseMs, silent, useJobs } from '../support/jobs.ts'
import { failCommand, recorded } from '../support/mongo.ts'

const { database, newQueue, append } = useJobs()

interface Given {
  readonly queue?: JobQueue
  readonly pollMs?: number
}

const newWorker = (
  tasks: Record<string, Task>,
  { queue = newQueue(), pollMs = 20 }: Given = {},
): Worker => new Worker(queue, tasks, silent, { concurrency: 3, pollMs, leaseMs })

test('an empty poll is one command, and a drain that cannot poll fails', async () => {
  const { commands } = await recorded(database.client, () => newWorker({}).drain())
  expect(commands.map(({ name }) => name)).toEqual(['find'])
  const failure = { failCommands: ['find'], errorCode: 8, times: 1 }
  await using _ = await failCommand(database.client, failure)
  await expect(newWorker({}).drain()).rejects.toMatchObject({ code: 8 })
})

test('a nudge runs a job at once, before the next poll', async () => {
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

test('a worker polls often for as long after a job as it waits else', async () => {
  const queue = newQueue()
  const claims: number[] = []
  const claim = queue.claim.bind(queue)
  vi.spyOn(queue, 'claim').mockImplementation(async (...given) => {
    claims.push(performance.now())
    return claim(...given)
  })
  let runs = 0
  const worker = newWorker({ greet: async () => void runs++ }, { queue, pollMs: 1_000 })
  await append()
  worker.start()
  await expect.poll(() => runs).toBe(1)
  await append()
  await expect.poll(() => runs, { timeout: 600 }).toBe(2)
  claims.length = 0
  await sleep(2_500)
  await worker.stop()
  const pauses = claims.slice(1).map((at, n) => at - (claims[n] as number))
  const long = pauses.filter((pause) => pause > 900)
  expect(long.length).toBeGreaterThan(0)
  // The long waits come last, after at most ten short ones.
  expect(pauses.slice(-long.length)).toEqual(long)
  expect(pauses.length - long.length).toBeLessThan(12)
})

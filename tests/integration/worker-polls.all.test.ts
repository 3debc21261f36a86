import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type Task, Worker } from '../../src/jobs/worker.ts'
import { leaseMs, silent, useJobs } from '../support/jobs.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'

const { database, newQueue, append } = useJobs()

const newWorker = (tasks: Record<string, Task>, { pollMs = 20 } = {}): Worker =>
  new Worker(newQueue(), tasks, silent, { concurrency: 3, pollMs, leaseMs })

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
  let runs = 0
  const pollMs = patient(1_000)
  const worker = newWorker({ greet: async () => void runs++ }, { pollMs })
  const pauses: number[] = []
  const inner = worker as unknown as { idle: (ms: number) => Promise<void> }
  const idle = inner.idle.bind(worker)
  vi.spyOn(inner, 'idle').mockImplementation((ms) => {
    pauses.push(ms)
    return idle(ms)
  })
  await append()
  worker.start()
  await expect.poll(() => runs).toBe(1)
  await expect.poll(() => pauses.at(-1)).toBe(pollMs)
  await worker.stop()
  const short = pauses.slice(0, -1)
  expect(short.length).toBeGreaterThan(0)
  expect(short.length).toBeLessThan(12)
  expect(new Set(short)).toEqual(new Set([pollMs / 10]))
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { QueueName } from '../../src/db/collections.ts'
import type { JobQueue } from '../../src/jobs/queue.ts'
import type { Task } from '../../src/jobs/runner.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { gate, leaseMs, silent, useJobs } from '../support/jobs.ts'

const { outbox, newQueue, append } = useJobs()

/** A worker that polls only when it is nudged. */
const newWorker = (
  tasks: Record<string, Task>,
  concurrency: number,
  queue: JobQueue = newQueue(),
): Worker => new Worker(queue, tasks, silent, { concurrency, pollMs: 60_000, leaseMs })

const empty = () => expect.poll(() => outbox().countDocuments()).toBe(0)

for (const [hog, other] of [
  ['BULK', 'QUICK'],
  ['QUICK', 'BULK'],
] as const) {
  test(`endless jobs of ${hog} leave slots for jobs of ${other}`, async () => {
    for (let n = 0; n < 5; n++) await append('hog', {}, { queue: hog })
    const { open, opened } = gate()
    let begun = 0
    let done = 0
    const tasks = {
      hog: async () => {
        begun++
        await opened
      },
      other: async () => void done++,
    }
    const worker = newWorker(tasks, 3)
    worker.start()
    await expect.poll(() => begun).toBe(2)
    for (let n = 0; n < 3; n++) await append('other', {}, { queue: other })
    worker.nudge()
    await expect.poll(() => done).toBe(3)
    expect(begun).toBe(2)
    open()
    await empty()
    expect(begun).toBe(5)
    await worker.stop()
  })
}

test('a worker claims from the queue with fewer running jobs, then the older job', async () => {
  for (let n = 0; n < 4; n++) await append('QUICK', {}, { queue: 'QUICK' })
  for (let n = 0; n < 2; n++) await append('BULK', {}, { queue: 'BULK' })
  const { open, opened } = gate()
  const begun: QueueName[] = []
  const blocked = (queue: QueueName) => async () => {
    begun.push(queue)
    await opened
  }
  const worker = newWorker({ QUICK: blocked('QUICK'), BULK: blocked('BULK') }, 4)
  worker.start()
  await expect.poll(() => begun.length).toBe(4)
  expect(begun).toEqual(['QUICK', 'BULK', 'QUICK', 'BULK'])
  open()
  await empty()
  await worker.stop()
})

test('ranges of split jobs take one slot of a worker, and leave the others to short and long jobs', async () => {
  for (let n = 0; n < 6; n++) await append('range', {}, { queue: 'RANGE' })
  const { open, opened } = gate()
  const begun: string[] = []
  const done: string[] = []
  const tasks = {
    range: async () => {
      begun.push('range')
      await opened
    },
    short: async () => void done.push('short'),
    long: async () => void done.push('long'),
  }
  const worker = newWorker(tasks, 4)
  worker.start()
  await expect.poll(() => begun.length).toBe(1)
  for (let n = 0; n < 3; n++) await append('short', {}, { queue: 'QUICK' })
  for (let n = 0; n < 3; n++) await append('long', {}, { queue: 'BULK' })
  worker.nudge()
  await expect.poll(() => done.length).toBe(6)
  expect(begun).toHaveLength(1)
  open()
  await empty()
  expect(begun).toHaveLength(6)
  await worker.stop()
})

test('long jobs that are released take turns, each from its checkpoint', async () => {
  for (const name of ['a', 'b', 'c']) await append('long', { name })
  const turns: string[] = []
  const long: Task = async ({ name }, { checkpoint, save }) => {
    const part = (checkpoint ?? 0) as number
    turns.push(`${name}${part}`)
    await save(part + 1)
    return part === 2 ? undefined : 'unfinished'
  }
  const worker = newWorker({ long }, 1)
  worker.start()
  await empty()
  expect(turns).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2'])
  await worker.stop()
})

test('a released job continues at once and does not use up its attempts', async () => {
  await append()
  let turns = 0
  const greet: Task = async () => {
    // Until the worker has found nothing else that is due.
    await sleep(50)
    return ++turns < 6 ? 'unfinished' : undefined
  }
  const worker = newWorker({ greet }, 4, newQueue(2))
  worker.start()
  await empty()
  expect(turns).toBe(6)
  await worker.stop()
})

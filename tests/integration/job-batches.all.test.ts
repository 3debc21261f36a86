import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { QueueName } from '../../src/db/collections.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { type Job, LeaseLost } from '../../src/jobs/queue.ts'
import type { Task } from '../../src/jobs/runner.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { storedProblems } from '../laws/model/stored-timelines.ts'
import { leaseMs, silent, useJobs } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const { database, outbox, newQueue, append, claimed, becomeDue, stored } = useJobs()

describe('jobs of a kind that are claimed together', () => {
  test('eight concurrent batch claims lease each job once, as single claims do', async () => {
    for (let n = 0; n < 60; n++) await append()
    const queues = Array.from({ length: 8 }, () => newQueue())
    const groups = await Promise.all(
      queues.map((queue) => queue.claim(leaseMs, { batchSizeOf: () => 20 })),
    )
    const jobs = groups.flat()
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length)
    expect(jobs.length).toBeGreaterThan(8)
    for (const { id, fence, attempts } of jobs) {
      expect(await stored(id)).toMatchObject({ fence, attempts })
      expect([fence, attempts]).toEqual([1, 1])
    }
    const others = await outbox().countDocuments({ leased: { $exists: false } })
    expect(jobs.length + others).toBe(60)
  })

  test('a batch claim leases due jobs of the same kind and queue, oldest first, up to the batch size', async () => {
    await append('greet', { n: 0 })
    await append('other')
    for (const n of [4, 5]) await append('greet', { n }, { queue: 'BULK' })
    for (const n of [1, 2, 3]) await append('greet', { n })
    const queue = newQueue()
    const later = await claimed(queue)
    await queue.fail(later, 'not yet')
    expect(await queue.claim(leaseMs)).toMatchObject([{ kind: 'other' }])
    const numbers = async (size: number, from: QueueName) =>
      (await queue.claim(leaseMs, { queues: [from], batchSizeOf: () => size })).map(
        ({ payload }) => payload.n,
      )
    expect(await numbers(2, 'QUICK')).toEqual([1, 2])
    expect(await numbers(9, 'QUICK')).toEqual([3])
    expect(await numbers(9, 'QUICK')).toEqual([])
    // Jobs of the other queue may be long.
    expect(await numbers(9, 'BULK')).toEqual([4])
    expect(await numbers(9, 'BULK')).toEqual([5])
  })
})

describe('jobs that are done at the same time', () => {
  test('are removed by one command', async () => {
    for (let n = 0; n < 20; n++) await append()
    const queue = newQueue()
    const jobs = await queue.claim(leaseMs, { batchSizeOf: () => 20 })
    const { commands } = await recorded(database.client, () =>
      Promise.all(jobs.map((job) => queue.complete(job))),
    )
    expect(commands.map(({ name }) => name)).toEqual(['delete'])
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('deleting done jobs keeps a job whose lease has ended', async () => {
    for (let n = 0; n < 5; n++) await append()
    const queue = newQueue()
    const jobs = await queue.claim(leaseMs, { batchSizeOf: () => 5 })
    const lost = jobs[3] as Job
    await outbox().updateOne({ _id: toObjectId(lost.id) }, { $inc: { fence: 1 } })
    const outcomes = await Promise.allSettled(jobs.map((job) => queue.complete(job)))
    expect(outcomes.map(({ status }) => status)).toEqual(
      jobs.map((job) => (job === lost ? 'rejected' : 'fulfilled')),
    )
    expect(outcomes[3]).toMatchObject({ reason: expect.any(LeaseLost) })
    expect(await outbox().countDocuments()).toBe(1)
    await becomeDue()
    expect(await claimed(queue)).toMatchObject({ id: lost.id })
  })
})

describe('a worker with batches', () => {
  test('a worker runs small jobs together in one slot, finishes each by itself, and runs large jobs alone', async () => {
    let [running, most] = [0, 0]
    const small: Task = Object.assign(
      async ({ n }: Job['payload']) => {
        most = Math.max(most, ++running)
        await sleep(20)
        running--
        if (n === 7) throw new Error('not this one')
      },
      { batchSize: 8 },
    )
    const drain = async () => {
      const options = { concurrency: 2, pollMs: 60_000, leaseMs }
      await new Worker(newQueue(), { small }, silent, options).drain()
    }
    for (let n = 0; n < 20; n++) await append('small', { n })
    await drain()
    // A queue may take only one of two slots.
    expect(most).toBe(8)
    const left = await outbox().find().toArray()
    expect(left).toMatchObject([{ payload: { n: 7 }, error: 'Error: not this one' }])

    await outbox().deleteMany({})
    most = 0
    for (let n = 0; n < 3; n++) await append('small', { n }, { queue: 'BULK' })
    await drain()
    expect(most).toBe(1)
    expect(await outbox().countDocuments()).toBe(0)
  })
})

describe('deliveries to small audiences', () => {
  const strategies = ['INBOX', 'CACHE'] as const
  const harness = useServices('collection', undefined, { maintained: [...strategies] })

  test('deliveries to small audiences share commands, and each follower gets each post', async () => {
    const { services } = harness
    const authors = Array.from({ length: 32 }, (_, n) => handle(`author${n}`))
    const fans = Array.from({ length: 5 }, (_, n) => handle(`fan${n}`))
    await openAccounts(services, [...authors, ...fans])
    for (const fan of fans) {
      for (const author of authors) await services.follows.follow(fan, author)
      const window = { limit: 1, backward: false }
      await services.feed.timeline(fan, { window, strategy: 'CACHE', projection: 'ref' })
    }
    await harness.rest()
    const expected = new Map([...fans, ...authors].map((user) => [user, new Set<never>()]))
    for (const author of authors) {
      const { id } = await services.posts.create(author, { text: 'new' })
      for (const user of [author, ...fans]) expected.get(user)?.add(id as never)
    }
    const { commands } = await recorded(harness.database.client, () => harness.rest())
    const problems = await storedProblems(services.collections, expected, 50)
    expect(problems.filter((problem) => /^(inbox|timeline_cache)/.test(problem))).toEqual([])
    // Alone, each post would take five commands.
    expect(commands.length).toBeLessThanOrEqual(32)
  })
})

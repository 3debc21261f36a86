import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type QueueName, queueNames } from '../../src/db/collections.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { listJobs } from '../../src/jobs/inspect.ts'
import { Outbox } from '../../src/jobs/outbox.ts'
import { LeaseLost } from '../../src/jobs/queue.ts'
import { leaseMs, useJobs } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'

const { database, mint, outbox, transactions, newQueue, append, claimed, becomeDue, stored } =
  useJobs()

describe('outbox', () => {
  test('a job that is inserted in an aborted transaction does not exist', async () => {
    const run = transactions().run(async (tx) => {
      await new Outbox(outbox(), mint).enqueue(tx, [{ kind: 'greet', payload: {} }])
      throw new Error('no')
    })
    await expect(run).rejects.toThrow('no')
    expect(await outbox().countDocuments()).toBe(0)
  })

  test('a committed job is due at once and has its payload', async () => {
    await append('greet', { who: '$ann', n: 2 })
    const job = await claimed(newQueue())
    expect(job).toMatchObject({ kind: 'greet', payload: { who: '$ann', n: 2 }, attempts: 1 })
    expect(job).toMatchObject({ queue: 'QUICK', fence: 1 })
    expect(job.checkpoint).toBeUndefined()
  })
})

describe('queue', () => {
  test('eight concurrent claims lease one job once', async () => {
    await append()
    const claims = await Promise.all(Array.from({ length: 8 }, () => newQueue().claim(leaseMs)))
    expect(claims.flat()).toHaveLength(1)
  })

  test('eight concurrent claims lease eight different jobs', async () => {
    for (let n = 0; n < 8; n++) await append()
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimed(newQueue())))
    expect(new Set(claims.map(({ id }) => id)).size).toBe(8)
  })

  test('a claim leases the oldest job of its queue, or the oldest of all without a queue', async () => {
    for (const queue of ['BULK', 'QUICK', 'BULK'] as const) await append(queue, {}, { queue })
    const queue = newQueue()
    expect(await queue.claim(leaseMs, { queues: ['QUICK'] })).toMatchObject([
      { kind: 'QUICK', queue: 'QUICK' },
    ])
    expect(await queue.claim(leaseMs, { queues: ['QUICK'] })).toEqual([])
    await append('QUICK', {}, { queue: 'QUICK' })
    expect(await queue.claim(leaseMs)).toMatchObject([{ queue: 'BULK' }])
    expect(await queue.claim(leaseMs, { queues: ['BULK'] })).toMatchObject([{ queue: 'BULK' }])
    expect(await queue.claim(leaseMs)).toMatchObject([{ queue: 'QUICK' }])
  })

  test('a lease ends by the clock of the server, and a save extends it', async () => {
    await append()
    const queue = newQueue()
    const [job] = await queue.claim(leaseMs)
    if (!job) throw new Error('nothing is due')
    const claimed = await stored()
    await sleep(5)
    const saved = await queue.save(job, { at: 1 })
    expect((await stored())?.runAt.getTime()).toBeGreaterThan(claimed?.runAt.getTime() ?? 0)
    expect(await queue.claim(leaseMs)).toEqual([])
    await queue.release(saved)
    await queue.claim(1)
    await expect.poll(() => queue.claim(leaseMs)).toMatchObject([{ id: job.id }])
  })

  test('a worker whose lease has ended changes nothing', async () => {
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

  test('the next worker resumes from the checkpoint, and progress resets the attempts', async () => {
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

  test('a failing job backs off longer each time, and is then parked with the reason', async () => {
    await append()
    const queue = newQueue()
    const waits: (readonly [number, number])[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      const job = await claimed(queue)
      const before = Date.now()
      const parked = await queue.fail(job, new Error(`no ${attempt}`))
      const after = Date.now()
      expect(parked).toBe(attempt === 10)
      if (parked) break
      const runAt = (await stored())?.runAt.getTime() ?? 0
      waits.push([runAt - after, runAt - before])
      expect(await queue.claim(leaseMs)).toEqual([])
      await becomeDue()
    }
    for (const [n, [least, most]] of waits.entries()) {
      expect(least).toBeLessThanOrEqual(1_000 * 2 ** n)
      expect(most).toBeGreaterThanOrEqual(1_000 * 2 ** n)
    }
    expect(await queue.claim(leaseMs)).toEqual([])
    const { jobs } = await listJobs(outbox(), { parked: true }, 10)
    expect(jobs).toMatchObject([{ attempts: 10, error: 'Error: no 10' }])
  })

  test('a failed job no longer belongs to its worker', async () => {
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

  test('a released job is due at once, and the attempt does not count', async () => {
    await append()
    const queue = newQueue()
    await queue.release(await claimed(queue))
    expect(await claimed(queue)).toMatchObject({ attempts: 1 })
  })

  test('retryAll and dropAll affect all parked jobs and no other', async () => {
    const queue = newQueue(1)
    for (const queue of ['QUICK', 'BULK', 'QUICK'] as const) await append('greet', {}, { queue })
    for (let n = 0; n < 2; n++) await queue.fail(await claimed(queue), 'no')
    expect(await queue.retryAll()).toBe(2)
    expect(await outbox().distinct('state')).toEqual(['READY'])
    for (let n = 0; n < 2; n++) await queue.fail(await claimed(queue), 'no')
    expect(await queue.dropAll()).toBe(2)
    expect(await outbox().countDocuments()).toBe(1)
  })

  test('every call of the job queue is one command, and a claim is two if a job is due', async () => {
    await append()
    const queue = newQueue(1)
    const job = await claimed(queue)
    const calls: (() => Promise<unknown>)[] = [
      () => queue.save(job, 1),
      () => queue.extend(job),
      () => queue.release(job),
      async () => queue.fail((await queue.claim(leaseMs))[0] ?? job, 'no'),
      () => queue.retry(job.id),
      async () => queue.complete((await queue.claim(leaseMs))[0] ?? job),
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
      ['find', 'update', 'update'],
      ['update'],
      ['find', 'update', 'delete'],
      ['find'],
      ['delete'],
    ])
  })

  test('a claim examines 32 due jobs at most, and one key for each queue without a due job, for any number of later and parked jobs', async () => {
    const job = { kind: 'greet', payload: {}, queue: 'BULK' as const, fence: 0, attempts: 0 }
    const later = { ...job, state: 'READY' as const, runAt: new Date(Date.now() + 3_600_000) }
    const parked = { ...job, state: 'PARKED' as const, runAt: new Date(0) }
    const others = [...Array(1_000).fill(later), ...Array(100).fill(parked)]
    await outbox().insertMany(others.map((doc) => ({ ...doc, _id: toObjectId(mint.next()) })))
    const quick = others.map((doc) => ({ ...doc, queue: 'QUICK' as const }))
    await outbox().insertMany(quick.map((doc) => ({ ...doc, _id: toObjectId(mint.next()) })))
    const examined = async (queue?: QueueName) => {
      const { commands } = await recorded(database.client, () =>
        newQueue().claim(leaseMs, queue && { queues: [queue] }),
      )
      const { find, filter, sort, limit, hint } = commands[0]?.command ?? {}
      const { executionStats } = await database.db.command({
        explain: { find, filter, sort, limit, hint },
        verbosity: 'executionStats',
      })
      return executionStats.totalKeysExamined
    }
    expect(await examined()).toBeLessThanOrEqual(2)
    for (const queue of ['QUICK', 'BULK'] as const) {
      expect(await examined(queue)).toBeLessThanOrEqual(1)
    }
    const due = quick.map((doc) => ({ ...doc, state: 'READY' as const, runAt: new Date() }))
    await outbox().insertMany(due.map((doc) => ({ ...doc, _id: toObjectId(mint.next()) })))
    expect(await examined()).toBeLessThanOrEqual(34)
    expect(await examined('QUICK')).toBe(32)
    expect(await examined('BULK')).toBeLessThanOrEqual(1)
    const explained = await outbox()
      .find({ state: 'PARKED', queue: { $in: queueNames } })
      .sort({ runAt: -1 })
      .limit(10)
      .explain('executionStats')
    expect(explained.executionStats.totalKeysExamined).toBeLessThanOrEqual(11)
  })
})

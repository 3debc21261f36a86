import { beforeEach, describe, expect, test } from 'vitest'
import type { Job } from '../../src/jobs/queue.ts'
import { runCommand } from '../support/command-line.ts'
import { leaseMs, useJobs } from '../support/jobs.ts'
import { feedline } from '../support/process.ts'
import { storedNames } from '../support/services.ts'

const { database, newQueue, append, claimed, stored, outbox } = useJobs()

async function run(...args: string[]) {
  const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
  const { code, stdout, stderr } = await runCommand(args, env)
  return { code, out: stdout, err: stderr }
}

/** A parked job with a checkpoint. */
async function park(kind: string, error: string): Promise<Job> {
  await append(kind)
  const queue = newQueue(1)
  const job = await queue.save(await claimed(queue), { after: 'bob' })
  await queue.fail(job, error)
  return job
}

describe('feedline jobs', () => {
  const jobs: Record<string, Job> = {}

  beforeEach(async () => {
    jobs.first = await park('greet', 'no\nreason')
    jobs.second = await park('wave', 'no')
    await append('held')
    jobs.running = await claimed(newQueue())
    await append('died')
    await newQueue().claim(1)
    await append('late', {}, { queue: 'BULK' })
    await newQueue().fail(
      (await newQueue().claim(leaseMs, { queues: ['BULK'] }))[0] as Job,
      'not yet',
    )
    await outbox().updateOne({ kind: 'late' }, { $set: { runAt: new Date('2099-01-01') } })
    await append('new')
  })

  test('feedline jobs shows waiting, running and parked jobs, and the reason of parked jobs', async () => {
    const { code, out, err } = await run('jobs', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const list = JSON.parse(out)
    expect(list.counts).toEqual({ WAITING: 3, RUNNING: 1, PARKED: 2 })
    const byKind = Object.fromEntries(list.jobs.map((job: { kind: string }) => [job.kind, job]))
    expect(byKind).toMatchObject({
      greet: { state: 'PARKED', queue: 'QUICK', checkpoint: { after: 'bob' }, error: 'no\nreason' },
      held: { state: 'RUNNING', id: jobs.running?.id, attempts: 1 },
      died: { state: 'WAITING', attempts: 1 },
      late: { state: 'WAITING', queue: 'BULK', attempts: 1, error: 'not yet' },
      new: { state: 'WAITING', attempts: 0 },
    })
    const times = list.jobs.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted())
    expect(byKind.late.at).toBe('2099-01-01T00:00:00.000Z')
  })

  test('feedline jobs filters jobs by kind and by parked, prints a line for each, and counts all', async () => {
    const parked = await run('jobs', '--parked')
    const lines = parked.out.trim().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(
      /^[0-9a-f]{24} {2}greet {2}QUICK {2}PARKED {2}1 try {2}since 20\S+Z {2}at {"after":"bob"} {2}no reason$/,
    )
    expect(lines[0]).toContain(jobs.first?.id)
    expect(lines[1]).toMatch(/ wave {3}QUICK /)
    expect(lines[2]).toBe('0 waiting, 0 running, 2 parked.')
    const late = await run('jobs', '--kind', 'late')
    expect(late.out).toMatch(/^\w+ {2}late {2}BULK {2}WAITING {2}1 try {2}due 20\S+Z {2}not yet\n/)
    expect(late.out).toMatch(/\n1 waiting, 0 running, 0 parked.\n$/)
  })

  test('feedline jobs retries or drops one parked job by its id', async () => {
    const { first, second, running } = jobs
    const retried = await run('jobs', 'retry', first?.id ?? '')
    expect(retried).toEqual({ code: 0, out: '1 job is due again.\n', err: '' })
    expect(await stored(first?.id)).toMatchObject({ state: 'READY', checkpoint: { after: 'bob' } })
    const dropped = await run('jobs', 'drop', second?.id ?? '')
    expect(dropped).toEqual({ code: 0, out: '1 job is deleted.\n', err: '' })
    expect(await stored(second?.id)).toBeNull()
    const again = await run('jobs', 'drop', running?.id ?? '')
    const reason = `feedline: No parked job has the id ${running?.id}.\n`
    expect(again).toEqual({ code: 1, out: '', err: reason })
    expect(await stored(running?.id)).not.toBeNull()
  })

  test('feedline jobs retries all parked jobs, and reports if there is none', async () => {
    expect(await run('jobs', 'retry', '--all')).toMatchObject({ out: '2 jobs are due again.\n' })
    expect(await outbox().countDocuments({ state: 'PARKED' })).toBe(0)
    expect(await run('jobs', 'drop', '--all')).toMatchObject({ out: '0 jobs are deleted.\n' })
  })

  test.each([
    [['retry'], 'feedline: Pass the id of a parked job, or --all.\n'],
    [['drop', 'x1', '--all'], 'feedline: Pass the id of a parked job, or --all.\n'],
    [['drop', 'x1'], 'feedline: "x1" is not a job id. A job id has 24 hex digits.\n'],
  ])('feedline jobs refuses %j in one sentence', async (args, err) => {
    expect(await run('jobs', ...args)).toEqual({ code: 1, out: '', err })
    expect(await outbox().countDocuments()).toBe(6)
  })
})

describe('feedline worker', () => {
  const worker = () =>
    feedline(['worker', '--concurrency', '2'], {
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: database.name,
    })

  test('feedline worker runs jobs next to another worker until a signal', async () => {
    const { users } = database.collections
    const gone = Array.from({ length: 6 }, (_, n) => `gone-${n}`)
    const at = new Date()
    await users.insertMany(
      gone.map((_id) => ({
        ...{ _id, ...storedNames(_id) },
        ...{ createdAt: at, deletedAt: at, settlesAt: new Date(0) },
      })),
    )
    for (const user of gone) await append('user.deleted', { user })
    const both = [worker(), worker()]
    await Promise.all(both.map(({ says }) => says(/running up to 2 jobs/)))
    await expect.poll(() => outbox().countDocuments()).toBe(0)
    expect(await users.countDocuments()).toBe(0)
    for (const { child } of both) child.kill('SIGTERM')
    for (const { ended, err, out } of both) {
      expect(await ended).toBe(0)
      expect(err()).toBe('')
      expect(out()).toContain('"msg":"stopped"')
    }
  })

  test('feedline worker refuses a concurrency without a slot for each queue', async () => {
    const refused = await run('worker', '--concurrency', '1')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('a whole number from 2 to 64')
  })
})

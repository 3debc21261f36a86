import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Worker } from '../../src/jobs/worker.ts'
import { registry } from '../../src/metrics/registry.ts'
import { measureDatabase } from '../../src/observe.ts'
import { recordingLog } from '../support/jobs.ts'
import { failCommand, type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })
const clock = { skewSeconds: () => 0.25 }

/** The value of a series. Undefined if it is not exported. */
async function readMetric(series: string): Promise<number | undefined> {
  const lines = (await registry.metrics()).split('\n')
  const line = lines.find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

/** By how much a series rises during `work`. */
async function risen(series: string, work: () => Promise<unknown>): Promise<number> {
  const before = (await readMetric(series)) ?? 0
  await work()
  return ((await readMetric(series)) ?? 0) - before
}

test('a delivery counts as a job that waits, then as one done, with its lag', async () => {
  const { services } = harness
  measureDatabase({ clock: clock as never }, services)
  await openAccounts(services, [handle('a'), handle('b')])
  await services.follows.follow(handle('b'), handle('a'))
  await harness.rest()
  await services.posts.create(handle('a'), { text: 'x' })
  const waiting = { kind: 'post.created', state: 'WAITING' }
  expect(await readMetric(`feedline_jobs{kind="${waiting.kind}",state="${waiting.state}"}`)).toBe(1)
  const age = await readMetric(`feedline_jobs_oldest_seconds{kind="post.created",state="WAITING"}`)
  expect(age).toBeGreaterThanOrEqual(0)
  expect(age).toBeLessThan(30)
  const done = await risen(
    'feedline_job_runs_total{kind="post.created",outcome="done"}',
    async () => {
      const lag = 'feedline_job_lag_seconds_count{kind="post.created"}'
      expect(await risen(lag, harness.rest)).toBe(1)
    },
  )
  expect(done).toBe(1)
  expect(await readMetric('feedline_clock_skew_seconds')).toBe(0.25)
})

test('a job that fails counts as retried, and after its last try as parked', async () => {
  const { services } = harness
  const kind = 'post.created'
  const tasks = {
    [kind]: async () => {
      throw new Error('it fails')
    },
  }
  await services.posts.create(handle('a'), { text: 'y' })
  const { outbox } = services.collections
  const { log } = recordingLog()
  const run = async () => {
    await outbox.updateMany({}, { $set: { runAt: new Date(0) } })
    const options = { concurrency: 2, pollMs: 20, leaseMs: 30_000 }
    await new Worker(services.queue, tasks, log, options).drain()
  }
  const series = (outcome: string) => `feedline_job_runs_total{kind="${kind}",outcome="${outcome}"}`
  expect(await risen(series('retried'), run)).toBe(1)
  await outbox.updateMany({}, { $set: { attempts: 9 } })
  expect(await risen(series('parked'), run)).toBe(1)
  await outbox.deleteMany({})
})

test('concurrent likes of one post share batches, and each command counts once by its collection', async () => {
  const { services, database } = harness
  const people = Array.from({ length: 8 }, (_, n) => handle(`liker${n}`))
  await openAccounts(services, people)
  const post = await services.posts.create(handle('a'), { text: 'z' })
  const like = () =>
    Promise.all(people.map((actor) => services.engagements.add('likes', actor, post)))
  const sum = 'feedline_group_commit_batch_size_sum{group="engagement"}'
  const counted = 'feedline_mongodb_command_seconds_count{command="update",collection="posts"}'
  let sent = 0
  const updates = await risen(counted, async () => {
    const { commands } = await recorded(database.client, async () => {
      expect(await risen(sum, like)).toBe(people.length)
    })
    const isUpdate = ({ name, collection }: RecordedCommand) =>
      name === 'update' && collection === 'posts'
    sent = commands.filter(isUpdate).length
  })
  expect(sent).toBeGreaterThan(0)
  expect(updates).toBe(sent)
  expect(await readMetric('feedline_group_commit_waiting{group="engagement"}')).toBe(0)
})

test.each([
  ['an error of the server', { errorCode: 11_601 }, 'Interrupted', 1],
  ['a broken connection, which is tried again', { closeConnection: true }, 'MongoNetworkError', 2],
])(
  'each try of a command counts, and its failure by the name of the error: %s',
  async (_, failure, error, tries) => {
    const { client } = harness.database
    const { posts } = harness.services.collections
    const failures = `feedline_mongodb_command_failures_total{command="find",collection="posts",error="${error}"}`
    const counted = 'feedline_mongodb_command_seconds_count{command="find",collection="posts"}'
    const work = async () => {
      await using _failing = await failCommand(client, {
        failCommands: ['find'],
        times: 1,
        ...failure,
      })
      await posts.findOne({ author: handle('a') }).catch(() => {})
    }
    expect(await risen(failures, async () => expect(await risen(counted, work)).toBe(tries))).toBe(
      1,
    )
  },
)

test('a command without a known collection counts under a name that bounds the series', async () => {
  const { db } = harness.database
  const series = (command: string, collection: string) =>
    `feedline_mongodb_command_seconds_count{command="${command}",collection="${collection}"}`
  const find = () => db.collection('unheard_of').findOne({})
  expect(await risen(series('find', 'other'), find)).toBe(1)
  expect(await risen(series('ping', 'none'), () => db.command({ ping: 1 }))).toBe(1)
})

test('metrics are answered while the database does not answer, without the counts of jobs', async () => {
  const { services } = harness
  measureDatabase({ clock: clock as never }, services)
  await services.posts.create(handle('a'), { text: 'waits' })
  await sleep(2_100)
  await using _ = await failCommand(harness.database.client, {
    failCommands: ['aggregate'],
    blockMs: 2_400,
    times: 2,
  })
  const text = await registry.metrics()
  expect(text).toContain('feedline_clock_skew_seconds 0.25')
  expect(text).not.toContain('feedline_jobs{')
})

import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { TryAgain } from '../../src/db/transaction.ts'
import { Placement } from '../../src/feed/registry/placement.ts'
import { StoredRemoval } from '../../src/feed/registry/remove-stored.ts'
import { JobQueue } from '../../src/jobs/queue.ts'
import { Worker } from '../../src/jobs/worker.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { failCommand } from '../support/mongo.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts } from '../support/services.ts'

const separate = useSeparateTimelines({ maintained: ['FANOUT_ON_READ', 'INBOX'] })
/** HostUnreachable: what a router answers for a shard without a primary. */
const errorCode = 6
const writes = ['insert', 'update', 'delete']
const namespace = (collection: string) => `${separate.database.name}.${collection}`
let scenes = 0

/** A reader who follows an author and a friend. */
async function followed() {
  const { services } = separate
  const names = ['reader', 'author', 'friend'].map((name) => handle(`${name}${scenes++}`))
  const [reader, author, friend] = names as [UserId, UserId, UserId]
  await openAccounts(services, names)
  for (const followee of [author, friend]) await services.follows.follow(reader, followee)
  await services.posts.create(friend, { text: 'hello' })
  await separate.rest()
  return { reader, author, friend }
}

const page = (reader: UserId) =>
  separate.services.feed.timeline(reader, {
    window: { limit: 10, backward: false },
    ...{ projection: 'ref', strategy: 'INBOX', pending: true },
  })

test('jobs that a part of the timelines cluster fails wait, and are not parked', async () => {
  const { services, set } = separate
  const { outbox, inbox } = services.collections
  const { reader, author, friend } = await followed()
  const { id } = await services.posts.create(author, { text: 'hello' })
  await services.follows.unfollow(reader, friend)
  const queue = new JobQueue(outbox, { attemptsMax: 1 })
  const options = { concurrency: 4, pollMs: 20, leaseMs: 30_000 }
  {
    // The unfollow fails in a transaction of the cluster, which is tried for 5 s.
    await using _failpoint = await set.fail({ failCommands: writes, errorCode })
    await new Worker(queue, services.tasks, pino({ level: 'silent' }), options).drain()
    expect(services.placement.isAway).toBe(false)
  }
  const left = await outbox.find().toArray()
  expect(left.map(({ kind, state }) => [kind, state]).sort()).toEqual([
    ['follow.ended', 'READY'],
    ['post.created', 'READY'],
  ])
  await outbox.updateMany({}, { $set: { runAt: new Date(0) } })
  await separate.rest()
  const entries = await inbox.find({ '_id.reader': reader }).toArray()
  expect(entries.map(({ author: of }) => of)).toEqual([author])
  expect((await page(reader)).items.map((item) => item.id)).toEqual([id])
})

test('a job that the database fails does not wait for the timelines cluster', async () => {
  const { services, database } = separate
  const { author } = await followed()
  const { id: post } = await services.posts.create(author, { text: 'hello' })
  {
    const failCommands = ['find', 'aggregate']
    await using _failpoint = await failCommand(database.client, {
      ...{ failCommands, closeConnection: true },
    })
    const outcome = services.tasks['post.created']?.({ author, post }, joblessRun())
    await expect(outcome).rejects.toThrow(MongoNetworkError)
  }
  await separate.rest()
})

test('a page does not wait for a mark of the timelines cluster that comes late', async () => {
  const { set } = separate
  const { reader } = await followed()
  expect((await page(reader)).servedBy).toBe('INBOX')
  const late = { failCommands: ['find'], namespace: namespace('timeline_marks') }
  await using _failpoint = await set.fail({ ...late, blockTimeMS: 2_000 })
  const { servedBy, items } = await page(reader)
  expect([servedBy, items.length]).toEqual(['FANOUT_ON_READ', 1])
})

test('a drop whose last transaction is tried again ends, and leaves no mark', async () => {
  const { services } = separate
  const { strategies, timeline_marks, inbox } = services.collections
  const { registrations } = services
  const register = () => registrations.register('INBOX', services.configured.INBOX)
  const marks = () => timeline_marks.find({ _id: 'drop:INBOX' }).toArray()
  await followed()
  const last = vi.spyOn(strategies, 'deleteOne')
  last.mockRejectedValueOnce(new TryAgain('a write conflict'))
  expect(await registrations.drop('INBOX')).toBe(true)
  expect(last).toHaveBeenCalledTimes(2)
  last.mockRestore()
  expect([await marks(), await inbox.countDocuments()]).toEqual([[], 0])
  // A killed process does not remove its mark.
  const kill = () =>
    vi.spyOn(StoredRemoval.prototype, 'end').mockRejectedValueOnce(new Error('killed'))
  await register()
  for (const again of [() => registrations.drop('INBOX'), register]) {
    await registrations.register('INBOX', services.configured.INBOX)
    const killed = kill()
    await expect(registrations.drop('INBOX')).rejects.toThrow('killed')
    killed.mockRestore()
    expect(await marks()).toHaveLength(1)
    await again()
    expect(await marks()).toEqual([])
  }
  await separate.rest()
  await services.clusterRepair.run()
})

test('a job whose command always takes too long waits at first, and then counts its tries and stops no other work', async () => {
  const { services, set } = separate
  const { author } = await followed()
  const { id: post } = await services.posts.create(author, { text: 'hello' })
  const deliver = async () => services.tasks['post.created']?.({ author, post }, joblessRun())
  const clock = vi.spyOn(performance, 'now')
  const start = performance.now() + 3_600_000
  const after = async (minutes: number) => {
    clock.mockReturnValue(start + minutes * 60_000)
    return deliver().catch((error: Error) => error)
  }
  {
    await using _slow = await set.fail({ failCommands: writes, errorCode: 50 })
    expect(await after(0)).toMatchObject({ continuesInMs: 500 })
    expect(services.placement.isFailing).toBe(false)
    for (let minutes = 1; minutes < 10; minutes++)
      expect(await after(minutes)).toMatchObject({ continuesInMs: 500 })
    expect(await after(10.1)).toMatchObject({ code: 50 })
    // After two calm minutes, jobs wait again.
    expect(await after(13)).toMatchObject({ continuesInMs: 500 })
  }
  {
    await using _unreachable = await set.fail({ failCommands: writes, errorCode })
    expect(await after(14)).toMatchObject({ continuesInMs: 500 })
    expect(services.placement.isFailing).toBe(true)
  }
  clock.mockRestore()
  await separate.rest()
})

test.each([
  [
    'a router says that they took too long',
    'sharded',
    new MongoServerError({ code: 50 }),
    false,
    true,
  ],
  [
    'a primary says that they took too long',
    'e1 p1',
    new MongoServerError({ code: 50 }),
    true,
    false,
  ],
  ['a primary does not answer in time', 'e1 p1', new MongoNetworkTimeoutError('late'), true, true],
])('tries of a job whose commands %s', (_, election, error, isCounted, isFailing) => {
  const { cluster, services } = separate
  const primary = { election, hosts: ['one:27017'] }
  const slow = Object.create(cluster, { primary: { value: primary } }) as typeof cluster
  const placement = new Placement(slow, services.transactions)
  placement.verify({ mark: 'm', election }, primary)
  const clock = vi.spyOn(performance, 'now')
  for (let minutes = 0; minutes <= 11; minutes++) {
    clock.mockReturnValue(minutes * 60_000)
    const waits = isCounted && minutes >= 10 ? undefined : 500
    expect([minutes, placement.pauseAfter(error)]).toEqual([minutes, waits])
    // Work that can go on without the cluster does.
    expect([minutes, placement.isFailing]).toEqual([minutes, isFailing])
  }
  clock.mockRestore()
})

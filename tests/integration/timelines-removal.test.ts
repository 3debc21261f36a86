import { ObjectId } from 'mongodb'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { JobQueue } from '../../src/jobs/queue.ts'
import { Worker } from '../../src/jobs/worker.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts, settleDeletions } from '../support/services.ts'

const separate = useSeparateTimelines({ maintained: ['FANOUT_ON_READ', 'INBOX'] })
const fans = ['ann', 'ben', 'cat'].map(handle)
const [early, late, last] = [handle('early'), handle('late'), handle('last')]
/** More than one transaction of a removal deletes. */
const postsCount = 60

/** Runs the due jobs once. A job that fails is parked. */
async function runJobs() {
  const { collections, tasks } = separate.services
  const queue = new JobQueue(collections.outbox, { attemptsMax: 1 })
  await settleDeletions(collections)
  await collections.outbox.updateMany({ state: 'READY' }, { $set: { runAt: new Date(0) } })
  const options = { concurrency: 4, pollMs: 20, leaseMs: 30_000 }
  await new Worker(queue, tasks, pino({ level: 'silent' }), options).drain()
}

/** Runs the removal of an account once. @returns what it returned. */
async function runRemoval() {
  const { queue, tasks } = separate.services
  const [removal] = await queue.claim(30_000)
  if (removal?.kind !== 'user.deleted') throw new Error('the removal is not due')
  let job = removal
  const save = async (checkpoint: unknown, tx?: object) => {
    job = await queue.save(job, checkpoint, tx as never)
  }
  const { signal } = new AbortController()
  const { checkpoint } = removal
  const run = { job: removal, checkpoint, save, signal, inline: false }
  const outcome = await tasks[removal.kind]?.(removal.payload, run)
  await queue.release(job)
  return outcome
}

/** What the database still has of an account. */
async function leftOf(user: UserId) {
  const { posts, followers, following, engagements_by_user, users } = separate.services.collections
  const counts = await Promise.all([
    posts.countDocuments({ author: user }),
    followers.countDocuments({ user }),
    following.countDocuments({ followee: user }),
    followers.countDocuments({ follower: user }),
    engagements_by_user.countDocuments({ user }),
    users.countDocuments({ _id: user, name: { $exists: true } }),
  ])
  return counts.reduce((sum, count) => sum + count, 0)
}

const entriesOf = (author: UserId) => separate.services.collections.inbox.countDocuments({ author })

/** Runs jobs until none is left. */
async function runAllJobs(): Promise<void> {
  const countLeft = async () => {
    await runJobs()
    return separate.services.collections.outbox.countDocuments()
  }
  await expect.poll(countLeft).toBe(0)
}

test('accounts are removed from the database while the timelines cluster is away, and from timelines afterwards', async () => {
  const { services, set } = separate
  const { outbox, follow_events, users } = services.collections
  await openAccounts(services, [...fans, early, late, last])
  for (const star of [early, late]) {
    for (const fan of fans) await services.follows.follow(fan, star)
    await services.follows.follow(star, fans[0] as UserId)
    for (let n = 0; n < postsCount; n++) await services.posts.create(star, { text: 'hello' })
  }
  for (const fan of fans) await services.follows.follow(fan, last)
  const { id: only } = await services.posts.create(last, { text: 'hello' })
  const author = fans[0] as UserId
  const { id } = await services.posts.create(author, { text: 'stays' })
  for (const user of [early, late]) await services.engagements.add('likes', user, { id, author })
  await separate.rest()
  expect(await entriesOf(early)).toBe(postsCount * (fans.length + 1))
  await services.users.delete(early)
  // The cluster fails while range jobs retract the first posts.
  await runRemoval()
  expect(await outbox.countDocuments({ kind: 'user.deleted.range' })).toBe(1)
  await set.kill()
  await services.users.delete(late)
  // The retraction of the only post waits, and then has no followers' edges.
  await services.posts.delete(last, { author: last, id: only })
  await runJobs()
  await services.users.delete(last)
  const left = () => Promise.all([early, late, last].map(leftOf))
  for (let tries = 0; tries < 30 && (await left()).some((count) => count > 0); tries++)
    await runJobs()
  expect(await left()).toEqual([0, 0, 0])
  await runJobs()
  // The accounts wait for the cluster, and no job is parked.
  expect(await users.countDocuments({ _id: { $in: [early, late, last] } })).toBe(3)
  expect(await outbox.countDocuments({ state: 'PARKED' })).toBe(0)
  await set.start()
  await runAllJobs()
  expect(await Promise.all([early, late, last].map(entriesOf))).toEqual([0, 0, 0])
  expect(await entriesOf(author)).toBe(1)
  const gone = [early, late, last]
  const about = { $or: [{ user: { $in: gone } }, { followee: { $in: gone } }] }
  expect(await follow_events.countDocuments(about)).toBe(0)
  expect(await users.countDocuments({ _id: { $in: gone } })).toBe(0)
})

test('an account with more posts than a removal notes waits for the cluster, and is removed afterwards', async () => {
  const { services } = separate
  const { users, posts } = services.collections
  const full = handle('full')
  await openAccounts(services, [full])
  await services.follows.follow(fans[0] as UserId, full)
  await services.posts.create(full, { text: 'hello' })
  await separate.rest()
  await services.users.delete(full)
  const unretracted = Array.from({ length: 20_000 }, () => new ObjectId())
  await users.updateOne({ _id: full }, { $set: { unretracted } })
  vi.spyOn(services.users, 'loadUnretracted').mockResolvedValue([])
  const failing = vi.spyOn(services.placement, 'isFailing', 'get').mockReturnValue(true)
  await runJobs()
  expect(await posts.countDocuments({ author: full })).toBe(1)
  failing.mockReturnValue(false)
  // The post's range job retracts it, before the edges are removed.
  await runJobs()
  expect(await posts.countDocuments({ author: full })).toBe(0)
  await runAllJobs()
  expect(await entriesOf(full)).toBe(0)
  expect(await users.countDocuments({ _id: full })).toBe(0)
  vi.restoreAllMocks()
})

test('a removal whose range an operator dropped leaves the queue of ranges while the timelines cluster fails', async () => {
  const { services } = separate
  const { outbox, users } = services.collections
  const user = handle('dropped')
  await openAccounts(services, [user])
  await services.follows.follow(fans[0] as UserId, user)
  await services.posts.create(user, { text: 'hello' })
  await separate.rest()
  await services.users.delete(user)
  const failing = vi.spyOn(services.placement, 'isFailing', 'get').mockReturnValue(false)
  await runRemoval()
  const queue = async () => (await outbox.findOne({ kind: 'user.deleted' }))?.queue
  expect(await queue()).toBe('RANGE')
  await outbox.deleteOne({ kind: 'user.deleted.range' })
  await outbox.updateMany({}, { $set: { runAt: new Date(0) } })
  failing.mockReturnValue(true)
  await runRemoval()
  failing.mockRestore()
  expect(await queue()).toBe('BULK')
  await separate.rest()
  expect([await entriesOf(user), await users.countDocuments({ _id: user })]).toEqual([0, 0])
})

test('noted posts leave timelines in steps of 50,000 entries, which read the registrations once', async () => {
  const { services } = separate
  const { users, follow_events } = services.collections
  const user = handle('prolific')
  await openAccounts(services, [user])
  for (const fan of fans) await services.follows.follow(fan, user)
  const { id } = await services.posts.create(user, { text: 'hello' })
  await separate.rest()
  await services.users.delete(user)
  const unretracted = Array.from({ length: 20_000 }, () => new ObjectId())
  unretracted[0] = toObjectId(id)
  await users.updateOne({ _id: user }, { $set: { unretracted } })
  vi.spyOn(services.placement, 'isFailing', 'get').mockReturnValue(false)
  const steps = vi.spyOn(follow_events, 'deleteMany')
  const inboxes = services.strategies.INBOX
  const remove = inboxes.remove.bind(inboxes)
  // Entries that were never stored need no command.
  const removals = vi
    .spyOn(inboxes, 'remove')
    .mockImplementation(async (readers, posts, ...rest) => {
      if (posts.includes(id)) await remove(readers, posts, ...rest)
    })
  const reads = vi.spyOn(services.registry, 'readFor')
  await separate.rest()
  expect(await entriesOf(user)).toBe(0)
  expect(await users.countDocuments({ _id: user })).toBe(0)
  const sizes = steps.mock.calls.map(([filter]) => Object.values(filter?._id ?? {})[0]?.length)
  // Two readers have 40,000 of the entries, and three would have 60,000.
  expect(sizes).toEqual([2, 1])
  const noteds = removals.mock.calls.filter(([, posts]) => posts.length > 50)
  expect(noteds.map(([readers, posts]) => [readers.length, posts.length])).toEqual([
    ...Array.from({ length: 20 }, () => [2, 1_000]),
    ...Array.from({ length: 20 }, () => [1, 1_000]),
  ])
  expect(reads.mock.calls.length).toBeLessThan(10)
  vi.restoreAllMocks()
})

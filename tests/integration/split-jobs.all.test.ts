import type { CommandSucceededEvent } from 'mongodb'
import { beforeEach, expect, test, vi } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Job } from '../../src/jobs/queue.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { manyFollowers, openFollowedAuthor } from '../support/followed-author.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, settleDeletions, useServices } from '../support/services.ts'

const author = handle('author')
const followerCount = 9_000
const followers = manyFollowers(followerCount)
const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })
const collections = () => harness.services.collections

/** An author whose followers have edges and accounts, but no history. */
beforeEach(async () => {
  const { services } = harness
  if (await services.collections.user_stats.findOne({ _id: author })) return
  await openFollowedAuthor(harness, author, followers)
})

/** Publishes a post, whose delivery is left to workers. */
const publish = async (): Promise<PostId> =>
  (await harness.services.posts.create(author, { text: 'hello' })).id
const isPending = (reader: UserId) => harness.services.pending.hasPendingPosts(reader)
const countEntries = () => collections().inbox.countDocuments({ '_id.reader': { $ne: '' } })

/** Runs a job once, as a worker that is killed by `save` if that rejects. */
const runOnce = async (job: Job, save = async (_: unknown, tx?: object) => saveOf(job, _, tx)) =>
  harness.services.tasks[job.kind]?.(job.payload, {
    ...{ job, checkpoint: undefined, save, signal: new AbortController().signal, inline: false },
  })
const saveOf = async (job: Job, checkpoint: unknown, tx?: object) => {
  await harness.services.queue.save(job, checkpoint, tx as never)
}

/** Claims the oldest job of a queue. */
const claim = async (queue: 'BULK' | 'RANGE'): Promise<Job> => {
  const [job] = await harness.services.queue.claim(30_000, { queues: [queue] })
  if (!job) throw new Error(`no job of ${queue} is due`)
  return job
}

/** Claims the job of a kind, which is the oldest one. */
const claimKind = async (kind: string): Promise<Job> => {
  const [job] = await harness.services.queue.claim(30_000)
  if (job?.kind !== kind) throw new Error(`${kind} is not due`)
  return job
}

/** The queues to which jobs were moved. */
const queuesOf = (commands: readonly RecordedCommand[]) =>
  commands
    .filter(({ name, collection }) => name === 'update' && collection === 'outbox')
    .flatMap(({ command }) => command.updates as { u: { $set?: { queue?: string } } }[])
    .flatMap(({ u }) => u.$set?.queue ?? [])

const count = (labels: readonly string[], label: string) =>
  labels.filter((one) => one === label).length

test('a back-fill of many readers is split, and covers exactly the readers that its ranges have filled', async () => {
  const { registry, registrations, queue } = harness.services
  const post = await publish()
  await harness.rest()
  await collections().inbox.deleteMany({})
  expect(await registrations.rebuild('INBOX')).toBe(true)
  const parent = await claim('BULK')
  await runOnce(parent)
  await queue.release(parent, 60_000)
  // Killed after its first 200 readers.
  const cut = async () => Promise.reject(new Error('cut off'))
  await expect(runOnce(await claim('RANGE'), cut)).rejects.toThrow('cut off')
  const registration = (await registry.read()).get('INBOX')
  expect(registration).toMatchObject({ complete: false, covered: '', readers: { done: 200 } })
  expect(registration?.split).toHaveLength(16)
  const filled = await collections().inbox.distinct('_id.reader')
  expect(filled).toHaveLength(200)
  for (const reader of [filled[0], filled.at(-1), followers[5_000]] as UserId[]) {
    const window = { limit: 1, backward: false }
    const page = await harness.services.feed.timeline(reader, {
      ...{ window, strategy: 'INBOX' as const, projection: 'ref' as const },
    })
    expect(page.items.map(({ post }) => post.id)).toEqual([post])
    expect(page.servedBy).toBe(filled.includes(reader) ? 'INBOX' : 'FANOUT_ON_READ')
  }
  await harness.rest()
  expect((await registry.read()).get('INBOX')).toMatchObject({ complete: true })
  expect((await registry.read()).get('INBOX')?.split).toBeUndefined()
  expect(await countEntries()).toBe(followerCount + 1)
  await collections().posts.deleteMany({})
  await collections().inbox.deleteMany({})
})

test('a delivery to 9,000 followers is split into four ranges after its first 2,000, and is pending until the last one ends', async () => {
  const { client } = harness.database
  await publish()
  expect(await collections().outbox.find().toArray()).toMatchObject([{ queue: 'BULK' }])
  const { commands } = await recorded(client, async () => {
    await harness.rest()
  })
  const labels = labelsOf(commands)
  expect(await countEntries()).toBe(followerCount + 1)
  // Four windows of 500, five times, and the author. The last window has 1,000 followers.
  expect(count(labels, 'insert inbox')).toBe(1 + followerCount / 500)
  // The ends of four ranges. Facts read the followers themselves.
  expect(count(labels, 'read followers')).toBe(4)
  // After each window, whether the post is still there.
  expect(count(labels, 'read posts')).toBe(5)
  expect(await isPending(followers[0] as UserId)).toBe(false)
})

test('a retraction from 9,000 followers is split, and leaves no entry', async () => {
  const [entry] = await collections().inbox.find().limit(1).toArray()
  const id = entry?._id.post.toHexString() as PostId
  expect(await countEntries()).toBe(followerCount + 1)
  await harness.services.posts.delete(author, { id, author })
  await harness.rest()
  expect(await countEntries()).toBe(0)
})

test('pending stays true for the followers of all ranges until the last range has ended', async () => {
  const { outbox } = collections()
  await publish()
  await harness.rest()
  const post = await publish()
  const parent = await claim('BULK')
  await runOnce(parent)
  await harness.services.queue.release(parent, 60_000)
  expect(await outbox.countDocuments({ kind: 'post.created.range', 'payload.post': post })).toBe(4)
  expect(await isPending(followers[0] as UserId)).toBe(true)
  expect(await isPending(followers.at(-1) as UserId)).toBe(true)
  await harness.rest()
  expect(await isPending(followers.at(-1) as UserId)).toBe(false)
  expect(await outbox.countDocuments()).toBe(0)
})

test('a range of a delivery that yields goes before other ranges again', async () => {
  await publish()
  const parent = await claim('BULK')
  await runOnce(parent)
  await harness.services.queue.release(parent, 60_000)
  const job = await claim('RANGE')
  const range = { ...(job.payload.range as object), after: '', upTo: undefined }
  // The time slice is over after the first window. Until then time stands still, or what waits for
  // its batch would be refused.
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const written = ({ commandName }: CommandSucceededEvent) => {
    if (commandName === 'insert') now += 60_000
  }
  const client = harness.database.client.on('commandSucceeded', written)
  try {
    const left = await runOnce({ ...job, payload: { ...job.payload, range } } as never)
    expect(left).toEqual({ continuesInMs: -20_000 })
  } finally {
    client.off('commandSucceeded', written)
    clock.mockRestore()
  }
  await harness.services.queue.release(job, -20_000)
  const [released] = await collections()
    .outbox.find({ _id: toObjectId(job.id) })
    .toArray()
  expect(Date.now() - (released?.runAt.getTime() ?? 0)).toBeGreaterThan(19_000)
  await harness.rest()
})

test('a worker that has lost its lease does not move a range back, and a new rebuild cancels all ranges', async () => {
  const { registry, registrations } = harness.services
  await registrations.rebuild('INBOX')
  const parent = await claim('BULK')
  await runOnce(parent)
  const [range] = (await registry.read()).get('INBOX')?.split ?? []
  const epoch = parent.payload.epoch as PostId
  const own = { after: range?.after ?? '' }
  await registry.saveRange('INBOX', epoch, own, { covered: followers[300] as UserId, done: 200 })
  await registry.saveRange('INBOX', epoch, own, { covered: followers[100] as UserId, done: 200 })
  const [after] = (await registry.read()).get('INBOX')?.split ?? []
  expect(after?.covered).toBe(followers[300])
  await collections().outbox.updateOne(
    { kind: 'strategy.backfill.range' },
    { $set: { state: 'PARKED' } },
  )
  expect(await registrations.restoreJobs()).toMatchObject([{ name: 'INBOX', job: 'PARKED' }])
  await registrations.rebuild('INBOX')
  const kinds = await collections().outbox.distinct('kind')
  expect(kinds).toEqual(['strategy.backfill'])
  await harness.rest()
  expect((await registry.read()).get('INBOX')).toMatchObject({ complete: true })
})

test('the purge of an author with 9,000 followers is split: ranges retract the posts, then ranges remove the edges', async () => {
  const { users, queue } = harness.services
  const { outbox, followers: edges, follow_events, user_stats } = collections()
  await publish()
  await harness.rest()
  expect(await countEntries()).toBeGreaterThanOrEqual(followerCount)
  await users.delete(author)
  await settleDeletions(collections())
  const parent = await claimKind('user.deleted')
  await runOnce(parent)
  await queue.release(parent, 60_000)
  expect(await collections().posts.countDocuments()).toBe(0)
  const ranges = await outbox.find({ kind: 'user.deleted.range' }).toArray()
  expect(ranges).toHaveLength(4)
  expect(ranges.every(({ payload }) => Array.isArray(payload.posts))).toBe(true)
  expect(await edges.countDocuments({ user: author })).toBe(followerCount)
  const { commands } = await recorded(harness.database.client, async () => {
    await harness.rest()
  })
  expect(await countEntries()).toBe(0)
  expect(await edges.countDocuments({ user: author })).toBe(0)
  expect(await follow_events.countDocuments({ followee: author })).toBe(0)
  expect(await user_stats.countDocuments({ following: { $ne: 0 }, _id: { $in: followers } })).toBe(
    0,
  )
  expect(await collections().users.countDocuments({ _id: author })).toBe(0)
  expect(await outbox.countDocuments()).toBe(0)
  // The work after the ranges leaves their slot.
  expect(queuesOf(commands)).toContain('BULK')
  // The edges were removed by ranges too.
  const inserted = commands.filter(({ name, collection }) => {
    return name === 'update' && collection === 'outbox'
  })
  const kinds = inserted.flatMap(({ command }) => JSON.stringify(command.updates ?? []))
  expect(kinds.some((one) => one.includes('user.deleted.range'))).toBe(true)
})

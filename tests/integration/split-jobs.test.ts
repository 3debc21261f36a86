import { beforeEach, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const author = handle('author')
const followerCount = 9_000
const followers = Array.from({ length: followerCount }, (_, n) =>
  handle(`f${String(n).padStart(5, '0')}`),
)
const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })
const collections = () => harness.services.collections

/** An author whose followers have edges and accounts, but no history. */
beforeEach(async () => {
  const { services } = harness
  if (await services.collections.user_stats.findOne({ _id: author })) return
  await openAccounts(services, [author, ...followers])
  const edges = followers.map((follower) => ({ follower, source: 'IMPORT' as const }))
  const { followers: back, following, user_stats } = services.collections
  await back.insertMany(edges.map((edge) => ({ ...edge, user: author })) as never[])
  await following.insertMany(
    edges.map(({ follower, source }) => ({ user: follower, followee: author, source })) as never[],
  )
  await user_stats.updateOne({ _id: author }, { $set: { followers: followerCount } })
})

/** Publishes a post, whose delivery is left to workers. */
const publish = async (): Promise<PostId> =>
  (await harness.services.posts.create(author, { text: 'hello' })).id
const isPending = (reader: UserId) => harness.services.pending.hasPendingPosts(reader)
const countEntries = () => collections().inbox.countDocuments({ '_id.reader': { $ne: '' } })
const count = (labels: readonly string[], label: string) =>
  labels.filter((one) => one === label).length

test('a back-fill of many readers is split, and covers exactly the readers that its ranges have filled', async () => {
  const { registry, registrations, tasks, queue } = harness.services
  const post = await publish()
  await harness.rest()
  await collections().inbox.deleteMany({})
  expect(await registrations.rebuild('INBOX')).toBe(true)
  const [parent] = await queue.claim(30_000, { queues: ['BULK'] })
  if (!parent) throw new Error('the back-fill is not due')
  const save = async (checkpoint: unknown, tx?: object) => {
    await queue.save(parent, checkpoint, tx as never)
  }
  const signal = new AbortController().signal
  await tasks[parent.kind]?.(parent.payload, {
    ...{ job: parent, checkpoint: undefined, save, signal, inline: false },
  })
  await queue.release(parent, 60_000)
  const [range] = await queue.claim(30_000, { queues: ['RANGE'] })
  if (!range) throw new Error('no range is due')
  // Killed after its first 200 readers.
  const cut = async () => Promise.reject(new Error('cut off'))
  await expect(
    tasks[range.kind]?.(range.payload, {
      ...{ job: range, checkpoint: undefined, save: cut, signal, inline: false },
    }),
  ).rejects.toThrow('cut off')
  const registration = (await registry.read()).get('INBOX')
  expect(registration).toMatchObject({ complete: false, covered: '', readers: { done: 200 } })
  expect(registration?.split?.ranges).toHaveLength(16)
  const filled = await collections().inbox.distinct('_id.reader')
  expect(filled).toHaveLength(200)
  for (const reader of [filled[0], filled.at(-1), followers[5_000]] as UserId[]) {
    const window = { limit: 1, backward: false }
    const page = await harness.services.feed.timeline(reader, {
      ...{ window, strategy: 'INBOX' as const, projection: 'ref' as const },
    })
    expect(page.items.map(({ id }) => id)).toEqual([post])
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
  const { queue, tasks } = harness.services
  const [parent] = await queue.claim(30_000, { queues: ['BULK'] })
  if (!parent) throw new Error('the delivery is not due')
  const save = async (checkpoint: unknown, tx?: object) => {
    await queue.save(parent, checkpoint, tx as never)
  }
  const signal = new AbortController().signal
  await tasks[parent.kind]?.(parent.payload, {
    ...{ job: parent, checkpoint: undefined, save, signal, inline: false },
  })
  await queue.release(parent, 60_000)
  expect(await outbox.countDocuments({ kind: 'post.created.range', 'payload.post': post })).toBe(4)
  expect(await isPending(followers[0] as UserId)).toBe(true)
  expect(await isPending(followers.at(-1) as UserId)).toBe(true)
  await harness.rest()
  expect(await isPending(followers.at(-1) as UserId)).toBe(false)
  expect(await outbox.countDocuments()).toBe(0)
})

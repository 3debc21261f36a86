import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, {
  strategy: 'INBOX',
  maintained: ['FANOUT_ON_READ', 'INBOX'],
})
const readers = ['r1', 'r2', 'r3'].map(handle)
let authors = 0

beforeAll(async () => {
  await openAccounts(harness.services, readers)
  harness.services.inline.start(harness.services.tasks, pino({ level: 'silent' }))
})
// With a permit, these posts have no job.
beforeEach(() => {
  vi.spyOn(harness.services.permit, 'current').mockReturnValue(undefined)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await harness.services.inline.settle()
})

/** Opens an author with all readers but the last as followers. */
async function newAuthor(): Promise<UserId> {
  const author = handle(`author${authors++}`)
  await openAccounts(harness.services, [author])
  for (const reader of readers.slice(0, -1)) await harness.services.follows.follow(reader, author)
  await harness.rest()
  return author
}

const timelinesWith = async (post: PostId): Promise<string[]> => {
  const found = await harness.services.collections.inbox.find().toArray()
  const own = found.filter((entry) => entry._id.post.toHexString() === post)
  return own.map(({ _id }) => _id.reader).sort()
}
const waiting = () => harness.services.collections.outbox.find({ kind: 'post.created' }).toArray()

/** Does `work` while the transaction of the next post is open, after it has read the followers. */
function duringTransaction(work: () => Promise<unknown> | undefined) {
  const { edges } = harness.services
  const load = edges.loadFollowers.bind(edges)
  return vi.spyOn(edges, 'loadFollowers').mockImplementationOnce(async (...given) => {
    const found = await load(...given)
    await work()
    return found
  })
}

test('a post to a small audience is delivered by its transaction, and its job ends later', async () => {
  const author = await newAuthor()
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2'])
  expect(await waiting()).toMatchObject([{ fence: 1, leased: expect.any(String) }])
  await harness.services.inline.settle()
  expect(await waiting()).toEqual([])
})

test('the job of a delivered post ends without a stop of the process', async () => {
  await harness.services.posts.create(await newAuthor(), { text: 'hello' })
  await expect.poll(waiting).toEqual([])
})

test('a strategy that is registered during the transaction of a post gets the post too', async () => {
  const { posts, registrations, configured, collections, inline } = harness.services
  const author = await newAuthor()
  const seen = duringTransaction(async () => {
    await registrations.register('SIZED_BUCKETS', configured.SIZED_BUCKETS)
    // Its back-fill has passed these readers before the post was committed.
    await collections.outbox.deleteMany({ kind: 'strategy.backfill' })
  })
  await posts.create(author, { text: 'hello' })
  expect(seen).toHaveBeenCalledTimes(1)
  expect(await collections.sized_buckets.countDocuments()).toBe(0)
  await inline.settle()
  const buckets = await collections.sized_buckets.find({ reader: { $in: ['r1', 'r2'] } }).toArray()
  expect(buckets.map(({ entries }) => entries.length)).toEqual([1, 1])
  expect(await waiting()).toEqual([])
  await collections.strategies.deleteOne({ _id: 'SIZED_BUCKETS' })
  await harness.services.registry.read()
})

test('a user who follows the author during the transaction of a post gets the post', async () => {
  const { posts, follows } = harness.services
  const author = await newAuthor()
  let followed: Promise<unknown> | undefined
  duringTransaction(async () => {
    followed = follows.follow(handle('r3'), author)
  })
  const { id } = await posts.create(author, { text: 'hello' })
  await followed
  await harness.rest()
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2', 'r3'])
})

test('a process that dies after the commit leaves the job to a worker, which changes nothing', async () => {
  const author = await newAuthor()
  const settle = vi.spyOn(harness.services.queue, 'complete').mockRejectedValueOnce(new Error('no'))
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  await harness.services.inline.settle()
  expect(settle).toHaveBeenCalledTimes(1)
  expect(await waiting()).toHaveLength(1)
  await harness.rest()
  expect(await waiting()).toEqual([])
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2'])
})

test('a larger audience is delivered by workers, and only the author by the process', async () => {
  const { posts, collections } = harness.services
  const author = await newAuthor()
  await collections.user_stats.updateOne({ _id: author }, { $set: { followers: 201 } })
  const { id } = await posts.create(author, { text: 'hello' })
  expect(await timelinesWith(id)).toEqual([author])
  expect(await waiting()).toMatchObject([{ checkpoint: { after: '' } }])
  await harness.rest()
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2'])
})

test('a damaged edge of authors to themselves refuses no post', async () => {
  const { posts, edges } = harness.services
  const author = await newAuthor()
  const { collection } = edges.followers
  const [edge] = await collection.find({ user: author }).toArray()
  if (!edge) throw new Error('the author has no followers')
  await collection.insertOne({ ...edge, _id: undefined, follower: author } as never)
  const { id } = await posts.create(author, { text: 'hello' })
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2'])
})

test('the entries of a strategy that ended unseen are removed', async () => {
  const { posts, inline, collections, registry } = harness.services
  const author = await newAuthor()
  const registered = await collections.strategies.findOneAndDelete({ _id: 'INBOX' })
  const { id } = await posts.create(author, { text: 'hello' })
  expect(await timelinesWith(id)).toEqual([author, 'r1', 'r2'])
  await inline.settle()
  expect(await timelinesWith(id)).toEqual([])
  expect(await waiting()).toEqual([])
  if (registered) await collections.strategies.insertOne(registered)
  await registry.read()
})

test('jobs that were settled hold no memory of those before them', async () => {
  const { posts, inline } = harness.services
  const author = await newAuthor()
  for (let times = 0; times < 3; times++) {
    await posts.create(author, { text: 'hello' })
    await inline.settle()
  }
  expect(await (inline as unknown as { settling: Promise<unknown> }).settling).toBeUndefined()
})

// The last test, because no job is begun for 10 s after it.
test('a fault of stored timelines refuses no post, and its job delivers later', async () => {
  const { posts, collections } = harness.services
  const author = await newAuthor()
  const insert = vi.spyOn(collections.inbox, 'insertMany').mockRejectedValue(new Error('refused'))
  const { id } = await posts.create(author, { text: 'hello' })
  const next = await posts.create(author, { text: 'hello again' })
  // The first try and the job of the first post, then the job of the second one.
  expect(insert).toHaveBeenCalledTimes(3)
  expect(await timelinesWith(id)).toEqual([])
  vi.restoreAllMocks()
  harness.clock.advance(60_000)
  await harness.rest()
  for (const post of [id, next.id]) expect(await timelinesWith(post)).toEqual([author, 'r1', 'r2'])
})

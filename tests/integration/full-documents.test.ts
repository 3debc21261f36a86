import { expect, test } from 'vitest'
import { highestId, lowestId, toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt } from '../../src/lib/ids.ts'
import { handle, openAccounts, storeOf, useServices } from '../support/services.ts'

// The largest sizes that may be configured, with the longest handles and texts.
const size = 4_000
const maintained = ['CACHE', 'SIZED_BUCKETS', 'TIME_BUCKETS'] as const
const harness = useServices('collection', undefined, {
  cacheSize: size,
  sizedBucketSize: size,
  entries: 'text',
  maintained,
})
const [reader, author] = [handle('r'.repeat(64)), handle('a'.repeat(64))]
const text = '€'.repeat(1_000)
const startMs = Date.UTC(2026, 0, 1)
const idAt = (n: number) => timeIdAt<PostId>(startMs + n, n.toString(16).padStart(12, '0'))

test('a document with the most and largest entries accepts deliveries and serves pages', async () => {
  const { services } = harness
  const { collections } = services
  await openAccounts(services, [reader, author])
  await services.follows.follow(reader, author)
  await harness.rest()
  const entriesOf = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ post: toObjectId(idAt(n)), author, text }))
  const epoch = (await collections.strategies.findOne({ _id: 'CACHE' }))?.epoch ?? lowestId
  const cached = { epoch, entries: entriesOf(size + 1).reverse(), floor: lowestId }
  await collections.timeline_cache.insertOne({ _id: reader, ...cached, expiresAt: new Date(4e12) })
  const open = { open: true, count: size - 1, newest: highestId, oldest: lowestId } as const
  const bucket = { _id: toObjectId(idAt(0)), reader, ...open, entries: entriesOf(size - 1) }
  await collections.sized_buckets.insertOne(bucket)
  const period = Math.floor(startMs / (7 * 86_400_000))
  await collections.timed_buckets.insertOne({ _id: { reader, period }, entries: entriesOf(1_999) })
  const newest = Array.from({ length: 3 }, (_, n) => ({ id: idAt(size + 10 + n), author, text }))
  const posts = newest.map(({ id }) => ({ _id: toObjectId(id), author, text }))
  await collections.posts.insertMany(posts)
  for (const name of maintained) {
    const store = await storeOf(services, name)
    for (const entry of newest.slice(0, 2)) await store.deliver(entry, [reader])
    const late = { entries: newest.slice(2), newest: true, oldest: false }
    await store.merge(reader, late)
    const window = { limit: 2, backward: false }
    const page = await services.feed.timeline(reader, {
      window,
      strategy: name,
      projection: 'text',
    })
    expect(page.items.map(({ post }) => post.id)).toEqual(
      newest
        .slice(1)
        .map(({ id }) => id)
        .reverse(),
    )
  }
})

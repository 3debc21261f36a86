import { beforeEach, describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const feed = {
  strategy: 'HYBRID',
  maintained: ['FANOUT_ON_READ', 'HYBRID'],
  hybridThreshold: 5,
} as const
const harness = useServices('collection', undefined, feed)
let scenes = 0
let author: UserId
let fans: UserId[]
let posts: PostId[]

beforeEach(async () => {
  const scene = `h${scenes++}-`
  author = handle(`${scene}author`)
  fans = Array.from({ length: 6 }, (_, n) => handle(`${scene}fan${n}`))
  posts = []
  await openAccounts(harness.services, [author, ...fans])
})

const follow = async (...some: UserId[]) => {
  for (const fan of some) await harness.services.follows.follow(fan, author)
}
const unfollow = async (...some: UserId[]) => {
  for (const fan of some) await harness.services.follows.unfollow(fan, author)
}
const publish = async () => {
  posts.unshift((await harness.services.posts.create(author, { text: 'x' })).id)
}
const publishAndDeliver = async () => {
  await publish()
  await harness.rest()
}
const page = async (reader: UserId, services = harness.services) => {
  const window = { limit: 20, backward: false }
  const found = await services.feed.timeline(reader, { window, depth: 'ref' })
  expect(found.servedBy).toBe('HYBRID')
  return found.items.map(({ id }) => id)
}
const inboxOf = async (reader: UserId) => {
  const { inbox } = harness.services.collections
  const found = await inbox.find({ '_id.reader': reader }).sort({ _id: -1 }).toArray()
  return found.map(({ _id }) => _id.post.toHexString())
}
const mark = () => harness.services.collections.celebrities.findOne({ _id: author })

describe('an author who comes to have very many followers', () => {
  test('is delivered below the threshold, read from it on, and nothing is lost in between', async () => {
    await follow(...fans.slice(0, 4))
    await publishAndDeliver()
    expect(await mark()).toBeNull()
    await follow(...fans.slice(4))
    await harness.rest()
    await publishAndDeliver()
    await publishAndDeliver()
    expect(await mark()).toEqual({ _id: author })
    for (const reader of [author, ...fans]) {
      expect(await page(reader)).toEqual(posts)
      expect(await inboxOf(reader)).toEqual(posts.slice(2))
    }
  })

  test('is read by whoever follows later, without a back-fill', async () => {
    await follow(...fans.slice(0, 5))
    await publishAndDeliver()
    await follow(...fans.slice(5))
    await harness.rest()
    const [last] = fans.slice(5) as [UserId]
    expect(await page(last)).toEqual(posts)
    expect(await inboxOf(last)).toEqual([])
  })

  test('is read at once by a process that knew nothing of it', async () => {
    const other = servicesOver(
      harness.database,
      harness.clock,
      { thresholds: { likes: 3, comments: 3, shares: 3 }, capacity: 2 },
      'collection',
      feed,
    )
    await follow(...fans)
    const [reader] = fans as [UserId]
    expect(await page(reader, other)).toEqual([])
    await publishAndDeliver()
    expect(await page(reader, other)).toEqual(posts)
  })
})

describe('an author who has few followers again', () => {
  beforeEach(async () => {
    await follow(...fans)
    await publishAndDeliver()
    await publishAndDeliver()
    expect(await mark()).toEqual({ _id: author })
  })

  test('stays as they are a little below the threshold', async () => {
    await unfollow(...fans.slice(4))
    await publishAndDeliver()
    expect(await mark()).toEqual({ _id: author })
    expect(await page(fans[0] as UserId)).toEqual(posts)
  })

  test('is delivered again, and what was left out is delivered before the mark is lifted', async () => {
    await unfollow(...fans.slice(2))
    await publish()
    expect(await page(fans[0] as UserId)).toEqual(posts)
    await harness.rest()
    expect(await mark()).toBeNull()
    for (const reader of [author, ...fans.slice(0, 2)]) {
      expect(await page(reader)).toEqual(posts)
      expect(await inboxOf(reader)).toEqual(posts)
    }
    for (const reader of fans.slice(2)) expect(await page(reader)).toEqual([])
  })

  test('and rises while falling, is read: the fall that goes on then lifts nothing', async () => {
    await unfollow(...fans.slice(2))
    await publish()
    const { outbox } = harness.services.collections
    const created = await outbox.findOne({ kind: 'post.created' })
    const run = { checkpoint: undefined, inline: false, save: async () => {} }
    const signal = new AbortController().signal
    await harness.services.tasks['post.created']?.(created?.payload ?? {}, { ...run, signal })
    const fell = await outbox.findOne({ kind: 'author.fell' })
    expect((await mark())?.falling).toBeDefined()
    await follow(...fans.slice(2))
    await publishAndDeliver()
    expect(await mark()).toEqual({ _id: author })
    await harness.services.tasks['author.fell']?.(fell?.payload ?? {}, { ...run, signal })
    expect(await mark()).toEqual({ _id: author })
    for (const reader of [author, ...fans]) expect(await page(reader)).toEqual(posts)
  })

  test('and leaves, is no longer marked', async () => {
    await harness.services.users.delete(author)
    expect(await page(fans[0] as UserId)).toEqual([])
    await harness.rest()
    expect(await mark()).toBeNull()
  })
})

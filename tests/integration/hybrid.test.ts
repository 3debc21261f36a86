import { beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { explained, statementsOf } from '../explained/statements/explain.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { recorded } from '../support/mongo.ts'
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
  const found = await services.feed.timeline(reader, { window, projection: 'ref' })
  expect(found.servedBy).toBe('HYBRID')
  return found.items.map(({ post }) => post.id)
}
const inboxOf = async (reader: UserId) => {
  const { inbox } = harness.services.collections
  const found = await inbox.find({ '_id.reader': reader }).sort({ _id: -1 }).toArray()
  return found.map(({ _id }) => _id.post.toHexString())
}
/** Delivers a post with few followers left. The job of the demotion stays in the outbox. */
const beginDemotion = async () => {
  await unfollow(...fans.slice(2))
  await publish()
  await runJob('post.created', { post: posts[0] })
}
const runJob = async (kind: 'post.created', about: { post: PostId | undefined }) => {
  const { outbox } = harness.services.collections
  const job = await outbox.findOneAndDelete({ kind, 'payload.post': about.post })
  expect(job).not.toBeNull()
  await harness.services.tasks[kind]?.(job?.payload ?? {}, joblessRun())
}
const read = () => ({ _id: author, readFrom: expect.anything() })
const mark = () => harness.services.collections.celebrities.findOne({ _id: author })

describe('HYBRID, a growing author', () => {
  test('posts are delivered below the threshold and read from it on, and timelines lack none (HYBRID)', async () => {
    await follow(...fans.slice(0, 4))
    await publishAndDeliver()
    expect(await mark()).toBeNull()
    await follow(...fans.slice(4))
    await harness.rest()
    await publishAndDeliver()
    await publishAndDeliver()
    await publishAndDeliver()
    expect(await mark()).toEqual(read())
    for (const reader of [author, ...fans]) {
      expect(await page(reader)).toEqual(posts)
      // The delivery of the second post began the promotion: the post was delivered, and each follower got the note.
      expect(await inboxOf(reader)).toEqual(posts.slice(2))
    }
  })

  test('a later follower of a celebrity reads its posts without a back-fill (HYBRID)', async () => {
    await follow(...fans.slice(0, 5))
    await publishAndDeliver()
    await follow(...fans.slice(5))
    await harness.rest()
    const [last] = fans.slice(5) as [UserId]
    expect(await page(last)).toEqual(posts)
    expect(await inboxOf(last)).toEqual([])
  })

  test('another process reads the posts of a celebrity on its next page (HYBRID)', async () => {
    const other = servicesOver(
      harness.database,
      harness.clock,
      sameLimits({ threshold: 3, capacity: 2 }),
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

describe('HYBRID, a shrinking author', () => {
  beforeEach(async () => {
    await follow(...fans)
    await publishAndDeliver()
    await publishAndDeliver()
    expect(await mark()).toEqual(read())
  })

  test('a celebrity slightly below the threshold is not demoted (HYBRID)', async () => {
    await unfollow(...fans.slice(4))
    await publishAndDeliver()
    expect(await mark()).toEqual(read())
    expect(await page(fans[0] as UserId)).toEqual(posts)
  })

  test('a demotion delivers the posts that were left out, then ends (HYBRID)', async () => {
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

  test('an author promoted again during a demotion is read, and the late job of the demotion changes nothing (HYBRID)', async () => {
    await beginDemotion()
    const { outbox } = harness.services.collections
    const demotion = await outbox.findOneAndDelete({ kind: 'author.demoted' })
    expect((await mark())?.demoting).toBeDefined()
    await follow(...fans.slice(2))
    await publishAndDeliver()
    expect(await mark()).toEqual(read())
    await harness.services.tasks['author.demoted']?.(demotion?.payload ?? {}, joblessRun())
    expect(await mark()).toEqual(read())
    for (const reader of [author, ...fans]) expect(await page(reader)).toEqual(posts)
  })

  test('an author promoted again at the moment a demotion ends is read (HYBRID)', async () => {
    await beginDemotion()
    await follow(...fans.slice(2))
    const { celebrities } = harness.services.collections
    const find = celebrities.findOne.bind(celebrities) as (...args: unknown[]) => Promise<unknown>
    const found = vi.spyOn(celebrities, 'findOne') as MockInstance<typeof find>
    found.mockImplementationOnce(async (...args) => {
      const demoting = await find(...args)
      await celebrities.deleteOne({ _id: author })
      return demoting
    })
    await publish()
    await runJob('post.created', { post: posts[0] })
    await harness.rest()
    expect(await mark()).toEqual(read())
    for (const reader of [author, ...fans]) expect(await page(reader)).toEqual(posts)
  })

  test('a deleted celebrity is no longer marked (HYBRID)', async () => {
    await harness.services.users.delete(author)
    expect(await page(fans[0] as UserId)).toEqual([])
    await harness.rest()
    expect(await mark()).toBeNull()
  })
})

describe('HYBRID, a celebrity', () => {
  const all = async () => harness.services.collections.celebrities.countDocuments()

  test('a page costs the same with 3,000 celebrities that the reader does not follow (HYBRID)', async () => {
    const { collections } = harness.services
    const strangers = Array.from({ length: 3_000 }, (_, n) => ({ _id: `stranger${n}` }))
    await collections.celebrities.insertMany(strangers)
    await follow(...fans)
    for (let n = 0; n < 3; n++) await publishAndDeliver()
    const [reader] = fans as [UserId]
    const { client, db } = harness.database
    const { commands } = await recorded(client, () => page(reader))
    expect(labelsOf(commands)).toEqual([
      'read following',
      'read following, restrictions, user_stats, posts, strategies',
      'read inbox',
      'read posts',
      'read pulled_authors',
    ])
    for (const statement of commands.flatMap(statementsOf)) {
      expect(JSON.stringify(statement).length).toBeLessThan(3_000)
      expect((await explained(db, statement)).examined).toBeLessThan(50)
    }
    expect(await all()).toBeGreaterThan(3_000)
    await collections.celebrities.deleteMany({ _id: /^stranger/ })
  })

  test('the deletion of a post walks followers only if the post may be stored (HYBRID)', async () => {
    const { client } = harness.database
    const { outbox } = harness.services.collections
    await follow(...fans)
    for (let n = 0; n < 2; n++) await publishAndDeliver()
    harness.clock.advance(120_000)
    await publishAndDeliver()
    const [unstored, , stored] = posts as [PostId, PostId, PostId]
    const [reader] = fans as [UserId]
    expect(await inboxOf(reader)).toEqual([stored])
    const deleted = async (id: PostId) => {
      await harness.services.posts.delete(author, { id, author })
      const { commands } = await recorded(client, async () => {
        const payload = { author, post: id }
        await harness.services.tasks['post.deleted']?.(payload, joblessRun())
      })
      await outbox.deleteMany({ kind: 'post.deleted' })
      return labelsOf(commands)
    }
    expect(await deleted(unstored)).toEqual(['read celebrities', 'read strategies'])
    expect(await deleted(stored)).toContain('read followers')
    expect(await inboxOf(reader)).toEqual([])
    expect(await page(reader)).toEqual(posts.slice(1, 2))
  })

  test('an unfollow of a celebrity costs only the posts stored before its promotion (HYBRID)', async () => {
    const { client } = harness.database
    await follow(...fans)
    for (let n = 0; n < 2; n++) await publishAndDeliver()
    harness.clock.advance(120_000)
    for (let n = 0; n < 5; n++) await publish()
    await harness.rest()
    const [reader] = fans as [UserId]
    await unfollow(reader)
    const { commands } = await recorded(client, () => harness.rest())
    const deletes = commands.filter(
      ({ name, collection }) => name === 'delete' && collection === 'inbox',
    )
    expect(deletes.flatMap(({ command }) => command.deletes)).toHaveLength(2)
    expect(await inboxOf(reader)).toEqual([])
    expect(await page(reader)).toEqual([])
    await follow(reader)
    expect(await page(reader)).toEqual(posts)
  })

  test('a deleted user leaves no note as an author and as a reader (HYBRID)', async () => {
    const { pulled_authors } = harness.services.collections
    await follow(...fans)
    for (let n = 0; n < 2; n++) await publishAndDeliver()
    const notes = () => pulled_authors.countDocuments({ '_id.author': author })
    expect(await notes()).toBe(7)
    await harness.services.users.delete(fans[0] as UserId)
    await harness.rest()
    expect(await notes()).toBe(6)
    await harness.services.users.delete(author)
    await harness.rest()
    expect(await notes()).toBe(0)
  })
})

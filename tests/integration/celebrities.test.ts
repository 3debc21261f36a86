import { beforeEach, describe, expect, test } from 'vitest'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { explained, statementsOf } from '../explained/statements/explain.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const feed = {
  strategy: 'INBOX',
  maintained: ['FANOUT_ON_READ', 'INBOX'],
  inboxFollowersMax: 4,
} as const
const engagement = sameLimits({ threshold: 3, capacity: 2 })
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

/** Another process over the database. */
const process = (inboxFollowersMax: number) =>
  servicesOver(harness.database, harness.clock, engagement, 'collection', {
    ...feed,
    inboxFollowersMax,
  })
const follow = async (...some: UserId[]) => {
  for (const fan of some) await harness.services.follows.follow(fan, author)
}
const unfollow = async (...some: UserId[]) => {
  for (const fan of some) await harness.services.follows.unfollow(fan, author)
}
const publish = async (services = harness.services) => {
  posts.unshift((await services.posts.create(author, { text: 'x' })).id)
}
const publishAndDeliver = async (services = harness.services) => {
  await publish(services)
  await harness.rest()
}
const page = async (reader: UserId, services = harness.services) => {
  const window = { limit: 20, backward: false }
  const found = await services.feed.timeline(reader, { window, projection: 'ref' })
  expect(found.servedBy).toBe('INBOX')
  return found.items.map(({ post }) => post.id)
}
const inboxOf = async (reader: UserId) => {
  const { inbox } = harness.services.collections
  const found = await inbox.find({ '_id.reader': reader }).sort({ _id: -1 }).toArray()
  return found.map(({ _id }) => _id.post.toHexString())
}
const celebrity = () => harness.services.collections.celebrities.findOne({ _id: author })
const isCelebrity = { _id: expect.anything(), readFrom: expect.anything() }

describe('an author with more and more followers', () => {
  test('posts are stored up to INBOX_FOLLOWERS_MAX and read above it, and timelines lack none', async () => {
    await follow(...fans.slice(0, 4))
    await publishAndDeliver()
    expect(await celebrity()).toBeNull()
    await follow(...fans.slice(4))
    await harness.rest()
    await publishAndDeliver()
    await publishAndDeliver()
    expect(await celebrity()).toEqual(isCelebrity)
    for (const reader of [author, ...fans]) {
      expect(await page(reader)).toEqual(posts)
      expect(await inboxOf(reader)).toEqual(posts.slice(2))
    }
  })

  test('an author with fewer followers stays a celebrity, and timelines lack no post', async () => {
    await follow(...fans)
    await harness.rest()
    await publishAndDeliver()
    await unfollow(...fans.slice(1))
    await publishAndDeliver()
    await follow(...fans.slice(1, 2))
    await publishAndDeliver()
    expect(await celebrity()).toEqual(isCelebrity)
    for (const reader of [author, ...fans.slice(0, 2)]) {
      expect(await page(reader)).toEqual(posts)
      expect(await inboxOf(reader)).toEqual([])
    }
    for (const reader of fans.slice(2)) expect(await page(reader)).toEqual([])
  })

  test('a later follower of a celebrity reads its posts without a back-fill', async () => {
    await follow(...fans.slice(0, 5))
    await publishAndDeliver()
    await follow(...fans.slice(5))
    await harness.rest()
    const [last] = fans.slice(5) as [UserId]
    expect(await page(last)).toEqual(posts)
    expect(await inboxOf(last)).toEqual([])
  })

  test('another process reads the posts of a celebrity on its next page, also before a delivery', async () => {
    const other = process(0)
    await follow(...fans)
    const [reader] = fans as [UserId]
    expect(await page(reader, other)).toEqual([])
    await publishAndDeliver()
    expect(await page(reader, other)).toEqual(posts)
    await publish()
    expect(await page(reader, other)).toEqual(posts)
  })

  test('processes with other values of INBOX_FOLLOWERS_MAX know the same celebrities', async () => {
    const [all, few] = [process(0), process(1)]
    await follow(...fans.slice(0, 2))
    await publishAndDeliver(all)
    expect(await celebrity()).toBeNull()
    await publish(few)
    const job = await harness.services.collections.outbox.findOneAndDelete({
      kind: 'post.created',
    })
    if (job) await few.tasks['post.created']?.(job.payload, joblessRun())
    expect(await celebrity()).toEqual(isCelebrity)
    await publishAndDeliver(all)
    await publishAndDeliver(few)
    expect(await inboxOf(author)).toEqual(posts.slice(3))
    for (const services of [harness.services, all, few]) {
      for (const reader of [author, ...fans.slice(0, 2)]) {
        expect(await page(reader, services)).toEqual(posts)
      }
    }
  })

  test('while a process of the previous release may run, no author becomes a celebrity', async () => {
    const { meta } = harness.services.collections
    const ofRelease = { _id: { $in: ['versions', 'floors'] } }
    const marks = await meta.find(ofRelease).toArray()
    await meta.deleteMany(ofRelease)
    const upgraded = process(1)
    await follow(...fans)
    await harness.rest()
    await publish(upgraded)
    const { outbox } = harness.services.collections
    const job = await outbox.findOneAndDelete({ kind: 'post.created' })
    if (job) await upgraded.tasks['post.created']?.(job.payload, joblessRun())
    await meta.insertMany(marks)
    expect(await celebrity()).toBeNull()
    for (const reader of [author, ...fans]) expect(await inboxOf(reader)).toEqual(posts)
  })
})

describe('a celebrity', () => {
  test('a page costs the same with 3,000 celebrities that the reader does not follow', async () => {
    const { collections, registry } = harness.services
    await follow(...fans)
    await publishAndDeliver()
    const readFrom = (await celebrity())?.readFrom
    const strangers = Array.from({ length: 3_000 }, (_, n) => ({ _id: `stranger${n}`, readFrom }))
    await collections.celebrities.insertMany(strangers as never[])
    const [reader] = fans as [UserId]
    const { client, db } = harness.database
    const services = process(4)
    // Each process reads the celebrities once.
    for (let times = 0; times < 3; times++) await page(reader, services)
    const { commands } = await recorded(client, () => page(reader, services))
    expect(labelsOf(commands)).toEqual([
      'read following',
      'read inbox',
      'read posts',
      'read versions',
    ])
    for (const statement of commands.flatMap(statementsOf)) {
      expect(JSON.stringify(statement).length).toBeLessThan(3_000)
      expect((await explained(db, statement)).examined).toBeLessThan(50)
    }
    await collections.celebrities.deleteMany({ _id: /^stranger/ })
    await registry.read()
  })

  test('the deletion of a post walks followers only if the post may be stored', async () => {
    const { client } = harness.database
    const { outbox } = harness.services.collections
    await follow(...fans.slice(0, 4))
    await publishAndDeliver()
    await follow(...fans.slice(4))
    await publishAndDeliver()
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
    expect(await deleted(unstored)).toEqual(['read strategies'])
    expect(await deleted(stored)).toContain('read followers')
    expect(await inboxOf(reader)).toEqual([])
    expect(await page(reader)).toEqual(posts.slice(1, 2))
  })

  test('an unfollow of a celebrity costs only the posts that may be stored', async () => {
    const { client } = harness.database
    await follow(...fans.slice(0, 4))
    await publishAndDeliver()
    await follow(...fans.slice(4))
    await publishAndDeliver()
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

  test('a deleted celebrity is forgotten', async () => {
    await follow(...fans)
    await publishAndDeliver()
    const other = process(4)
    expect(await page(fans[0] as UserId, other)).toEqual(posts)
    await harness.services.users.delete(author)
    expect(await page(fans[0] as UserId)).toEqual([])
    await harness.rest()
    expect(await celebrity()).toBeNull()
  })

  test('a dropped and registered INBOX stores the posts of former celebrities again', async () => {
    const { registrations, collections } = harness.services
    await follow(...fans)
    await harness.rest()
    await publishAndDeliver()
    const [reader] = fans as [UserId]
    expect(await inboxOf(reader)).toEqual([])
    await registrations.drop('INBOX')
    expect(await collections.celebrities.countDocuments()).toBe(0)
    await registerStrategies(harness.services, feed.maintained)
    await harness.rest()
    await harness.services.registry.read()
    expect(await inboxOf(reader)).toEqual(posts)
    expect(await page(reader)).toEqual(posts)
    await publishAndDeliver()
    expect(await celebrity()).toEqual(isCelebrity)
    expect(await page(reader)).toEqual(posts)
  })

  test('a rebuilt INBOX leaves out the posts of celebrities, and timelines lack none', async () => {
    await follow(...fans)
    await harness.rest()
    await publishAndDeliver()
    const [reader] = fans as [UserId]
    await harness.services.registrations.rebuild('INBOX')
    await harness.rest()
    await harness.services.registry.read()
    expect(await inboxOf(reader)).toEqual([])
    expect(await page(reader)).toEqual(posts)
  })
})

describe('without INBOX_FOLLOWERS_MAX', () => {
  test('pages and deliveries read no celebrities while the database has none', async () => {
    const { client } = harness.database
    await harness.services.registrations.drop('INBOX')
    const services = process(0)
    await registerStrategies(services, feed.maintained)
    await harness.rest()
    await services.registry.read()
    await follow(...fans)
    await harness.rest()
    const { commands } = await recorded(client, async () => {
      await publish(services)
      await page(fans[0] as UserId, services)
    })
    expect(labelsOf(commands).filter((label) => label.includes('celebrities'))).toEqual([])
    expect(labelsOf(commands).filter((label) => label === 'read following')).toEqual([])
  })
})

import * as operations from '@feedline/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({
  FEED_MAINTAINED: feedStrategyNames.join(),
  FEED_STRATEGY: 'INBOX',
  TIMELINE_ENTRIES: 'text',
  CACHE_SIZE: '4',
  SIZED_BUCKET_SIZE: '3',
  FANOUT_INLINE_MAX: '2',
})
const [reader, author, loud] = [handle('reader'), handle('author'), handle('loud')]
const fans = Array.from({ length: 5 }, (_, n) => handle(`fan${n}`))

const publish = async (as: string, text: string) =>
  (await app.ask(as, operations.CreatePostDocument, { input: { text } })).createPost.post?.id ?? ''

const follow = (as: string, other: string) =>
  app.ask(as, operations.FollowUserDocument, { input: { user: { handle: other } } })

async function page(strategy: FeedStrategyName, first = 10) {
  const { timeline } = await app.ask(reader, operations.TimelineDocument, { first, strategy })
  return { ...timeline, ids: timeline.edges.map(({ node }) => node?.id) }
}

const why = async (post: string, group?: string) => {
  const found = await app.ask(reader, operations.WhyTimelineDocument, { post, group })
  return {
    in: found.whyInTimeline?.map(({ code }) => code),
    out: found.whyNotInTimeline?.map(({ code }) => code),
  }
}

beforeAll(() => openAccounts(app.services, [reader, author, loud, ...fans]))

describe('a small audience', () => {
  test.each(feedStrategyNames)('createPost delivers before its answer (%s)', async (strategy) => {
    await follow(reader, author)
    const post = await publish(author, `for ${strategy}`)
    expect((await page(strategy)).ids[0]).toBe(post)
    const { timeline } = await app.ask(author, operations.TimelineDocument, {
      first: 1,
      strategy,
    })
    expect(timeline.edges[0]?.node?.id).toBe(post)
    expect(await app.database.db.collection('outbox').countDocuments()).toBe(0)
  })

  test('the earlier posts of a followee are in the timeline when followUser answers', async () => {
    const [older, newer] = [
      await publish(fans[0] as string, '1'),
      await publish(fans[0] as string, '2'),
    ]
    await follow(reader, fans[0] as string)
    for (const strategy of feedStrategyNames) {
      expect((await page(strategy)).ids.slice(0, 2)).toEqual([newer, older])
    }
  })
})

describe('a large audience', () => {
  let post: string

  beforeAll(async () => {
    for (const fan of [...fans, reader]) await follow(fan, loud)
    await app.rest()
    post = await publish(loud, 'loud')
  })

  test('a post to a large audience is in the author’s timeline at once, and in others after a worker ran', async () => {
    const mine = await app.ask(loud, operations.TimelineDocument, { first: 1, strategy: 'INBOX' })
    expect(mine.timeline).toMatchObject({ edges: [{ node: { id: post } }], pending: true })
    expect(await page('INBOX')).toMatchObject({ servedBy: 'INBOX', pending: true })
    expect((await page('INBOX')).ids).not.toContain(post)
    expect(await page('FANOUT_ON_READ')).toMatchObject({
      pending: false,
      ids: expect.arrayContaining([post]),
    })
    expect(await why(post)).toEqual({ in: ['FOLLOWED'], out: ['DELIVERY_PENDING'] })
    await app.rest()
    for (const strategy of feedStrategyNames) {
      expect(await page(strategy)).toMatchObject({ pending: false, strategy })
      expect((await page(strategy)).ids[0]).toBe(post)
    }
    expect(await why(post)).toEqual({ in: ['FOLLOWED'], out: undefined })
  })
})

describe('a query', () => {
  test('a query may compare strategies by alias, and their cursors are interchangeable', async () => {
    const compare = (one: FeedStrategyName, other: FeedStrategyName) =>
      app.ask(reader, operations.CompareTimelinesDocument, { first: 3, one, other })
    const { one, other } = await compare('CACHE', 'TIME_BUCKETS')
    expect(other.edges).toEqual(one.edges)
    expect([one.servedBy, other.servedBy]).toEqual(['CACHE', 'TIME_BUCKETS'])
    const all = (await page('FANOUT_ON_READ', 100)).ids
    const after = one.pageInfo.endCursor
    for (const strategy of feedStrategyNames) {
      const { timeline } = await app.ask(reader, operations.TimelineDocument, {
        first: 3,
        after,
        strategy,
      })
      expect(timeline.edges.map(({ node }) => node?.id)).toEqual(all.slice(3, 6))
    }
  })

  test('a page beyond the end of the cache is served by FANOUT_ON_READ, as servedBy states', async () => {
    expect((await page('CACHE', 4)).servedBy).toBe('CACHE')
    const whole = await page('CACHE', 6)
    expect(whole.servedBy).toBe('FANOUT_ON_READ')
    expect(whole.ids).toEqual((await page('FANOUT_ON_READ', 6)).ids)
  })

  test('a page of posts in memory costs the read of its entries without counts', async () => {
    const query = `{ timeline(first: 4, strategy: INBOX) {
      edges { cursor node { id text createdAt author { handle } } } pageInfo { hasNextPage } } }`
    const sendOther = (n: number) => app.send({ as: reader, query: `${query} # ${n}` })
    for (const n of [1, 2]) await sendOther(n)
    const { result, commands } = await recorded(app.database.client, () => sendOther(3))
    expect(result.errors).toEqual([])
    expect(result.data.timeline.edges[0].node).toMatchObject({
      text: 'loud',
      author: { handle: loud },
    })
    expect(labelsOf(commands)).toEqual(['read inbox'])
  })

  test('the pending field costs one command before the page, and none for FANOUT_ON_READ', async () => {
    const sent = async (strategy: FeedStrategyName) => {
      const query = `{ timeline(first: 1, strategy: ${strategy}) { pending edges { cursor } } }`
      const { result, commands } = await recorded(app.database.client, () =>
        app.send({ as: reader, query }),
      )
      expect(result.data.timeline.pending).toBe(false)
      return commands.map(({ name }) => name)
    }
    expect(await sent('INBOX')).toEqual(['aggregate', 'find'])
    expect(await sent('FANOUT_ON_READ')).toEqual([])
  })
})

describe('whyInTimeline and whyNotInTimeline', () => {
  test('the reasons for a post name the follow, the mute, the block and the deletion', async () => {
    const post = await publish(author, 'why?')
    expect(await why(post)).toEqual({ in: ['FOLLOWED'], out: undefined })
    const input = { user: { handle: author } }
    await app.ask(reader, operations.MuteUserDocument, { input })
    expect(await why(post)).toEqual({ in: undefined, out: ['MUTED'] })
    await app.ask(reader, operations.UnmuteUserDocument, { input })
    await app.ask(author, operations.DeletePostDocument, { input: { postId: post } })
    expect(await why(post)).toEqual({ in: undefined, out: ['POST_DELETED'] })
    const next = await publish(author, 'why not?')
    await app.ask(author, operations.BlockUserDocument, { input: { user: { handle: reader } } })
    expect(await why(next)).toEqual({ in: undefined, out: ['NOT_FOLLOWED', 'BLOCKED'] })
  })

  test('the reasons for a post in a group’s timeline name the group', async () => {
    const post = await publish(fans[0] as string, 'grouped')
    expect(await why(post, 'close')).toEqual({ in: undefined, out: ['NOT_IN_GROUP'] })
    const input = { user: { handle: fans[0] as string }, groups: ['close'] }
    await app.ask(reader, operations.SetFollowGroupsDocument, { input })
    expect(await why(post, 'close')).toEqual({ in: ['FOLLOWED', 'IN_GROUP'], out: undefined })
    const own = await publish(reader, 'mine')
    expect(await why(own)).toEqual({ in: ['OWN_POST'], out: undefined })
    expect(await why(own, 'close')).toEqual({ in: undefined, out: ['NOT_IN_GROUP'] })
  })

  test('the reasons for a post of a deleted account name the deletion', async () => {
    const post = await publish(fans[0] as string, 'last words')
    await app.ask(fans[0], operations.DeleteUserDocument, { input: {} })
    expect((await why(post)).out).toContain('AUTHOR_DELETED')
  })

  test('a post of a deleted account that is not purged yet does not exist, whatever is selected', async () => {
    const ref = { id: app.services.mint.next<PostId>(), author: handle('deleted') }
    const stored = { _id: toObjectId(ref.id), author: ref.author, text: 'last words' }
    await app.services.collections.posts.insertOne(stored)
    for (const below of ['id', 'text', 'author { handle }', '__typename']) {
      const query = `query ($id: ID!) { post(id: $id) { ${below} } node(id: $id) { ... on Post { ${below} } } }`
      const { data } = await app.send({ as: reader, query, variables: { id: postNodeId(ref) } })
      expect(data).toEqual({ post: null, node: null })
    }
  })
})

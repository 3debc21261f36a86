import * as operations from '@feedline/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type PostId, timeIdAt } from '../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { useApp } from '../support/app.ts'
import { storeEdges } from '../support/edges.ts'
import { Poller } from '../support/poller.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_MAINTAINED: 'FANOUT_ON_READ,INBOX', FEED_STRATEGY: 'INBOX' })
const [reader, friend, celebrity] = [handle('reader'), handle('friend'), handle('celebrity')]
const fans = Array.from({ length: 5_000 }, (_, n) => handle(`fan${n}`))

const publish = async (as: string, text: string) =>
  (await app.ask(as, operations.CreatePostDocument, { input: { text } })).createPost.post?.id ?? ''

beforeAll(async () => {
  const { services } = app
  await openAccounts(services, [reader, friend, celebrity, ...fans])
  const mint = new IdMint(services.now)
  const edge = (follower = reader, followee = celebrity) => {
    return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
  }
  const edges = [...fans.map((fan) => edge(fan)), edge(), edge(reader, friend)]
  await storeEdges(services, edges)
  await services.collections.user_stats.updateOne(
    { _id: celebrity },
    { $set: { followers: fans.length + 1 } },
  )
})

/** A poller of the reader's timeline, by the documented operations. */
const pollerOf = (
  as: string,
  strategy: FeedStrategyName,
  sizes?: { first: number; last: number },
) =>
  new Poller(
    {
      timeline: async (window) => {
        const { timeline } = await ('first' in window
          ? app.ask(as, operations.TimelineDocument, { ...window, strategy })
          : app.ask(as, operations.TimelinePollDocument, { ...window, strategy }))
        const { pollCursor, edges, pageInfo } = timeline
        const ids = edges.map(({ node }) => node?.text ?? '')
        return { ids, pollCursor: pollCursor ?? '', ...pageInfo }
      },
      news: async (since) =>
        (await app.ask(as, operations.TimelineNewsDocument, { since, strategy })).timelineNews,
    },
    sizes,
  )

test('a poller misses no post of a celebrity that is delivered after a newer post of a friend', async () => {
  await publish(friend, 'first')
  const poller = pollerOf(reader, 'INBOX')
  await poller.load()
  await publish(celebrity, 'from the celebrity')
  await publish(friend, 'from the friend')
  expect((await poller.poll()).news).toMatchObject({ count: 1, changed: false })
  expect(poller.held).toEqual(['from the friend', 'first'])
  await app.rest()
  expect((await poller.poll()).news).toMatchObject({ count: 1, changed: false })
  expect(poller.held).toEqual(['from the friend', 'from the celebrity', 'first'])
  expect((await poller.poll()).news).toMatchObject({ count: 0, changed: false })
})

describe.each(['FANOUT_ON_READ', 'INBOX'] as const)('a poll of %s', (strategy) => {
  const name = strategy.toLowerCase()
  const [me, one, other] = [handle(`me_${name}`), handle(`one_${name}`), handle(`other_${name}`)]
  const quiet = { count: 0, hasMore: false, authors: [], changed: false }

  const news = async (since: string, group?: string) =>
    (await app.ask(me, operations.TimelineNewsDocument, { since, strategy, group })).timelineNews
  const firstCursor = async () => {
    const { timeline } = await app.ask(me, operations.TimelineDocument, { first: 100, strategy })
    return timeline.pollCursor ?? ''
  }

  beforeAll(async () => {
    await openAccounts(app.services, [me, one, other])
    // Older than the watermark.
    const posts = [one, other].map((author, n) => ({
      _id: toObjectId(timeIdAt<PostId>(Date.now() - 3_600_000, `${n}`.padStart(12, '0'))),
      ...{ author, text: 'old' },
    }))
    await app.services.collections.posts.insertMany(posts)
    await app.ask(me, operations.FollowUserDocument, { input: { user: { handle: one } } })
    await app.rest()
  })

  test('a walk over many new posts holds them all in order, and a later poll is quiet', async () => {
    const poller = pollerOf(me, strategy, { first: 1, last: 2 })
    await poller.load()
    const texts = Array.from({ length: 7 }, (_, n) => `${strategy} ${n}`)
    for (const text of texts) await publish(one, text)
    const { news, added } = await poller.poll()
    expect(news).toMatchObject({ count: 7, hasMore: false, changed: false })
    expect(added).toEqual(texts.toReversed())
    expect(poller.held).toEqual([...texts.toReversed(), 'old'])
    expect((await poller.poll()).news).toMatchObject({ count: 0, changed: false })
  })

  test('more than 20 new posts are counted as 20 and more, with the newest authors first', async () => {
    const since = await firstCursor()
    for (let n = 0; n < 20; n++) await publish(one, `many ${n}`)
    expect(await news(since)).toMatchObject({ count: 20, hasMore: false })
    await publish(me, 'mine')
    const authors = [{ handle: me }, { handle: one }]
    expect(await news(since)).toMatchObject({ count: 20, hasMore: true, authors, changed: false })
  })

  const changes: Record<string, () => Promise<unknown>> = {
    'a follow, which adds old posts': () =>
      app.ask(me, operations.FollowUserDocument, { input: { user: { handle: other } } }),
    'a deletion': async () => {
      const { timeline } = await app.ask(one, operations.TimelineDocument, { first: 1, strategy })
      const postId = timeline.edges[0]?.node?.id ?? ''
      return app.ask(one, operations.DeletePostDocument, { input: { postId } })
    },
    'a mute': () => app.ask(me, operations.MuteUserDocument, { input: { user: { handle: one } } }),
    'the end of a mute': () =>
      app.ask(me, operations.UnmuteUserDocument, { input: { user: { handle: one } } }),
    'an unfollow': () =>
      app.ask(me, operations.UnfollowUserDocument, { input: { user: { handle: other } } }),
    'a block': () =>
      app.ask(one, operations.BlockUserDocument, { input: { user: { handle: me } } }),
  }

  test.each(Object.keys(changes))('%s changes what a client holds, once', async (change) => {
    const since = await firstCursor()
    expect(await news(since)).toMatchObject(quiet)
    await changes[change]?.()
    await app.rest()
    const { changed, pollCursor } = await news(since)
    expect(changed).toBe(true)
    expect((await news(pollCursor)).changed).toBe(true)
    expect(await news(await firstCursor())).toMatchObject(quiet)
  })
})

test('a poll cursor is needed for news, and accepted only before a timeline', async () => {
  const { timeline } = await app.ask(reader, operations.TimelineDocument, { first: 1 })
  const cursors = [
    timeline.pageInfo.startCursor,
    timeline.edges[0]?.node?.id,
    '',
    'x'.repeat(9_000),
  ]
  const query = 'query ($since: String!) { timelineNews(since: $since) { count } }'
  for (const since of cursors) {
    const { errors } = await app.send({ as: reader, query, variables: { since } })
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'since' } }])
  }
  const before = timeline.pollCursor
  const list = `query ($before: String) { viewer { mutes(before: $before) { edges { cursor } } } }`
  const { errors } = await app.send({ as: reader, query: list, variables: { before } })
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'before' } }])
  const anonymous = await app.send({ query, variables: { since: before } })
  expect(anonymous.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
})

test('a page after a cursor has no poll cursor', async () => {
  const { timeline } = await app.ask(reader, operations.TimelineDocument, { first: 1 })
  const after = timeline.pageInfo.endCursor
  const older = await app.ask(reader, operations.TimelineDocument, { first: 1, after })
  expect(older.timeline.pollCursor).toBeNull()
})

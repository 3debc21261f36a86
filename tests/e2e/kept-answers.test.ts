import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { versionsMark } from '../../src/db/marks.ts'
import type { PostId, PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { drain, handle, openAccounts, servicesOver, testClock } from '../support/services.ts'

const [reader, friend, other] = ['reader', 'friend', 'other'].map(handle) as [never, never, never]

let used = 0
/** Users who like posts. */
const extra = Array.from({ length: 5 }, (_, n) => handle(`extra${n}`))

const limits = sameLimits({ threshold: 3, capacity: 2 })

describe.each(share(1, ['CACHE', 'INBOX', 'TIME_BUCKETS']))('%s keeps', (strategy) => {
  const app = useApp({
    ...{ FEED_STRATEGY: strategy, TIMELINE_ENTRIES: 'text', RATE_LIMIT_COST: '300000' },
  })
  /** Writes as another process does. */
  let elsewhere: Services
  const stable = `{ timeline(first: 50) { edges { cursor node { id text createdAt author { handle name } } } pageInfo { hasNextPage endCursor } } }`
  const counted = `{ timeline(first: 50) { edges { node { id text likeCount viewerHasLiked author { handle name } } } } }`
  const ask = (query: string) => app.send({ as: reader, query })
  const textsOf = async (query = stable): Promise<string[]> => {
    const { data, errors } = await ask(query)
    expect(errors).toEqual([])
    return data.timeline.edges.map(({ node }: { node: { text: string } }) => node.text)
  }
  const commandsOf = async (query: string) => {
    const { result, commands } = await recorded(app.database.client, () => ask(query))
    expect(result.errors).toEqual([])
    return labelsOf(commands)
  }

  beforeAll(async () => {
    elsewhere = servicesOver(app.database, testClock(), limits)
    for (const user of [reader, friend, other]) await elsewhere.users.create(user, { name: user })
    await elsewhere.follows.follow(reader, friend)
    await elsewhere.posts.create(friend, { text: 'first' })
    await elsewhere.posts.create(friend, { text: 'second' })
    await elsewhere.posts.create(other, { text: 'hidden' })
    await drain(elsewhere)
  })

  beforeEach(async () => {
    for (let times = 0; times < 2; times++) {
      await textsOf(stable)
      await textsOf(counted)
    }
  })

  test('a page reads the versions of its facts, and from its second request on those of its answer', async () => {
    const query = '{ timeline(first: 49) { edges { node { text } } } }'
    const first = await commandsOf(query)
    expect(first.filter((label) => label === 'read versions')).toHaveLength(1)
    expect(await commandsOf(query)).toEqual([...first, 'read versions'].sort())
    expect(await commandsOf(query)).toEqual(['read versions'])
  })

  test('a page that is not kept reads only the versions of its facts, whatever its requests', async () => {
    for (const query of [
      '{ timeline { pageInfo { hasPreviousPage } edges { node { author { followerCount } } } } }',
      '{ timeline { pending edges { node { text } } } }',
      '{ a: timeline { strategy } b: timeline(first: 7) { strategy } }',
      '{ timeline(strategy: FANOUT_ON_READ) { edges { node { text } } } }',
    ]) {
      for (let times = 0; times < 3; times++) {
        const labels = await commandsOf(query)
        expect(labels.filter((label) => label === 'read versions')).toHaveLength(1)
      }
    }
  })

  test('an unchanged page costs one command', async () => {
    expect(await commandsOf(stable)).toEqual(['read versions'])
  })

  test('a page that changes between its visits creates no versions, until it rests', async () => {
    const query = '{ timeline(first: 48) { edges { node { text } } } }'
    const creates = async () => (await commandsOf(query)).includes('findAndModify versions')
    const { versions } = app.services.collections
    await versions.deleteOne({ _id: `timeline:${reader}` })
    expect(await creates()).toBe(false)
    const changing: boolean[] = []
    const posts: PostRef[] = []
    for (let times = 0; times < 10; times++) {
      posts.push(await elsewhere.posts.create(friend, { text: `news ${times}` }))
      await drain(elsewhere)
      changing.push(await creates())
    }
    expect(changing).toEqual([true, ...Array(9).fill(false)])
    // So deliveries write none either.
    expect((await versions.findOne({ _id: `timeline:${reader}` }))?.value).toBeUndefined()
    expect([await creates(), await creates()]).toEqual([false, true])
    expect(await commandsOf(query)).toEqual(['read versions'])
    for (const post of posts) await elsewhere.posts.delete(friend, post)
    await drain(elsewhere)
  })

  test('an unchanged page with counts and flags costs two commands', async () => {
    expect(await commandsOf(counted)).toEqual(['read posts', 'read versions'])
  })

  test('a page with mentioned users is kept, and shows each change of them', async () => {
    const [mentioned, gone] = ['mentioned', 'gone'].map((name) => handle(`${name}-${used++}`))
    await openAccounts(elsewhere, [mentioned, gone] as never[])
    const post = await elsewhere.posts.create(friend, { text: `hi @${mentioned} and @${gone}` })
    await drain(elsewhere)
    const query = `{ timeline(first: 47) { edges { node { text facets { handle user { id handle name } } } } } }`
    const shown = async () => {
      const { data, errors } = await ask(query)
      expect(errors).toEqual([])
      const facets: readonly { user: { handle: string; name: string } | null }[] =
        data.timeline.edges[0].node.facets
      return facets.map(({ user }) => user && `${user.handle} ${user.name}`)
    }
    const both = [`${mentioned} ${mentioned}`, `${gone} ${gone}`]
    for (let times = 0; times < 3; times++) expect(await shown()).toEqual(both)
    expect(await commandsOf(query)).toEqual(['read versions'])
    const { users, restrictions } = elsewhere
    await users.update(mentioned as never, { handle: `${mentioned}.new` as never })
    const renamed = `${mentioned}.new ${mentioned}`
    for (let times = 0; times < 2; times++) expect(await shown()).toEqual([renamed, both[1]])
    expect(await commandsOf(query)).toEqual(['read versions'])
    await restrictions.block(mentioned as never, reader)
    for (let times = 0; times < 3; times++) expect(await shown()).toEqual([null, both[1]])
    await restrictions.unblock(mentioned as never, reader)
    for (let times = 0; times < 3; times++) expect(await shown()).toEqual([renamed, both[1]])
    await users.delete(gone as never)
    for (let times = 0; times < 3; times++) expect(await shown()).toEqual([renamed, null])
    await elsewhere.posts.delete(friend, post)
    await drain(elsewhere)
  })

  test('counts and flags of an unchanged page are current, also past the threshold', async () => {
    const query = `{ timeline(first: 50) { e: edges { n: node { a: likeCount b: likeCount
      ...F } } edges { cursor } } } fragment F on Post { text viewerHasLiked commentCount }`
    const post = await elsewhere.collections.posts.findOne({ text: 'first' })
    const ref = { id: post?._id.toHexString() as PostId, author: friend as never }
    const countsOf = async () => {
      const { result, commands } = await recorded(app.database.client, () => ask(query))
      expect(result.errors).toEqual([])
      const nodes = result.data.timeline.e.map(({ n }: { n: { text: string } }) => n)
      const shown = nodes.find(({ text }: { text: string }) => text === 'first')
      return { shown, commands: labelsOf(commands) }
    }
    for (let times = 0; times < 2; times++) await countsOf()
    const { engagements } = elsewhere
    const steps: [() => Promise<unknown>, object][] = [
      [() => engagements.add('likes', other, ref), { a: 1, b: 1, viewerHasLiked: false }],
      [() => engagements.add('likes', friend, ref), { a: 2, viewerHasLiked: false }],
      [() => engagements.add('likes', reader, ref), { a: 3, viewerHasLiked: true }],
      [() => engagements.remove('likes', reader, ref), { a: 2, viewerHasLiked: false }],
      [() => openAccounts(elsewhere, extra), {}],
      [() => Promise.all(extra.map((one) => engagements.add('likes', one, ref))), { a: 7 }],
      [() => engagements.add('likes', reader, ref), { a: 8, b: 8, viewerHasLiked: true }],
      [() => engagements.add('comments', other, ref, { text: 'c' }), { commentCount: 1 }],
      [() => engagements.remove('likes', reader, ref), { a: 7, viewerHasLiked: false }],
    ]
    for (const [change, expected] of steps) {
      await change()
      const { shown, commands } = await countsOf()
      expect(shown).toMatchObject(expected)
      const isOverflowing = shown.a > 3
      const reads = ['read posts', 'read versions']
      expect(commands).toEqual(isOverflowing ? ['read overflow', ...reads] : reads)
    }
  })

  test('concurrent reads of counts and flags share a command, of any viewers', async () => {
    const { posts } = app.services.collections
    const stored = await posts.find({ author: friend }).sort({ _id: 1 }).toArray()
    const refs = stored.map(({ _id, author }) => {
      return { id: _id.toHexString() as PostId, author: author as never }
    })
    const viewers = [reader, other, ...extra, undefined]
    const { result, commands } = await recorded(app.database.client, () =>
      Promise.all(viewers.map((viewer) => app.services.summaries.load(refs, viewer))),
    )
    expect(labelsOf(commands)).toEqual(['read overflow', 'read posts'])
    const first = result.map((found) => found.get(refs[0]?.id as PostId)?.viewerHas?.has('likes'))
    expect(first).toEqual([false, true, ...extra.map(() => true), undefined])
    // An id with another author names no post.
    const forged = refs.map(({ id }) => ({ id, author: other }))
    expect(await app.services.summaries.load(forged, other)).toEqual(new Map())
  })

  test('what a viewer may do is kept, for each viewer', async () => {
    const query =
      '{ timeline(first: 50) { edges { node { viewerCanDelete author { isViewer } } } } }'
    for (const as of [reader, friend, reader, friend]) {
      const { data } = await app.send({ as, query })
      const own = as === friend
      const expected = { node: { viewerCanDelete: own, author: { isViewer: own } } }
      expect(data.timeline.edges).toEqual([expected, expected])
    }
    expect(await commandsOf(query)).toEqual(['read versions'])
  })

  test('a new picture of an author by another process shows on the next page', async () => {
    const query = '{ timeline(first: 50) { edges { node { author { handle avatarUrl } } } } }'
    const newest = async () => (await ask(query)).data.timeline.edges[0].node.author.avatarUrl
    for (let times = 0; times < 2; times++) expect(await newest()).toBeNull()
    expect(await commandsOf(query)).toEqual(['read versions'])
    const avatarUrl = 'https://pictures.example/friend'
    await elsewhere.users.update(friend, { avatarUrl })
    expect(await newest()).toBe(avatarUrl)
    await elsewhere.users.update(friend, { avatarUrl: null })
    expect(await newest()).toBeNull()
  })

  test('a like by another process shows on the next page', async () => {
    const newest = async () => (await ask(counted)).data.timeline.edges[0].node
    expect(await newest()).toMatchObject({ text: 'second', likeCount: 0, viewerHasLiked: false })
    const found = await elsewhere.collections.posts.findOne({ text: 'second' })
    const post = { author: friend, id: found?._id.toHexString() as PostId }
    await elsewhere.engagements.add('likes', reader, post)
    expect(await newest()).toMatchObject({ likeCount: 1, viewerHasLiked: true })
  })

  test('concurrent reads of versions share a command', async () => {
    const { commands } = await recorded(app.database.client, () =>
      Promise.all(Array.from({ length: 16 }, () => app.services.versions.load(['registrations']))),
    )
    expect(labelsOf(commands)).toEqual(['read versions'])
  })

  /** A poll by GET. */
  const poll = (cursor: string, headers: object = {}, as: string = reader) => {
    const query = `{ timelineNews(since: "${cursor}") { count authors { handle name } changed } }`
    return fetch(`${app.url}/graphql?${new URLSearchParams({ query })}`, {
      headers: { authorization: `Dev ${as}`, ...headers },
    })
  }

  test('a poll without news costs one command and no body', async () => {
    const { data } = await ask('{ timeline(first: 50) { pollCursor } }')
    const cursor: string = data.timeline.pollCursor
    for (let times = 0; times < 2; times++) await poll(cursor)
    const first = await poll(cursor)
    expect(first.status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toContain('Authorization')
    const etag = first.headers.get('etag') ?? ''
    const { result, commands } = await recorded(app.database.client, () =>
      poll(cursor, { 'if-none-match': `"other", ${etag.replace('W/', '')}` }),
    )
    expect([result.status, await result.text()]).toEqual([304, ''])
    expect(result.headers.get('etag')).toBe(etag)
    expect(result.headers.get('ratelimit-remaining')).toMatch(/^\d+$/)
    expect(labelsOf(commands)).toEqual(['read versions'])
    // Another viewer sends the same query.
    const others = await poll(cursor, { 'if-none-match': etag }, other)
    expect(others.status).toBe(200)
    expect(await others.json()).toMatchObject({ data: { timelineNews: { changed: true } } })
    await elsewhere.restrictions.mute(reader, friend)
    const muted = await poll(cursor, { 'if-none-match': etag })
    expect(muted.status).toBe(200)
    // It may be news once more after the client has read its page.
    expect(muted.headers.has('etag')).toBe(false)
    expect(await muted.json()).toMatchObject({ data: { timelineNews: { changed: true } } })
    await elsewhere.restrictions.unmute(reader, friend)
    // The answer is the same again.
    expect((await poll(cursor, { 'if-none-match': etag })).status).toBe(304)
  })

  test('nothing is kept while processes may run that write no versions', async () => {
    const mark = { _id: versionsMark }
    const { meta } = app.services.collections
    const marked = await meta.findOneAndDelete(mark)
    const old = servicesOver(app.database, testClock(), limits, 'collection', {
      maintained: [strategy as never],
    })
    for (const isMarked of [false, true]) {
      const request = { window: { limit: 2, backward: false }, projection: 'ref' } as const
      const asked = { ...request, strategy: strategy as never }
      const by = isMarked ? app.services : old
      for (let times = 0; times < 2; times++) {
        const { stamp } = await by.feed.timeline(reader, asked, by.stamping())
        expect(stamp !== undefined).toBe(isMarked)
      }
    }
    if (marked) await meta.insertOne(marked)
  })

  const changes: Record<string, [(by: Services) => Promise<unknown>, string[]]> = {
    'a new post': [
      ({ posts }) => posts.create(friend, { text: 'third' }),
      ['third', 'second', 'first'],
    ],
    'a follow': [
      ({ follows }) => follows.follow(reader, other),
      ['third', 'hidden', 'second', 'first'],
    ],
    'a mute': [
      ({ restrictions }) => restrictions.mute(reader, other),
      ['third', 'second', 'first'],
    ],
    'an unmute': [
      ({ restrictions }) => restrictions.unmute(reader, other),
      ['third', 'hidden', 'second', 'first'],
    ],
    'a block by the other user': [
      ({ restrictions }) => restrictions.block(other, reader),
      ['third', 'second', 'first'],
    ],
    'a deleted post': [
      async ({ posts, collections }) => {
        const found = await collections.posts.findOne({ text: 'third' })
        await posts.delete(friend, { author: friend, id: found?._id.toHexString() as never })
      },
      ['second', 'first'],
    ],
    'an unfollow': [({ follows }) => follows.unfollow(reader, friend), []],
    'a second follow': [({ follows }) => follows.follow(reader, friend), ['second', 'first']],
    'a deleted account': [({ users }) => users.delete(friend), []],
  }

  // In this order: each begins where the one before it ended.
  test.each(Object.keys(changes))('%s by another process shows on the next page', async (name) => {
    const [change, expected] = changes[name] as (typeof changes)[string]
    await change(elsewhere)
    // Deletions, mutes and unfollows take effect before any job runs.
    if (/post$|^a follow|^a second|^an unmute/.test(name) && !/deleted/.test(name))
      await drain(elsewhere)
    expect(await textsOf(stable)).toEqual(expected)
    expect(await textsOf(counted)).toEqual(expected)
  })
})

import * as fc from 'fast-check'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId, TimeId } from '../../src/lib/ids.ts'
import { registry } from '../../src/metrics/registry.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { hashOf } from '../support/persisted-documents.ts'
import { lawRuns } from '../support/seed.ts'
import { handle, namesOf } from '../support/services.ts'

const variables = { FEED_STRATEGY: 'INBOX', FEED_MAINTAINED: 'INBOX,CACHE' }
const app = useApp(variables)
/**
 * Another process of the same database that keeps nothing, so that graphql-js answers everything.
 */
const bare = useApp({ ...variables, PAGE_CACHE_MB: '0' }, undefined, app.database)
const [reader, friend, other] = [handle('reader'), handle('friend'), handle('other')]
let plannedPosts = 0

beforeAll(async () => {
  const { services } = app
  for (const user of [reader, friend, other]) {
    await services.users.create(user, {
      ...namesOf(user),
      name: `The “name” of ${user}\u2028`,
      ...(user === friend
        ? { bio: 'line\nline', avatarUrl: 'https://pictures.example/friend' }
        : {}),
    })
  }
  for (const user of [friend, other]) await services.follows.follow(reader, user)
  await services.follows.setGroups(reader, friend, ['close'])
  const attachments = [
    { url: 'https://a.example/1', kind: 'IMAGE' as const, alt: '"quoted"', width: 3, height: 4 },
  ]
  for (const [at, author] of [friend, other, reader, friend, other, friend].entries()) {
    const text = `${at} é 🙂 "x" \\ #tag @friend https://example.com/?a=b&c </script>`
    const post = await services.posts.create(author, { text, ...(at % 2 ? { attachments } : {}) })
    if (at % 3 === 0) await services.engagements.add('likes', reader, { id: post.id, author })
    if (at % 2 === 0) await services.engagements.add('shares', friend, { id: post.id, author })
  }
  await app.rest()
  const posts = await services.collections.posts.find().toArray()
  for (const { _id } of posts)
    cursors.push(pollCursors.encode(startingAt(_id.toHexString() as PostId)))
  const query = '{ timeline { edges { cursor } pollCursor } }'
  const { data } = await app.send({ as: reader, query })
  cursors.push(data.timeline.pollCursor)
  const { keptPosts } = services
  const right = keptPosts.renderOnce.bind(keptPosts)
  keptPosts.renderOnce = (...asked) => {
    plannedPosts++
    return right(...asked)
  }
})

/** Sends an operation. @returns as {@link bytesIn}. */
async function bytesOf(
  as: string,
  query: string,
  variables: object,
  {
    operationName,
    from = app,
  }: { readonly operationName?: string | undefined; readonly from?: TestApp } = {},
) {
  return bytesIn(
    await fetch(`${from.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Dev ${as}` },
      body: JSON.stringify({ query, variables, ...(operationName ? { operationName } : {}) }),
    }),
  )
}

/**
 * The bytes of an answer without the id of its request, and without columns, because a directive
 * moves them.
 */
async function bytesIn(response: Response): Promise<string> {
  const type = response.headers.get('content-type')
  const text = (await response.text()).replace(/"requestId":"[^"]*"|"column":\d+/g, '')
  return `${response.status} ${type} ${text}`
}

type Selection = string

const leaf = (...names: readonly string[]) => fc.constantFrom(...names)
const aliased = (field: fc.Arbitrary<string>) =>
  fc.tuple(fc.constantFrom('', '', '', 'a: ', 'b: '), field).map(([alias, text]) => alias + text)
/**
 * Fields of a type, some under an alias, some within fragments. Equal aliases of different fields
 * are left out.
 */
const selectionOf = (type: string, field: fc.Arbitrary<string>): fc.Arbitrary<Selection> =>
  fc
    .array(fc.tuple(aliased(field), fc.constantFrom('', '', `... on ${type} `, '... ')), {
      minLength: 1,
      maxLength: 6,
    })
    .map((fields) => {
      const byKey = new Map<string, string>()
      const texts = fields.flatMap(([text, around]) => {
        const key = /^\w+/.exec(text)?.[0] ?? ''
        const name = text.replace(/^\w+: /, '')
        if ((byKey.get(key) ?? name) !== name) return []
        byKey.set(key, name)
        return around === '' ? text : `${around}{ ${text} }`
      })
      return `{ ${texts.join(' ')} }`
    })
const below = (name: string, selection: fc.Arbitrary<Selection>) =>
  selection.map((text) => `${name} ${text}`)

const author = selectionOf(
  'User',
  leaf(
    ...['__typename', 'id', 'handle', 'name', 'bio', 'avatarUrl', 'bannerUrl', 'createdAt'],
    ...['isViewer', 'viewerFollows', 'viewerCanFollow', 'followerCount', 'viewerHasMuted'],
  ),
)
const attachment = selectionOf(
  'Attachment',
  leaf('__typename', 'url', 'kind', 'alt', 'width', 'height', 'blurhash'),
)
const facet = selectionOf(
  'TextFacet',
  fc.oneof(
    { weight: 12, arbitrary: leaf('__typename', 'start', 'end', 'kind', 'handle', 'tag', 'url') },
    { weight: 1, arbitrary: fc.constant('user { handle }') },
  ),
)
const post = selectionOf(
  'Post',
  fc.oneof(
    leaf('__typename', 'id', 'text', 'createdAt', 'viewerCanDelete'),
    leaf('likeCount', 'commentCount', 'shareCount', 'viewerHasLiked', 'viewerHasShared'),
    below('author', author),
    below('author', author),
    below('attachments', attachment),
    below('facets', facet),
    leaf(
      'likes(first: 2) { totalCount edges { node { createdAt user { handle } } } }',
      'shares(first: $first, after: $after) { pageInfo { endCursor } edges { cursor } }',
      'comments { totalCount }',
      'comments(first: 101) { totalCount }',
    ),
  ),
)
const edge = selectionOf(
  'TimelineEdge',
  fc.oneof(leaf('__typename', 'cursor'), below('node', post), below('node', post)),
)
const pageInfo = selectionOf(
  'PageInfo',
  leaf('__typename', 'startCursor', 'endCursor', 'hasNextPage', 'hasPreviousPage'),
)
const timeline = selectionOf(
  'TimelineConnection',
  fc.oneof(
    leaf('__typename', 'strategy', 'servedBy', 'pending'),
    below('edges', edge),
    below('edges', edge),
    below('pageInfo', pageInfo),
  ),
)
/** Mostly the first values. */
const mostly = <T>(usual: readonly T[], rare: readonly T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  )
const operation = fc.record({
  selection: timeline,
  as: mostly([reader, friend], [other, 'nobody']),
  variables: fc.record(
    {
      first: mostly([1, 3, 5, 100], [0, 101, -1, null]),
      strategy: mostly(['INBOX', 'CACHE', 'FANOUT_ON_READ'], ['TIME_BUCKETS', '', null]),
      group: mostly(['', null], ['close', 'none', 'not a group!']),
      after: mostly(['', null], ['no cursor']),
    },
    { requiredKeys: [] },
  ),
})

/** Poll cursors of the reader: without posts, before each of the newest posts, and of no server. */
const cursors: string[] = ['no cursor', pollCursors.encode(startingAt('0'.repeat(24) as TimeId))]
const news = selectionOf(
  'TimelineNews',
  fc.oneof(
    leaf('__typename', 'count', 'hasMore', 'changed', 'pollCursor'),
    below('authors', author),
  ),
)
const poll = fc.record({
  selection: news,
  as: mostly([reader, friend], [other, 'nobody']),
  cursor: fc.nat(),
  variables: fc.record(
    {
      strategy: mostly(['INBOX', 'CACHE', 'FANOUT_ON_READ', ''], ['TIME_BUCKETS', null]),
      group: mostly(['', null], ['close', 'none', 'not a group!']),
    },
    { requiredKeys: [] },
  ),
})

let asked = 0
/** Runs `work` while the clock stands still, because cursors for polls move with the time. */
async function atOneTime(work: () => Promise<void>): Promise<void> {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
  await work().finally(() => clock.mockRestore())
}

/**
 * The same operation twice: as it is, and with a directive, with which only graphql-js answers it.
 */
const textsOf = (selection: Selection) => {
  const declared = '($first: Int, $strategy: FeedStrategy, $group: String, $after: String)'
  const field = 'timeline(first: $first, strategy: $strategy, group: $group, after: $after)'
  const text = (directive: string) =>
    `query Asked${declared} { ${field} ${directive} ${selection} } # ${asked++}`
  return { planned: text(''), executed: text('@include(if: true)') }
}

test("a timeline has the viewer's own entries, also where nothing is kept", async () => {
  const [liked, ...others] = await app.services.collections.posts
    .find({ author: friend })
    .sort({ _id: -1 })
    .toArray()
  expect(others.length).toBeGreaterThan(0)
  const ref = { id: liked?._id.toHexString() as PostId, author: friend }
  for (const isLiked of [true, false]) {
    const { engagements } = app.services
    await (isLiked
      ? engagements.add('likes', reader, ref)
      : engagements.remove('likes', reader, ref))
    for (const { send } of [app, bare]) {
      const query = '{ timeline(first: 1) { edges { node { id viewerHasLiked } } } }'
      const { data } = await send({ as: reader, query })
      const node = { id: postNodeId(ref), viewerHasLiked: isLiked }
      expect(data.timeline.edges).toEqual([{ node }])
    }
  }
})

/**
 * Runs `work`. @returns how many operations of timelines it had answered, by what answered them.
 */
async function countAnswers(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const read = async () => {
    const metric = registry.getSingleMetric('feedline_timeline_operations_total')
    const { values = [] } = (await metric?.get()) ?? {}
    return new Map(values.map(({ labels, value }) => [`${labels.answer}`, value]))
  }
  const before = await read()
  await work()
  const counts = [...(await read())].map(
    ([answer, count]) => [answer, count - (before.get(answer) ?? 0)] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

describe('a metric counts an operation of a timeline', () => {
  const [declared, field] = [
    'query($first: Int, $after: String)',
    'timeline(first: $first, after: $after)',
  ]
  test.each([
    ['fast_path', `${declared} { ${field} { servedBy } }`, {}],
    ['fast_path_in_part', '{ timeline { edges { node { likes(first: 1) { totalCount } } } } }', {}],
    ['incomplete', '{ timeline { edges { node { likes(first: 101) { totalCount } } } } }', {}],
    ['field', '{ timelineNews(since: "x") { authors { postCount } } }', {}],
    ['directive', '{ timeline @include(if: true) { servedBy } }', {}],
    ['operation', '{ timeline { servedBy } viewer { id } }', {}],
    ['arguments', `${declared} { ${field} { servedBy } }`, { first: 101 }],
  ])('as %s: %s', async (answer, query, variables) => {
    const counts = await countAnswers(() => app.send({ as: reader, query, variables }))
    expect(counts).toEqual({ [answer]: 1 })
  })

  test('only with a viewer', async () => {
    const query = '{ timeline { servedBy } }'
    expect(await countAnswers(() => app.send({ query }))).toEqual({})
  })
})

describe('an answer by a plan', () => {
  test('has the same bytes as that of graphql-js, for any selection and any variables', async () => {
    const [before, numRuns] = [plannedPosts, lawRuns(100)]
    await fc.assert(
      fc.asyncProperty(operation, async ({ selection, as, variables }) => {
        const { planned, executed } = textsOf(selection)
        await atOneTime(async () => {
          const expected = await bytesOf(as, executed, variables)
          for (const from of [app, app, bare])
            expect(await bytesOf(as, planned, variables, { from })).toBe(expected)
        })
      }),
      { numRuns },
    )
    expect(plannedPosts - before).toBeGreaterThan(numRuns)
  })

  test('is the same for a poll, also that it has no entity tag if there is news', async () => {
    const declared = 'query Poll($since: String!, $strategy: FeedStrategy, $group: String)'
    const args = 'since: $since, strategy: $strategy, group: $group'
    const answerTo = async (as: string, selection: string, variables: object, directive = '') => {
      const query = `${declared} { timelineNews(${args}) ${directive} ${selection} }`
      const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
      const headers = { authorization: `Dev ${as}` }
      const response = await fetch(`${app.url}/graphql?${parameters}`, { headers })
      return `${response.headers.has('etag')} ${await bytesIn(response)}`
    }
    await fc.assert(
      fc.asyncProperty(poll, async ({ selection, as, cursor, variables }) => {
        const all = { ...variables, since: cursors[cursor % cursors.length] }
        await atOneTime(async () => {
          const executed = await answerTo(as, selection, all, '@include(if: true)')
          expect(await answerTo(as, selection, all)).toBe(executed)
        })
      }),
      { numRuns: lawRuns(100) },
    )
  })

  test.each([
    ['author { followerCount }', ''],
    ['text likes(first: 2) { edges { node { user { handle viewerHasMuted } } } }', ''],
    // After the error, graphql-js answers all, with what is loaded already.
    ['text likes(first: 2) { totalCount edges { cursor } }', 'comments(first: 101) { totalCount }'],
  ])('sends the commands of graphql-js, which executes %s and %s', async (fields, wrong) => {
    const labelsFor = async (directive: string, selection: string) => {
      const text = `{ timeline ${directive} { pending edges { node { ${selection} } } } }`
      const query = `${text} # ${asked++}`
      const { database, send } = app
      const { commands } = await recorded(database.client, () => send({ as: reader, query }))
      return labelsOf(commands)
    }
    await labelsFor('', fields)
    const executed = await labelsFor('@include(if: true)', fields)
    expect(executed.length).toBeGreaterThan(0)
    expect(await labelsFor('', `${fields} ${wrong}`)).toEqual(executed)
  })

  test.each([
    [
      'another operation of the document',
      'query A { timeline { servedBy } } query B { timeline { strategy } }',
      'B',
    ],
    ['an operation that the document lacks', 'query A { timeline { servedBy } }', 'C'],
    [
      'no operation of several',
      'query A { timeline { servedBy } } query B { timeline { strategy } }',
      undefined,
    ],
    [
      'a named fragment',
      'query A { timeline { ...T } } fragment T on TimelineConnection { edges { node { text } } }',
      'A',
    ],
    ['an alias', '{ mine: timeline(first: 2) { edges { node { text } } } }', undefined],
    [
      'literal arguments',
      '{ timeline(first: 2, strategy: CACHE) { servedBy edges { node { text } } } }',
      undefined,
    ],
    [
      'a default value',
      'query A($first: Int = 2) { timeline(first: $first) { edges { cursor } } }',
      'A',
    ],
  ])('is the same with %s', async (_, query, operationName) => {
    const executed = query.replaceAll(
      / timeline(\([^)]*\))?/g,
      (text) => `${text} @include(if: true)`,
    )
    const expected = await bytesOf(reader, `${executed} # ${asked++}`, {}, { operationName })
    expect(await bytesOf(reader, `${query} # ${asked++}`, {}, { operationName })).toBe(expected)
  })

  test.each([
    ['no content type', undefined, '', 'planned'],
    ['the content type of JSON', 'application/json; charset=utf-8', '', 'planned'],
    ['variables', undefined, '&variables={"first":1}&extensions={}', 'planned'],
    ['its operation', undefined, '&operationName=A', 'planned'],
    ['the content type of a form', 'text/plain', '', 'refused'],
    ['a content type that begins like JSON', 'application/jsonp', '', 'refused'],
    ['a malformed content type', 'json', '', 'refused'],
    ['variables that are null', undefined, '&variables=%6eull', 'refused'],
    ['extensions that are null', undefined, '&extensions=nul%6c', 'refused'],
    ['variables that are a list', undefined, '&variables=[]', 'refused'],
    ['variables that are no JSON', undefined, '&variables={', 'refused'],
    ['variables that are there twice', undefined, '&variables={}&variables={}', 'refused'],
    ['another operation', undefined, '&operationName=B', 'refused'],
  ])('by GET is the same with %s', async (_, type, parameters, outcome) => {
    const answerTo = async (directive: string) => {
      const declared = 'query A($first: Int = 2)'
      const query = `${declared} { timeline(first: $first) ${directive} { edges { node { text } } } }`
      const url = `${app.url}/graphql?query=${encodeURIComponent(query)}${parameters}`
      const headers = { authorization: `Dev ${reader}`, ...(type ? { 'content-type': type } : {}) }
      return bytesIn(await fetch(url, { headers }))
    }
    const expected = await answerTo('@include(if: true)')
    const before = plannedPosts
    expect(await answerTo('')).toBe(expected)
    expect(plannedPosts > before).toBe(outcome === 'planned')
  })

  test('is left to Apollo if the request stores its document, in whatever spelling', async () => {
    const ask = async (parameters: string) => {
      const headers = { authorization: `Dev ${reader}` }
      const response = await fetch(`${app.url}/%67raphql?${parameters}`, { headers })
      return (await response.json()) as { readonly data?: object }
    }
    for (const member of ['query', '%71uery']) {
      const query = `{ timeline { edges { node { text } } } } # ${member}`
      const sha256Hash = hashOf(query)
      const persistedQuery = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } })
      const name = `extensions=${encodeURIComponent(persistedQuery)}`
      const stored = await ask(`${member}=${encodeURIComponent(query)}&${name}`)
      expect(stored).toHaveProperty('data.timeline')
      expect(await ask(name)).toEqual(stored)
    }
  })
})

import { inspect } from 'node:util'
import { Kind, print } from 'graphql'
import { beforeAll, expect, test } from 'vitest'
import { engagementNodeId, postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import {
  damage,
  fieldOf,
  type MalformedCase,
  malformedCases,
  readStored,
  restore,
  type Stored,
} from '../integration/damage/malformed.ts'
import { useApp, withLimits } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { size } from '../support/seed.ts'
import { handle, openAccounts } from '../support/services.ts'
import { readDefinitions, readFileNames } from '../support/written-operations.ts'

const app = useApp(
  { FEED_MAINTAINED: feedStrategyNames.join(',') },
  withLimits({ threshold: 2, capacity: 1_000 }),
)

const [ann, bob, cem, dan] = ['ann', 'bob', 'cem', 'dan'].map(handle) as [
  never,
  never,
  never,
  never,
]
let stored: Stored
let commentId = ''
let cases: readonly MalformedCase[] = []
/** The requests of clients: a document, its variables. */
let requests: readonly { readonly query: string; readonly variables: object }[] = []

/** The collections of posts, users, comments, edges and timelines. */
const damaged: readonly string[] = [
  ...['users', 'user_stats', 'followers', 'following', 'restrictions', 'posts', 'overflow'],
  ...['engagements_by_user', 'timed_buckets', 'sized_buckets', 'timeline_cache', 'inbox'],
]

beforeAll(async () => {
  const { services } = app
  await openAccounts(services, [ann, bob, cem, dan])
  await services.users.update(bob, { bio: 'I am bob', avatarUrl: 'https://a.example/b' })
  const attachment = { url: 'https://a.example/c', kind: 'IMAGE' as const, alt: 'c' }
  const post: PostRef = await services.posts.create(bob, {
    text: 'Hello @ann, see #this',
    attachments: [attachment],
  })
  for (const one of [ann, cem, dan]) {
    await services.follows.follow(one, bob)
    await services.engagements.add('likes', one, post)
    await services.engagements.add('shares', one, post)
    await services.engagements.add('comments', one, post, { text: 'Well said, @bob' })
  }
  const second = await services.posts.create(bob, { text: 'Again' })
  await services.engagements.add('likes', ann, second)
  await services.follows.follow(bob, ann)
  await services.follows.follow(ann, dan)
  await services.follows.setGroups(ann, bob, ['friends'])
  await services.restrictions.mute(ann, dan)
  await services.restrictions.block(ann, cem)
  await app.rest()
  const comments = await readPages(services.engagementReader.list('comments'), [post], {
    limit: 9,
    backward: false,
  })
  const comment = comments.get(post.id)?.items.at(-1)
  commentId = engagementNodeId({ kind: 'comments', post, key: comment?.id ?? '' })
  const [id, user] = [postNodeId(post), userNodeId(bob)]
  const operations = await readDefinitions(await readFileNames())
  const variables: Record<string, unknown> = {
    ...{ id, post: id, ids: [id, user, commentId], handle: bob, guide: bob, group: 'friends' },
    first: 5,
    ...{ one: 'INBOX', other: 'SIZED_BUCKETS', code: 'NOT_FOUND', since: undefined },
  }
  const mutations: Record<string, readonly object[]> = {
    LikePost: [{ postId: id }],
    UnlikePost: [{ postId: id }],
    SharePost: [{ postId: id }],
    UnsharePost: [{ postId: id }],
    AddComment: [{ postId: id, text: 'Again' }],
    DeleteComment: [{ commentId }],
    FollowUser: [{ user: { handle: bob } }],
    UnfollowUser: [{ user: { handle: bob } }],
    MuteUser: [{ user: { handle: bob } }],
    UnmuteUser: [{ user: { handle: bob } }],
    BlockUser: [{ user: { handle: bob } }],
    UnblockUser: [{ user: { handle: bob } }],
    SetFollowGroups: [{ user: { handle: bob }, groups: ['others'] }],
    CreatePost: [{ text: 'Hello' }],
    UpdateUser: [{ name: 'Ann' }],
  }
  const fragments = operations.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map(print)
  requests = operations.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return []
    const name = definition.name?.value ?? ''
    const names = definition.variableDefinitions?.map(({ variable }) => variable.name.value) ?? []
    if (names.includes('since') || name === 'TimelinePoll') return []
    const query = withFragments(print(definition), fragments)
    if (definition.operation === 'mutation') {
      return (mutations[name] ?? []).map((input) => ({ query, variables: { input } }))
    }
    // Only the viewer's own list may name a group.
    const asked = names.filter((one) => one !== 'group' || !names.includes('handle'))
    const own = Object.fromEntries(asked.map((one) => [one, variables[one]]))
    return names.includes('strategy')
      ? feedStrategyNames.map((strategy) => ({ query, variables: { ...own, strategy } }))
      : [{ query, variables: own }]
  })
  const isQuery = ({ query }: { readonly query: string }) => query.startsWith('query')
  // Mutations change what the queries read.
  requests = [...requests.filter(isQuery), ...requests.filter((one) => !isQuery(one))]
  // Each query answers without damage, and the timelines are stored.
  for (const request of requests.filter(isQuery)) {
    const { errors } = await app.send({ as: ann, ...request })
    expect(errors.map(({ message, extensions }) => [message, extensions.code])).toEqual([])
  }
  await app.rest()
  stored = await readStored(services)
  cases = malformedCases(stored).filter(({ collection }) => damaged.includes(collection))
}, patient(240_000))

/** An operation with the fragments that it needs. */
function withFragments(text: string, fragments: readonly string[]): string {
  const parts = [text]
  for (const part of parts) {
    for (const [, name] of part.matchAll(/\.\.\.(\w+)/g)) {
      const fragment = fragments.find((one) => one.startsWith(`fragment ${name} on`))
      if (fragment && !parts.includes(fragment)) parts.push(fragment)
    }
  }
  return parts.join('\n')
}

test(
  'a malformed document fails no operation with an internal error',
  async () => {
    const failures: string[] = []
    // At night all cases. They take long, so each day the same few.
    const step = { small: 3 * 401, standard: 401, night: 1 }[size]
    const tried = cases.filter((_, at) => at % step === Math.min(5, step - 1))
    for (const one of tried) {
      if (await damage(app.services, stored, one)) {
        for (const request of requests) {
          const { errors } = await app.send({ as: ann, ...request })
          for (const { extensions, path } of errors) {
            if (extensions.code !== 'INTERNAL_SERVER_ERROR') continue
            const [operation] = request.query.split('(')
            failures.push(`${fieldOf(one)} ${one.type}: ${operation} ${path?.join('.')}`)
          }
        }
      }
      await restore(app.services, stored)
    }
    const logged = app.logged.flatMap((line) => {
      const { err } = JSON.parse(line)
      return err ? [String(err.stack).split('\n').slice(0, 4).join(' ')] : []
    })
    if (failures.length > 0) console.error([...new Set(logged)].join('\n'))
    expect(failures).toEqual([])
  },
  patient(14_400_000),
)

test('a malformed count is the same in kept and executed answers', async () => {
  const timeline = (directive: string) =>
    `{ timeline(first: 5, strategy: INBOX) ${directive} { edges { node { likeCount } } } }`
  const send = (query: string) => app.send({ as: ann, query })
  const tried = share(
    1,
    cases.filter((one) => fieldOf(one) === 'posts.counts.likes'),
  )
  expect(tried.length).toBeGreaterThan(0)
  for (const one of tried) {
    if (await damage(app.services, stored, one)) {
      // No plan answers a query with a directive.
      const executed = await send(timeline('@include(if: true)'))
      expect(executed.errors, one.type).toEqual([])
      for (let times = 0; times < 3; times++) {
        const { data, errors } = await send(timeline(''))
        expect([data, errors], one.type).toEqual([executed.data, []])
      }
    }
    await restore(app.services, stored)
  }
})

test.each(['posts.comments.text', 'posts.comments.facets', 'posts.comments.actor'])(
  'a comment with malformed %s is deleted, or not found',
  async (field) => {
    const query = `mutation($input: DeleteCommentInput!) { deleteComment(input: $input) { deletedCommentId } }`
    const tried = share(
      1,
      cases.filter((one) => fieldOf(one) === field),
    )
    expect(tried.length).toBeGreaterThan(0)
    for (const one of tried) {
      if (await damage(app.services, stored, one)) {
        const { errors } = await app.send({ as: bob, query, variables: { input: { commentId } } })
        const codes = errors.map(({ extensions }) => extensions.code)
        expect([[], ['NOT_FOUND']], `${one.type}: ${codes}`).toContainEqual(codes)
      }
      await restore(app.services, stored)
    }
  },
)

test('a malformed followee is no pattern of a filter', async () => {
  const timeline = '{ timeline(first: 5, strategy: FANOUT_ON_READ) { edges { node { id } } } }'
  const tried = cases.filter((one) => fieldOf(one) === 'following.followee' && one.type === 'regex')
  const patterns = (commands: readonly { readonly command: object }[]) =>
    commands.filter(({ command }) => /RegExp|\/a\//.test(inspect(command, { depth: 10 })))
  for (const one of tried) {
    expect(await damage(app.services, stored, one)).toBeTruthy()
    const { commands } = await recorded(app.database.client, () =>
      app.send({ as: ann, query: timeline }),
    )
    expect(patterns(commands)).toEqual([])
    await restore(app.services, stored)
  }
  expect(tried.length).toBeGreaterThan(0)
})

const lists = `{
  bob: user(handle: "bob") {
    followers(first: 9) { edges { node { handle } } }
    posts(first: 9) { edges { node { id ...Entries } } }
  }
  ann: user(handle: "ann") {
    following(first: 9) { edges { node { handle } } }
    likedPosts(first: 9) { edges { node { id } } }
  }
}
fragment Entries on Post {
  likes(first: 9) { edges { node { id } } }
  comments(first: 9) { edges { node { id text } } }
  shares(first: 9) { edges { node { id } } }
}`
type List = { readonly edges?: readonly { readonly node: { readonly id?: string } | null }[] }

/** The number of items of each list, by its path. Those in a post are named by its id. */
async function lengths(): Promise<Map<string, number>> {
  const { data, errors } = await app.send({ as: ann, query: lists })
  expect(errors).toEqual([])
  const found = new Map<string, number>()
  const visit = (node: object, path: string) => {
    for (const [name, value] of Object.entries(node)) {
      const { edges } = (value ?? {}) as List
      if (!edges) continue
      const nodes = edges.flatMap((edge) => edge.node ?? [])
      found.set(`${path}.${name}`, nodes.length)
      for (const item of nodes) visit(item, `${item.id}`)
    }
  }
  for (const [name, user] of Object.entries(data as object)) visit(user, name)
  return found
}

test.each([
  ...['posts._id', 'followers._id', 'following._id', 'posts.likes._id', 'posts.comments._id'],
  ...['overflow.items._id', 'overflow.items', 'posts.comments.facets'],
  ...['engagements_by_user._id', 'engagements_by_user.post', 'posts.comments.text'],
])('a malformed %s takes out no other item of a list', async (field) => {
  const before = await lengths()
  const tried = cases.filter(
    (one) =>
      fieldOf(one) === field && ['int', 'string', 'minKey', 'maxKey', 'missing'].includes(one.type),
  )
  expect(tried.length).toBeGreaterThan(0)
  for (const one of tried) {
    if (await damage(app.services, stored, one)) {
      const after = await lengths()
      const shorter = [...before].filter(
        ([path, length]) => (after.get(path) ?? length) < length - 1,
      )
      expect(shorter, one.type).toEqual([])
    }
    await restore(app.services, stored)
  }
})

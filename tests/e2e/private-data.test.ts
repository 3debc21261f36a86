import { beforeAll, describe, expect, test } from 'vitest'
import { userNodeId } from '../../src/graphql/node-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'
import { useApp } from '../support/app.ts'
import { share } from '../support/repetition.ts'
import { schemaPaths } from '../support/schema-paths.ts'
import { handle, namesOf } from '../support/services.ts'

const oldest = '0'.repeat(24) as PostId
const dev = useApp()

interface Person {
  readonly handle: string
  readonly viewerGroups: readonly string[]
}

/** All users in an answer, at any depth. */
function peopleIn(data: unknown): Person[] {
  if (typeof data !== 'object' || data === null) return []
  return 'viewerGroups' in data ? [data as Person] : Object.values(data).flatMap(peopleIn)
}

const nothing = { viewerHasMuted: false, viewerHasBlocked: false, viewerGroups: [] }
/** The data that only ann may see. */
const secrets: Readonly<Record<string, object>> = {
  bob: { viewerGroups: ['secret'] },
  cat: { viewerHasMuted: true },
  dan: { viewerHasBlocked: true },
}
/** Lists that are empty for all viewers except ann. */
const ofOwner = /Viewer\.(mutes|blocks)/

describe('private data', () => {
  const run = (as: string | undefined, query: string) => dev.send({ as, query })
  const mine = `viewer { mutes { edges { node { handle } } } blocks { edges { node { handle } } } groups { edges { node { name } } } }`

  beforeAll(async () => {
    const done = async (as: string, fields: string) => {
      const { data, errors } = await run(as, `mutation { ${fields} }`)
      expect(errors).toEqual([])
      return data
    }
    const follow = (name: string) =>
      `${name}: followUser(input: {user: {handle: "${name}"}}) { changed }`
    const ids: string[] = []
    for (const name of ['ann', 'bob', 'cat', 'dan', 'eve']) {
      await dev.services.users.create(handle(name), { ...namesOf(handle(name)), name })
      const published = `createPost(input: {text: "by @${name}"}) { post { id } }`
      ids.push((await done(name, published)).createPost.post.id)
    }
    for (const name of ['ann', 'bob', 'cat']) {
      for (const postId of ids.slice(0, 3)) {
        await done(name, `likePost(input: {postId: "${postId}"}) { changed }`)
        await done(name, `sharePost(input: {postId: "${postId}"}) { changed }`)
        await done(
          name,
          `addComment(input: {postId: "${postId}", text: "@${name}"}) { comment { id } }`,
        )
      }
    }
    await done('ann', `${follow('dan')} ${follow('cat')} ${follow('bob')}`)
    await done('bob', `${follow('ann')} ${follow('cat')} ${follow('dan')}`)
    await done('cat', `${follow('ann')} ${follow('bob')} ${follow('eve')}`)
    await done('dan', `${follow('ann')} ${follow('cat')} ${follow('bob')}`)
    // Ann and bob may follow eve, and cat may follow dan.
    await done('eve', `${follow('cat')} ${follow('bob')}`)
    await done(
      'ann',
      `b: setFollowGroups(input: {user: {handle: "bob"}, groups: ["secret"]}) { groups }
       c: muteUser(input: {user: {handle: "cat"}}) { changed }
       d: blockUser(input: {user: {handle: "dan"}}) { changed }`,
    )
  })

  test('the viewer reads the own mutes, blocks and groups', async () => {
    const { data } = await run('ann', `{ ${mine} }`)
    expect(data.viewer.mutes.edges[0].node.handle).toBe('cat')
    expect(data.viewer.blocks.edges[0].node.handle).toBe('dan')
    expect(data.viewer.groups.edges[0].node.name).toBe('secret')
  })

  test('anonymous requests read users, posts and follows, but no timeline', async () => {
    const { data, errors } = await run(
      undefined,
      '{ user(handle: "ann") { name followingCount posts { edges { node { text } } } following { edges { node { handle viewerFollows viewerGroups viewerHasMuted } } } } viewer { handle } }',
    )
    expect(errors).toEqual([])
    expect(data.user.posts.edges[0].node.text).toBe('by @ann')
    expect(data.user.following.edges[0].node).toEqual({
      handle: 'bob',
      viewerFollows: false,
      viewerGroups: [],
      viewerHasMuted: false,
    })
    expect(data.viewer).toBeNull()
    const { errors: refused } = await run(undefined, '{ timeline { edges { cursor } } }')
    expect(refused[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  test.each(['bob', 'cat', 'dan'])('%s sees no mutes, blocks and groups', async (as) => {
    const answer = await run(
      as,
      `{ ${mine} user(handle: "ann") { viewerHasMuted viewerHasBlocked viewerGroups
        following { edges { node { handle viewerHasMuted viewerHasBlocked viewerGroups } } } } }`,
    )
    expect(answer.errors).toEqual([])
    const { viewer, user } = answer.data
    for (const list of ['mutes', 'blocks', 'groups']) expect(viewer[list].edges).toEqual([])
    expect(user).toMatchObject(nothing)
    for (const { node } of user.following.edges) expect(node).toMatchObject(nothing)
    const { errors } = await run(
      as,
      '{ user(handle: "ann") { following(group: "secret") { edges { cursor } } } }',
    )
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN')
  })

  const leaf = 'handle viewerHasMuted viewerHasBlocked viewerGroups'
  const roots = ['ann', 'bob'].flatMap((from) => {
    const id = userNodeId(handle(from))
    const given: Readonly<Record<string, string>> = {
      'Query.user': `(handle: "${from}")`,
      'Query.node': `(id: "${id}")`,
      'Query.nodes': `(ids: ["${id}"])`,
    }
    const argumentsOf = (field: string, type: string) => {
      if (field === 'Query.timelineNews')
        return `(since: "${pollCursors.encode(startingAt(oldest))}")`
      if (field === 'Query.post') return undefined
      return given[field] && type !== 'User' ? undefined : (given[field] ?? '')
    }
    return schemaPaths({ root: 'Query', targets: ['User'], argumentsOf, leaf })
  })

  test.each(share(1, [...new Set(roots.map(({ name }) => name))]))(
    'the query %s shows private data of the viewer only',
    async (name) => {
      const queries = roots
        .filter((path) => path.name === name)
        .map(({ selection }) => `{ ${selection} }`)
      const byAnn: Person[] = []
      for (const query of queries) {
        for (const as of ['bob', 'cat', undefined]) {
          const { data, errors } = await run(as, query)
          if (as !== undefined) expect(errors).toEqual([])
          for (const person of peopleIn(data)) {
            expect(person).toEqual({ handle: person.handle, ...nothing })
          }
          if (as && !ofOwner.test(name)) expect(peopleIn(data).length).toBeGreaterThan(0)
        }
        byAnn.push(...peopleIn((await run('ann', query)).data))
      }
      for (const person of byAnn) {
        expect(person).toEqual({ handle: person.handle, ...nothing, ...secrets[person.handle] })
      }
      // The users that ann blocked show her none of their lists.
      expect(byAnn.length > 0).toBe(!name.includes('Viewer.blocks/'))
    },
  )

  test.each(['followUser', 'unmuteUser', 'unblockUser'])(
    'the result of %s shows private data of the viewer only',
    async (field) => {
      for (const name of ['ann', 'cat']) {
        const { data, errors } = await run(
          'bob',
          `mutation { ${field}(input: {user: {handle: "${name}"}}) { changed user { ${leaf} } } }`,
        )
        expect(errors).toEqual([])
        expect(data[field]).toEqual({ changed: false, user: { handle: name, ...nothing } })
      }
    },
  )
})

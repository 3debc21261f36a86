import { describe, expect, test } from 'vitest'
import { findNodeRef } from '../../src/graphql/node-id.ts'
import { useApp } from '../support/app.ts'
import { subjectOf } from '../support/services.ts'

const app = useApp()
const briefly = useApp({ HANDLE_RESERVED_DAYS: '0' })

/** The data of a request without errors. */
async function ask(as: string | undefined, query: string, of = app) {
  const { data, errors } = await of.send({ as, query })
  expect(errors).toEqual([])
  return data
}

/** The code and the argument of the only error of a request. */
async function refusal(as: string, query: string, of = app) {
  const { errors } = await of.send({ as, query })
  expect(errors).toHaveLength(1)
  const { code, argument } = errors[0]?.extensions ?? {}
  return [code, argument]
}

const create = (input: string) =>
  `mutation { createUser(input: { name: "N", ${input} }) { user { id handle } viewer { id handle user { id } } } }`
const rename = (handle: string) =>
  `mutation { updateUser(input: { handle: "${handle}" }) { user { id handle } } }`
const idOf = async (handle: string, of = app): Promise<string | undefined> =>
  (await ask(undefined, `{ user(handle: "${handle}") { id } }`, of)).user?.id

describe('an account', () => {
  test.each([
    'auth0|5F7c8eC7c33c6C004bbafe82',
    'user_2NNEqL2nrIRdJ194ndJqAHwEfxC',
    'a@b.example',
    'É',
  ])('of the subject %j has the handle that it chose, and an id of its own', async (sub) => {
    const as = encodeURI(sub)
    const handle = `chosen-${sub.length}`
    const { viewer: before } = await ask(as, '{ viewer { id handle user { id } } }')
    expect(before).toEqual({ id: before.id, handle: null, user: null })
    expect(await refusal(as, create(''))).toEqual(['BAD_USER_INPUT', 'input.handle'])
    const { user, viewer } = (await ask(as, create(`handle: "@${handle.toUpperCase()}"`)))
      .createUser
    expect(user).toEqual({ id: user.id, handle })
    // A client keeps the viewer that it has in its cache.
    expect(viewer).toEqual({ id: before.id, handle, user: { id: user.id } })
    const ref = findNodeRef(user.id)
    expect(ref?.type === 'User' && ref.account).toMatch(/^[A-Z][A-Za-z0-9]{10}$/)
    expect((await ask(as, '{ viewer { id handle user { id } } }')).viewer).toEqual(viewer)
    expect(await refusal(as, create('handle: "another"'))).toEqual(['CONFLICT', undefined])
  })

  test('has the subject as handle by default, unless another account has it', async () => {
    const { createUser } = await ask('ann', create(''))
    expect(createUser.user.handle).toBe('ann')
    await ask('squatter', create('handle: "ben"'))
    expect(await refusal('ben', create(''))).toEqual(['CONFLICT', 'input.handle'])
    expect((await ask('ben', create('handle: "ben2"'))).createUser.user.handle).toBe('ben2')
  })

  test.each([
    ['admin', 'FORBIDDEN'],
    ['adm1n', 'FORBIDDEN'],
    ['me', 'FORBIDDEN'],
    ['null', 'FORBIDDEN'],
    ['undefined', 'FORBIDDEN'],
    ['constructor', 'FORBIDDEN'],
    ['ToString', 'FORBIDDEN'],
    ['sign-in', 'FORBIDDEN'],
    ['@everyone', 'FORBIDDEN'],
    ['a b', 'BAD_USER_INPUT'],
    ['.ann', 'BAD_USER_INPUT'],
    ['аnn', 'BAD_USER_INPUT'],
    ['a'.repeat(65), 'BAD_USER_INPUT'],
  ])('gets no handle %j: %s', async (handle, code) => {
    expect(await refusal('strange|1', create(`handle: "${handle}"`))).toEqual([
      code,
      'input.handle',
    ])
    await app.send({ as: 'renamer', query: create('') })
    expect(await refusal('renamer', rename(handle))).toEqual([code, 'input.handle'])
    expect(await idOf('renamer')).toBeDefined()
  })
})

describe('a handle that is changed', () => {
  test('shows in pages at once, and links by id, mentions and posts stay', async () => {
    const { id } = (await ask('cat', create(''))).createUser.user
    await ask('dan', create(''))
    await ask('dan', 'mutation { followUser(input: { user: { handle: "cat" } }) { changed } }')
    const { createPost } = await ask(
      'cat',
      'mutation { createPost(input: { text: "hi @cat @none" }) { post { id } } }',
    )
    const page = '{ timeline(first: 5) { edges { node { id author { id handle name } } } } }'
    const authorOf = async () => (await ask('dan', page)).timeline.edges[0].node.author
    // Often enough to be kept.
    for (let times = 0; times < 4; times++) expect((await authorOf()).handle).toBe('cat')
    expect((await ask('cat', rename('kate'))).updateUser.user).toEqual({ id, handle: 'kate' })
    expect(await authorOf()).toEqual({ id, handle: 'kate', name: 'N' })
    expect([await idOf('cat'), await idOf('kate')]).toEqual([id, id])
    const read = `{ node(id: "${id}") { ... on User { handle } } post(id: "${createPost.post.id}") {
      facets { handle user { id handle } } } }`
    expect(await ask('dan', read)).toEqual({
      node: { handle: 'kate' },
      post: {
        facets: [
          { handle: 'cat', user: { id, handle: 'kate' } },
          { handle: 'none', user: null },
        ],
      },
    })
    expect((await ask('cat', '{ viewer { handle user { id } } }')).viewer).toEqual({
      ...{ handle: 'kate', user: { id } },
    })
  })

  test('is kept for its account, which may take it again', async () => {
    await ask('eve', create(''))
    await ask('eve', rename('eva'))
    const isFree = (as: string | undefined, handle: string) =>
      ask(as, `{ isHandleAvailable(handle: "${handle}") }`).then((data) => data.isHandleAvailable)
    expect([await isFree(undefined, 'eve'), await isFree(undefined, 'eva')]).toEqual([false, false])
    expect([await isFree('eve', 'eve'), await isFree('eve', 'eva')]).toEqual([true, true])
    expect([await isFree('eve', 'admin'), await isFree(undefined, 'unused')]).toEqual([false, true])
    expect(await refusal('eve2', create('handle: "eve"'))).toEqual(['CONFLICT', 'input.handle'])
    // A person who signs in under the former handle is another one.
    expect((await ask('eve', rename('eve'))).updateUser.user.handle).toBe('eve')
    expect(await refusal('eve2', create('handle: "eva"'))).toEqual(['CONFLICT', 'input.handle'])
  })

  test('that is kept names its account in mutations, so a repeat returns the first result', async () => {
    await ask('lou', create(''))
    await ask('max', create(''))
    const relate = (field: string, id: string) =>
      `mutation { ${field}(input: {clientMutationId: "${id}", user: {handle: "max"}}) { changed user { handle } } }`
    const several =
      'mutation { followUsers(input: {clientMutationId: "s", users: [{handle: "max"}]}) { results { changed error { code } } } }'
    const first = [await ask('lou', relate('followUser', 'f')), await ask('lou', several)]
    await ask('max', rename('maxine'))
    expect(await ask('lou', relate('followUser', 'f'))).toEqual({
      followUser: { changed: true, user: { handle: 'maxine' } },
    })
    expect(await ask('lou', several)).toEqual(first[1])
    // A page that shows the former handle still works.
    expect(await ask('lou', relate('unfollowUser', 'u'))).toEqual({
      unfollowUser: { changed: true, user: { handle: 'maxine' } },
    })
  })

  test('that is kept finds its account wherever a handle is read, with the new handle', async () => {
    const { id } = (await ask('old-otto', create(''))).createUser.user
    await ask('pia', create(''))
    await ask('old-otto', rename('new-otto'))
    const link = '{ user(handle: "@Old-Otto") { id handle name viewerCanFollow } }'
    const found = { id, handle: 'new-otto', name: 'N', viewerCanFollow: true }
    expect((await ask('pia', link)).user).toEqual(found)
    // Several names of one account in one request.
    const both = '{ a: user(handle: "old-otto") { handle } b: user(handle: "new-otto") { handle } }'
    const { handle } = found
    expect(await ask(undefined, both)).toEqual({ a: { handle }, b: { handle } })
    const mention = '{ text facets { handle user { id handle } } }'
    const { createPost } = await ask(
      'pia',
      `mutation { createPost(input: { text: "hi @old-otto" }) { post { id ${mention.slice(1)} } }`,
    )
    const facets = [{ handle: 'old-otto', user: { id, handle } }]
    expect(createPost.post.facets).toEqual(facets)
    const { addComment } = await ask(
      'pia',
      `mutation { addComment(input: { postId: "${createPost.post.id}", text: "@old-otto" }) {
        comment ${mention} } }`,
    )
    expect(addComment.comment.facets).toEqual(facets)
    // A block reduces the profile as under the new handle.
    const block = (as: string, name: string) =>
      ask(as, `mutation { blockUser(input: { user: { handle: "${name}" } }) { changed } }`)
    expect(await block('old-otto', 'pia')).toEqual({ blockUser: { changed: true } })
    expect((await ask('pia', link)).user).toEqual({
      ...found,
      ...{ name: 'new-otto', viewerCanFollow: false },
    })
    // The person who has it again is the one that is found; a deleted one is found by neither.
    await ask('old-otto', rename('old-otto'))
    expect((await ask(undefined, both)).b).toEqual({ handle: 'old-otto' })
    await ask('old-otto', 'mutation { deleteUser(input: {}) { changed } }')
    expect(await ask(undefined, both)).toEqual({ a: null, b: null })
  })

  test('finds the next account that takes it after the reservation ended', async () => {
    await ask('rob', create(''), briefly)
    await ask('rob', rename('robert'), briefly)
    expect(await idOf('rob', briefly)).toBeUndefined()
    const next = (await ask('other|2', create('handle: "rob"'), briefly)).createUser.user
    expect(await idOf('rob', briefly)).toBe(next.id)
  })

  test('that is reserved is kept for an account that had it', async () => {
    const { user } = (await ask('kit', create(''))).createUser
    const { collections } = app.services
    const account = findNodeRef(user.id)
    const id = account?.type === 'User' ? account.account : undefined
    await collections.users.updateOne({ _id: String(id) }, { $set: { handle: 'support' } })
    await collections.handles.insertOne({ _id: 'support', account: String(id) })
    await collections.handles.deleteOne({ _id: 'kit' })
    await ask('kit', rename('help-desk'))
    const isFree = (as: string | undefined, handle: string) =>
      ask(as, `{ isHandleAvailable(handle: "${handle}") }`).then((data) => data.isHandleAvailable)
    expect([await isFree('kit', 'support'), await isFree(undefined, 'support')]).toEqual([
      true,
      false,
    ])
    expect((await ask('kit', rename('support'))).updateUser.user.handle).toBe('support')
  })

  test('is kept at most five times, and a refused change changes nothing', async () => {
    await ask('fay', create(''))
    for (let n = 1; n <= 5; n++) await ask('fay', rename(`fay${n}`))
    expect(await refusal('fay', rename('fay6'))).toEqual(['CONFLICT', 'input.handle'])
    expect((await ask('fay', '{ viewer { handle } }')).viewer.handle).toBe('fay5')
    expect((await ask('fay', rename('fay'))).updateUser.user.handle).toBe('fay')
  })

  test('is available to a viewer exactly if the viewer can take it', async () => {
    for (const sub of ['gil', 'hub']) await ask(sub, create(''))
    const isFree = async (as: string | undefined, handle: string) =>
      (await ask(as, `{ isHandleAvailable(handle: "${handle}") }`)).isHandleAvailable
    const answers = (as: string | undefined, handles: readonly string[]) =>
      Promise.all(handles.map((handle) => isFree(as, handle)))
    for (let n = 2; n <= 6; n++) {
      expect(await answers('gil', ['gil', `gil${n}`, 'hub', 'admin'])).toEqual([
        ...[true, true, false, false],
      ])
      await ask('gil', rename(`gil${n}`))
    }
    // It keeps five.
    const asked = ['gil', '@GIL2', 'gil5', 'gil6', 'gil7', 'never-taken', 'hub', 'admin']
    const own = await answers('gil', asked)
    expect(own).toEqual([true, true, true, true, false, false, false, false])
    const others = [false, false, false, false, true, true, false, false]
    for (const as of [undefined, 'no-account', 'hub'])
      expect(
        await answers(
          as,
          asked.filter((handle) => handle !== 'hub'),
        ),
      ).toEqual(others.toSpliced(6, 1))
    // Those that are refused change nothing, so each is asked from the same state.
    for (const [at, handle] of asked.entries()) {
      if (own[at]) continue
      const [code] = await refusal('gil', rename(handle))
      expect([handle, code]).toEqual([handle, handle === 'admin' ? 'FORBIDDEN' : 'CONFLICT'])
    }
    expect((await ask('gil', rename('gil2'))).updateUser.user.handle).toBe('gil2')
  })

  test('is free at once with HANDLE_RESERVED_DAYS=0, and its next owner inherits nothing', async () => {
    const { id } = (await ask('gus', create(''), briefly)).createUser.user
    const { createPost } = await ask(
      'gus',
      'mutation { createPost(input: { text: "I am @gus" }) { post { id } } }',
      briefly,
    )
    await ask('gus', rename('gustav'), briefly)
    const next = (await ask('other|1', create('handle: "gus"'), briefly)).createUser.user
    expect(next.id).not.toBe(id)
    expect(await idOf('gus', briefly)).toBe(next.id)
    const post = `{ post(id: "${createPost.post.id}") { author { id } facets { user { id } } } }`
    expect((await ask(undefined, post, briefly)).post).toEqual({
      author: { id },
      facets: [{ user: { id } }],
    })
    // The subject is still that of the first account.
    expect((await ask('gus', '{ viewer { handle } }', briefly)).viewer.handle).toBe('gustav')
  })
})

test('a person who comes back has another account, which meets nothing of the one before', async () => {
  const { id } = (await ask('hal', create(''))).createUser.user
  await ask('ida', create(''))
  const about = (handle: string) => `input: { user: { handle: "${handle}" } }`
  await ask('hal', `mutation { muteUser(${about('ida')}) { changed } }`)
  await ask('ida', `mutation { blockUser(${about('hal')}) { changed } }`)
  const post =
    'mutation { createPost(input: { text: "mine", clientMutationId: "once" }) { post { id } } }'
  const before = (await ask('hal', post)).createPost.post.id
  await ask('hal', 'mutation { deleteUser(input: {}) { changed handle } }')
  expect((await ask('hal', '{ viewer { handle user { id } } }')).viewer).toEqual({
    ...{ handle: null, user: null },
  })
  expect(await refusal('hal', create(''))).toEqual(['CONFLICT', undefined])
  await app.rest()
  const user = (await ask('hal', create(''))).createUser.user
  expect(user.handle).toBe('hal')
  expect(user.id).not.toBe(id)
  expect(await ask(undefined, `{ node(id: "${id}") { id } }`)).toEqual({ node: null })
  expect((await ask('hal', post)).createPost.post.id).not.toBe(before)
  const relations = '{ user(handle: "hal") { name viewerHasBlocked viewerCanFollow } }'
  expect((await ask('ida', relations)).user).toEqual({
    ...{ name: 'N', viewerHasBlocked: false, viewerCanFollow: true },
  })
  const mutes = '{ viewer { mutes(first: 5) { edges { node { handle } } } } }'
  expect((await ask('hal', mutes)).viewer.mutes.edges).toEqual([])
  expect(await app.services.subjects.find(subjectOf('hal'))).toBeDefined()
})

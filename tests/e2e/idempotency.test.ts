import { print } from 'graphql'
import { BSON } from 'mongodb'
import { beforeAll, describe, expect, test } from 'vitest'
import type { UserId } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import {
  type Input,
  inputsOf,
  mutationCases,
  type MutationName as Name,
  newPair,
  ownEntryDocuments,
  type Pair,
  thirdUser,
} from '../support/mutation-cases.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, subjectOf } from '../support/services.ts'

const app = useApp()
const cases = mutationCases(app)
const id = 'the-id'
const names = Object.keys(cases) as Name[]

beforeAll(() => openAccounts(app.services, [thirdUser]))

const leave = async ({ viewer }: Pair) => {
  const { subjects, users } = app.services
  await users.delete((await subjects.find(subjectOf(viewer))) ?? viewer)
  await app.rest()
}

const send = (name: Name, as: UserId | undefined, input: Input, clientMutationId?: string | null) =>
  app.send({
    as,
    query: print(cases[name].document),
    variables: { input: { ...input, clientMutationId } },
  })

/** The pair with the account that the viewer has now. */
async function current(pair: Pair): Promise<Pair> {
  const account = await app.services.subjects.find(subjectOf(pair.viewer))
  return { ...pair, viewer: account ?? pair.viewer }
}

/** The result of a mutation that must succeed. */
async function result(name: Name, as: UserId, input: Input, clientMutationId?: string) {
  const { data, errors } = await send(name, as, input, clientMutationId)
  expect(errors).toEqual([])
  return data[name]
}

/** The name and bio, or a note that they are unchanged since the account was opened. */
async function profileOf(user: UserId) {
  const found = await app.services.collections.users.findOne({ _id: user })
  return found?.name === user ? 'as opened' : { name: found?.name, bio: found?.bio }
}

/** All data of the two users that a mutation can change, without ids and times. */
async function state(pair: Pair) {
  const { viewer, other } = await current(pair)
  const { collections } = app.services
  const sideOf = async (user: UserId) => ({
    profile: await profileOf(user),
    stats: await collections.user_stats.findOne(
      { _id: user },
      { projection: { _id: 0, guard: 0, audience: 0 } },
    ),
    posts: await collections.posts.countDocuments({ author: user }),
    counts: (await collections.posts.find({ author: user }).toArray()).map(({ counts }) => counts),
    engagements_by_user: await collections.engagements_by_user.countDocuments({ user }),
    restrictions: (await collections.restrictions.find({ owner: user }).toArray())
      .map(({ kind }) => kind)
      .sort(),
    remembered: await collections.idempotency_keys.countDocuments({ '_id.viewer': user }),
  })
  const events = collections.follow_events.find({ user: viewer }).sort({ _id: 1 })
  const edge = { user: viewer, followee: other }
  return {
    viewer: await sideOf(viewer),
    other: await sideOf(other),
    history: (await events.toArray()).map(({ type }) => type),
    groups: (await collections.following.findOne(edge))?.groups,
    jobs: await collections.outbox.countDocuments({ 'payload.user': viewer }),
  }
}

describe.each(share(4, names))('%s', (name) => {
  const { ready, undo, otherwise } = cases[name]

  test('a repeated mutation returns the first result and changes nothing', async () => {
    const pair = await newPair(app)
    const input = await ready(pair)
    const before = await state(pair)
    const first = await result(name, pair.viewer, input, id)
    const after = await state(pair)
    expect(first.clientMutationId).toBe(id)
    expect({ ...after, remembered: undefined }).not.toEqual({ ...before, remembered: undefined })
    expect(await result(name, pair.viewer, input, id)).toEqual(first)
    expect(await state(pair)).toEqual(after)
  })

  // The idempotency keys of the account are deleted with it.
  test.skipIf(name === 'deleteUser')(
    'a repeated mutation returns the first result also after other changes',
    async () => {
      const pair = await newPair(app)
      const input = await ready(pair)
      const first = await result(name, pair.viewer, input, id)
      await undo(pair)
      const undone = await state(pair)
      const { changed, groups, deletedPostId } = first
      const repeated = await result(name, pair.viewer, input, id)
      expect(repeated).toMatchObject({
        ...(changed === undefined ? {} : { changed }),
        ...(groups === undefined ? {} : { groups }),
        ...(deletedPostId === undefined ? {} : { deletedPostId }),
        ...(/createUser|updateUser/.test(name)
          ? { user: { name: 'Later', bio: 'Written later' } }
          : {}),
      })
      for (const gone of [
        'post',
        'timelineEdge',
        'comment',
        'commentEdge',
        'likeEdge',
        'shareEdge',
      ]) {
        const isGone = !/^(un|delete)/.test(name) && (gone !== 'post' || name === 'createPost')
        if (gone in first && isGone) expect(repeated[gone], gone).toBeNull()
      }
      expect(await state(pair)).toEqual(undone)
    },
  )

  test('eight concurrent repeats of a mutation apply it once and return the same result', async () => {
    const [alone, together] = [await newPair(app), await newPair(app)]
    await result(name, alone.viewer, await ready(alone), id)
    const input = await ready(together)
    const all = await Promise.all(
      Array.from({ length: 8 }, () => result(name, together.viewer, input, id)),
    )
    expect(all).toEqual(all.map(() => all[0]))
    expect(await state(together)).toEqual(await state(alone))
  })

  test.skipIf(otherwise === undefined)('a key with another input is a CONFLICT', async () => {
    const pair = await newPair(app)
    await result(name, pair.viewer, await ready(pair), id)
    const after = await state(pair)
    const { data, errors } = await send(name, pair.viewer, otherwise?.(pair) ?? {}, id)
    expect(Object.values(data)).toEqual([null])
    expect(errors).toHaveLength(1)
    expect(errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      argument: 'input.clientMutationId',
    })
    expect(await state(pair)).toEqual(after)
  })

  test('a reused idempotency key for another mutation is a CONFLICT', async () => {
    const pair = await newPair(app)
    const input = await ready(pair)
    await result(name, pair.viewer, input, id)
    const after = await state(pair)
    for (const another of names.filter((one) => one !== name)) {
      const given = {
        ...inputsOf(await current(pair))[another],
        ...(sharesInput(name, another) ? input : {}),
      }
      const { errors } = await send(another, pair.viewer, given, id)
      expect(errors[0]?.extensions, another).toMatchObject({
        code: 'CONFLICT',
        argument: 'input.clientMutationId',
      })
    }
    expect(await state(pair)).toEqual(after)
  })

  test('the same idempotency key of another viewer is independent', async () => {
    const [one, another] = [await newPair(app), await newPair(app)]
    const first = await result(name, one.viewer, await ready(one), id)
    const input = await ready(another)
    const second = await result(name, another.viewer, input, id)
    expect(await state(another)).toEqual(await state(one))
    expect(second.clientMutationId).toBe(first.clientMutationId)
    expect(second.post?.id ?? second.deletedPostId ?? second.handle ?? '').not.toBe(
      first.post?.id ?? first.deletedPostId ?? first.handle,
    )
    const { data, errors } = await send(name, undefined, input, id)
    expect(Object.values(data)).toEqual([null])
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  test('an idempotency key that is too long or not Unicode is refused, and nothing changes', async () => {
    const pair = await newPair(app)
    const input = await ready(pair)
    const before = await state(pair)
    for (const wrong of ['x'.repeat(129), 'half a pair \ud83d']) {
      const { errors } = await send(name, pair.viewer, input, wrong)
      expect(errors[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'input.clientMutationId',
      })
    }
    expect(await state(pair)).toEqual(before)
    const longest = 'x'.repeat(128)
    expect((await result(name, pair.viewer, input, longest)).clientMutationId).toBe(longest)
  })
})

const sharesInput = (...both: Name[]) =>
  both.every((name) => /^(un)?(follow|mute|block)User$/.test(name)) ||
  both.every((name) => name in ownEntryDocuments)

interface Failing {
  readonly name: Name
  readonly input: Input
  readonly code: string
  readonly repair: (pair: Pair) => unknown
}
const isGone = (mutation: Name): Failing => ({
  name: mutation,
  input: { user: { handle: `gone-${mutation.toLowerCase()}` } },
  code: 'NOT_FOUND',
  repair: () => openAccounts(app.services, [handle(`gone-${mutation.toLowerCase()}`)]),
})
const openAgain = ({ viewer }: Pair) => openAccounts(app.services, [viewer])
const failing: readonly (Failing & { readonly prepare?: (pair: Pair) => unknown })[] = [
  { name: 'createUser', input: { name: 'Taken' }, code: 'CONFLICT', repair: leave },
  {
    name: 'updateUser',
    input: { name: 'Nobody' },
    code: 'NOT_FOUND',
    prepare: leave,
    repair: openAgain,
  },
  {
    name: 'createPost',
    input: { text: 'Hello' },
    code: 'NOT_FOUND',
    prepare: leave,
    repair: openAgain,
  },
  isGone('followUser'),
  isGone('muteUser'),
  isGone('blockUser'),
  {
    name: 'setFollowGroups',
    input: { user: { handle: thirdUser }, groups: ['a'] },
    code: 'NOT_FOUND',
    repair: ({ viewer }) => app.services.follows.follow(viewer, thirdUser),
  },
]

test.each(failing)(
  '$name that fails stores no result, and succeeds later under the same idempotency key',
  async ({ name, input, code, prepare, repair }) => {
    const pair = await newPair(app)
    await prepare?.(pair)
    const before = await state(pair)
    const { data, errors } = await send(name, pair.viewer, input, id)
    expect(Object.values(data)).toEqual([null])
    expect(errors[0]?.extensions.code).toBe(code)
    expect(await state(pair)).toEqual(before)
    await repair(pair)
    const done = await result(name, pair.viewer, input, id)
    expect(await result(name, pair.viewer, input, id)).toEqual(done)
  },
)

test('without an idempotency key, a repeated mutation applies again', async () => {
  const pair = await newPair(app)
  const keys = [undefined, undefined, null, '']
  for (const none of keys) {
    const { errors } = await send('createPost', pair.viewer, { text: 'Again' }, none)
    expect(errors).toEqual([])
  }
  expect(await state(pair)).toMatchObject({ viewer: { posts: 4, remembered: 0 } })
})

describe('what the record of a mutation holds', () => {
  const marker = 'zqmarkerqz'

  /** An input with the marker in every text of it. */
  const marked = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => marked(item, name))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, marked(one, key)]))
    }
    if (typeof value !== 'string' || /^(kind|handle|blurhash)$|Id$/.test(name)) return value
    return /url$/i.test(name) ? `https://${marker}.example/${marker}` : `${marker} ${value}`
  }
  const image = { url: 'x', kind: 'IMAGE', alt: 'x', width: 1, height: 1, blurhash: '' }
  const full: Partial<Record<Name, object>> = {
    createUser: { bio: 'x', avatarUrl: 'x', bannerUrl: 'x' },
    updateUser: { bio: 'x', avatarUrl: 'x', bannerUrl: 'x' },
    createPost: { attachments: [image, { ...image, kind: 'VIDEO' }] },
  }

  test.each(names)('%s: no text of the input, and at most 400 bytes', async (name) => {
    const pair = await newPair(app)
    const input = { ...(await cases[name].ready(pair)), ...full[name] }
    await result(name, pair.viewer, marked(input) as Input, id)
    const { idempotency_keys } = app.services.collections
    const { viewer } = await current(pair)
    const records = await idempotency_keys.find({ '_id.viewer': viewer }).toArray()
    // Of several follows, each has a record of its own.
    expect(records).toHaveLength(name === 'followUsers' ? 2 : 1)
    for (const record of records) {
      const bytes = BSON.serialize(record)
      expect(Buffer.from(bytes).toString('latin1')).not.toContain(marker)
      expect(Buffer.from(bytes).toString('latin1')).not.toContain(pair.other)
      expect(bytes.length).toBeLessThanOrEqual(400)
    }
  })
})

test('a repeat may order its fields otherwise, write them in the document, or leave out empty ones', async () => {
  const pair = await newPair(app)
  const inputs: readonly object[] = [
    { name: 'A', bio: null, avatarUrl: '' },
    { avatarUrl: null, name: 'A' },
    { bannerUrl: '', bio: '', name: 'A' },
  ]
  await leave(pair)
  const literal = (input: object) =>
    `{ ${Object.entries(input).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)} }`
  for (const input of inputs) {
    const given = { ...input, clientMutationId: 'any order' }
    const reversed = Object.fromEntries(Object.entries(given).reverse())
    for (const form of [given, reversed]) {
      const query = `mutation { createUser(input: ${literal(form)}) { user { name } } }`
      const answer = { data: { createUser: { user: { name: 'A' } } }, errors: [] }
      expect(await app.send({ as: pair.viewer, query })).toMatchObject(answer)
      await result('createUser', pair.viewer, form, 'any order')
    }
  }
})

test('equal inputs match in any notation, also within one request', async () => {
  const pair = await newPair(app)
  const first = await result('createPost', pair.viewer, { text: 'Once', attachments: [] }, id)
  const selection = '{ clientMutationId post { id text } }'
  const written = `input: { clientMutationId: "${id}", attachments: [], text: "Once" }`
  const query = `mutation { a: createPost(${written}) ${selection} b: createPost(${written}) ${selection} }`
  const { data } = await app.send({ as: pair.viewer, query })
  expect(data.a).toEqual({ clientMutationId: id, post: { id: first.post.id, text: 'Once' } })
  expect(data.b).toEqual(data.a)
  expect(await state(pair)).toMatchObject({ viewer: { posts: 1, remembered: 1 } })
})

test('a new account does not inherit the idempotency keys of the deleted account of its handle', async () => {
  const pair = await newPair(app)
  await leave(pair)
  await result('createUser', pair.viewer, { name: 'Short-lived' }, 'open')
  const first = await result('createPost', pair.viewer, { text: 'Farewell' }, 'post')
  await leave(pair)
  const { errors } = await send('createPost', pair.viewer, { text: 'Farewell' }, 'post')
  expect(errors[0]?.extensions.code).toBe('NOT_FOUND')
  const again = await result('createUser', pair.viewer, { name: 'Next owner' }, 'open')
  expect(again.user?.name).toBe('Next owner')
  const fresh = await result('createPost', pair.viewer, { text: 'Farewell' }, 'post')
  expect(fresh.post?.id).not.toBe(first.post?.id)
})

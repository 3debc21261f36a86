import { CreateUsersDocument, FollowUsersDocument } from '@feedline/client'
import { print } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import { commandPrice } from '../../src/graphql/prices.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { actFor, bySubject, secret, signed } from '../support/act-for.ts'
import { useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ AUTH_JWT_SECRET: secret, RESERVED_HANDLES: 'admin' })
const ofServer = { authorization: signed({ sub: 'importer', scope: 'act-for' }) }

interface Named {
  readonly subject: string
  readonly handle?: string
  readonly name?: string
  readonly bio?: string
}

type Full = Required<Pick<Named, 'subject' | 'handle' | 'name'>>

let used = 0
/** Users that no other test uses. */
const newUsers = (count: number): readonly Full[] =>
  Array.from({ length: count }, () => {
    const n = used++
    return { subject: `auth0|${n}`, handle: `new-${n}`, name: `New ${n}` }
  })

const send = (users: readonly Named[], clientMutationId?: string, headers: object = ofServer) =>
  app.send({
    query: print(CreateUsersDocument),
    variables: {
      input: { users: users.map((user) => ({ name: 'X', ...user })), clientMutationId },
    },
    headers: headers as Record<string, string>,
  })

async function create(users: readonly Named[], clientMutationId?: string) {
  const { data, errors } = await send(users, clientMutationId)
  expect(errors).toEqual([])
  return data.createUsers.results as readonly {
    readonly subject: string
    readonly created: boolean
    readonly user: { readonly id: string; readonly handle: string } | null
    readonly error: {
      readonly code: string
      readonly argument: string
      readonly message: string
    } | null
  }[]
}

const counted = async () => {
  const { users, subjects, handles, user_stats } = app.services.collections
  return Promise.all(
    [users, subjects, handles, user_stats].map((collection) => collection.countDocuments()),
  )
}

describe('createUsers', () => {
  test('creates accounts for subjects of the issuer of the token, which then sign in', async () => {
    const users = newUsers(3).map((user, at) => ({ ...user, bio: `Bio ${at}` }))
    const results = await create(users)
    expect(results).toEqual(
      users.map(({ subject, handle, name, bio }) => ({
        ...{ subject, created: true, error: null },
        user: expect.objectContaining({ handle, name, bio, followerCount: 0 }),
      })),
    )
    for (const [at, { subject, handle }] of users.entries()) {
      const headers = { authorization: signed({ sub: subject }) }
      const query = '{ viewer { handle user { id } } }'
      const { data } = await app.send({ query, headers })
      expect(data.viewer).toEqual({ handle, user: { id: results[at]?.user?.id } })
      const acting = { ...ofServer, 'feedline-act-for': `account:${results[at]?.user?.id}` }
      expect((await app.send({ query, headers: acting })).data).toEqual(data)
    }
  })

  test('the handle is the subject if there is none, and it is a handle', async () => {
    const [result, refused] = await create([{ subject: 'plain-subject' }, { subject: 'No Handle' }])
    expect(result?.user?.handle).toBe('plain-subject')
    expect(refused).toMatchObject({
      ...{ created: false, user: null },
      error: { code: 'BAD_USER_INPUT', argument: 'input.users.1.handle' },
    })
  })

  test('a repeat changes nothing, and says what was there before', async () => {
    const users = newUsers(30)
    const first = await create(users.slice(0, 20))
    const again = await create(users)
    expect(again.map(({ created }) => created)).toEqual(users.map((_, at) => at >= 20))
    expect(again.slice(0, 20).map(({ user }) => user)).toEqual(first.map(({ user }) => user))
    const before = await counted()
    expect(await create(users)).toEqual(again.map((one) => ({ ...one, created: false })))
    expect(await counted()).toEqual(before)
  })

  test('a repeat with its clientMutationId returns the first result', async () => {
    const users = newUsers(30)
    const first = await create(users, 'once')
    const before = await counted()
    expect(await create(users, 'once')).toEqual(first)
    expect(first.every(({ created }) => created)).toBe(true)
    expect(await create(users, 'another')).toEqual(first.map((one) => ({ ...one, created: false })))
    expect(await counted()).toEqual(before)
  })

  test('a clientMutationId with another input is a CONFLICT, and creates no account', async () => {
    const [one, two] = newUsers(2) as [Full, Full]
    const first = await create([one], 'of one')
    const before = await counted()
    const inputs: readonly (readonly Named[])[] = [
      ...[[two], [], [one, two], [two, one], [{ ...one, name: 'Changed' }]],
      ...[[{ ...one, handle: 'changed' }], [{ ...one, bio: 'Changed' }], newUsers(100)],
    ]
    for (const users of inputs) {
      const { data, errors } = await send(users, 'of one')
      expect([data, errors.length]).toEqual([{ createUsers: null }, 1])
      expect(errors[0]?.extensions).toMatchObject({
        ...{ code: 'CONFLICT', argument: 'input.clientMutationId' },
      })
    }
    expect(await counted()).toEqual(before)
    expect(await create([one], 'of one')).toEqual(first)
    // Of another server, and of the user, it is another one.
    const another = { authorization: signed({ sub: 'importer-2', scope: 'act-for' }) }
    expect((await send([two], 'of one', another)).errors).toEqual([])
    const headers = { authorization: signed({ sub: one.subject }) }
    const post =
      'mutation { createPost(input: { text: "x", clientMutationId: "of one" }) { post { text } } }'
    expect((await app.send({ query: post, headers })).errors).toEqual([])
  })

  test('of concurrent inputs under a clientMutationId, one creates accounts', async () => {
    const inputs = Array.from({ length: 6 }, () => newUsers(2))
    const before = await counted()
    const answers = await Promise.all(inputs.map((users) => send(users, 'one of many')))
    const codes = answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code))
    expect(codes).toEqual(Array(5).fill('CONFLICT'))
    expect(await counted()).toEqual(before.map((number) => number + 2))
  })

  test('the clientMutationId of a server with an account is that of all its mutations', async () => {
    const subject = 'server-with-account'
    await create([{ subject, handle: subject }])
    const headers = { authorization: signed({ sub: subject, scope: 'act-for' }) }
    const users = newUsers(1)
    expect((await send(users, 'its own', headers)).errors).toEqual([])
    expect((await send(newUsers(1), 'its own', headers)).errors[0]?.extensions.code).toBe(
      'CONFLICT',
    )
    const post =
      'mutation { createPost(input: { text: "x", clientMutationId: "its own" }) { post { text } } }'
    const { errors } = await app.send({ query: post, headers })
    expect(errors[0]?.extensions.code).toBe('CONFLICT')
  })

  test.each([[undefined], ['at once']])(
    'concurrent repeats under the clientMutationId %s create each account once',
    async (id) => {
      const users = newUsers(40)
      const before = await counted()
      const all = await Promise.all(Array.from({ length: 4 }, () => create(users, id)))
      expect(await counted()).toEqual(before.map((number) => number + users.length))
      for (const results of all) {
        expect(results.map(({ error }) => error)).toEqual(users.map(() => null))
        expect(results.map(({ user }) => user?.id)).toEqual(all[0]?.map(({ user }) => user?.id))
      }
      for (const at of users.keys()) {
        const creators = all.filter((results) => results[at]?.created).length
        expect(creators).toBe(id === undefined ? 1 : all.length)
      }
    },
  )

  test('a user that is refused refuses no other', async () => {
    const [taken, ...users] = newUsers(4) as [Full, Full, Full, Full]
    await create([taken])
    const gone = { subject: 'leaver', handle: 'leaver' }
    await create([gone])
    const leave = { authorization: signed({ sub: gone.subject }) }
    await app.send({ query: 'mutation { deleteUser(input: {}) { changed } }', headers: leave })
    const before = await counted()
    const refused: readonly (Named & { readonly code: string; readonly at: string })[] = [
      { subject: 'a', handle: taken.handle, code: 'CONFLICT', at: 'handle' },
      { subject: 'b', handle: 'leaver', code: 'CONFLICT', at: 'handle' },
      { subject: 'c', handle: 'admin', code: 'FORBIDDEN', at: 'handle' },
      { subject: 'd', handle: 'no handle', code: 'BAD_USER_INPUT', at: 'handle' },
      { subject: 'e', handle: 'e1', name: '', code: 'BAD_USER_INPUT', at: 'name' },
      { subject: 'f', handle: 'f1', name: 'Admin', code: 'BAD_USER_INPUT', at: 'name' },
      { subject: 'g', handle: 'g1', bio: 'x'.repeat(257), code: 'BAD_USER_INPUT', at: 'bio' },
      { subject: '', handle: 'h1', code: 'BAD_USER_INPUT', at: 'subject' },
      { subject: 'é'.repeat(128), handle: 'i1', code: 'BAD_USER_INPUT', at: 'subject' },
      { subject: 'j\u0000', handle: 'j1', code: 'BAD_USER_INPUT', at: 'subject' },
      // The names of a user that is refused are free for the next one.
      { subject: 'again', handle: 'again', name: '', code: 'BAD_USER_INPUT', at: 'name' },
      { ...users[0], handle: 'k1', code: 'BAD_USER_INPUT', at: 'subject' },
      { subject: 'l', handle: users[0].handle, code: 'BAD_USER_INPUT', at: 'handle' },
    ]
    const given = refused.map(({ code: _, at: __, ...user }) => user)
    const results = await create([...users, ...given, { subject: 'again', handle: 'again' }])
    expect(results.slice(0, 3).map(({ created }) => created)).toEqual([true, true, true])
    expect(results.at(-1)).toMatchObject({ created: true, error: null })
    for (const [at, { code, at: argument }] of refused.entries()) {
      expect(results[3 + at], `${code} ${argument}`).toMatchObject({
        ...{ subject: given[at]?.subject, created: false, user: null },
        error: { code, argument: `input.users.${3 + at}.${argument}` },
      })
      expect(results[3 + at]?.error?.message).not.toMatch(/input\.(?!users\.)/)
    }
    expect(await counted()).toEqual(before.map((number) => number + 4))
    // Its subject is still held.
    const [held] = await create([{ subject: 'leaver', handle: 'leaver-again' }])
    expect(held).toMatchObject({ created: false, user: null, error: { code: 'CONFLICT' } })
  })

  test('is for servers alone, which act for no one', async () => {
    const before = await counted()
    const headers = {
      anonymous: {},
      'a viewer': { authorization: signed({ sub: 'ann' }) },
      'a role': { authorization: signed({ sub: 'ann', roles: ['admin', 'act-for'] }) },
      'Dev sign-in': { authorization: 'Dev ann' },
      'a server that acts for a user': { ...ofServer, 'feedline-act-for': 'subject:ann' },
    }
    for (const [who, given] of Object.entries(headers)) {
      const { data, errors } = await send(newUsers(1), undefined, given)
      const codes = errors.map(({ extensions }) => extensions.code)
      expect([data, codes], who).toEqual([
        { createUsers: null },
        [who === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN'],
      ])
    }
    expect(await counted()).toEqual(before)
  })

  test('takes at most 100 users, within its price, in few commands', async () => {
    const { data, errors } = await send(newUsers(101))
    expect([data, errors[0]?.extensions.argument]).toEqual([{ createUsers: null }, 'input.users'])
    expect(await create([])).toEqual([])
    const users = newUsers(100)
    for (const id of [undefined, 'priced', 'priced']) {
      const { result, commands } = await recorded(app.database.client, () => send(users, id))
      expect(result.errors).toEqual([])
      noteFact(`createUsers of 100 users: ${commands.length} commands`)
      expect(commands.length).toBeLessThanOrEqual(60)
      expect(commands.length).toBeLessThanOrEqual(result.extensions.cost.requested / commandPrice)
      expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
    }
  })

  test('of which some failed goes on when it is repeated', async () => {
    const users = newUsers(60)
    {
      await using _fault = await failCommand(app.database.client, {
        failCommands: ['commitTransaction'],
        errorCode: 8_000,
        times: 1,
      })
      const { data, errors } = await send(users, 'goes on')
      expect(data).toEqual({ createUsers: null })
      expect(errors).toHaveLength(1)
    }
    const results = await create(users, 'goes on')
    expect(results.every(({ created, user }) => created && user)).toBe(true)
    expect(await create(users, 'goes on')).toEqual(results)
  })
})

describe('followUsers', () => {
  const people = Array.from({ length: 100 }, (_, n) => handle(`person${n}`))
  let viewers = 0
  const newViewer = async () => {
    const viewer = handle(`follower${viewers++}`)
    await openAccounts(app.services, [viewer])
    return viewer
  }
  const byHandle = (users: readonly string[]) => users.map((name) => ({ handle: name }))
  const request = (as: string | undefined, users: readonly object[], clientMutationId?: string) =>
    app.send({
      as,
      query: print(FollowUsersDocument),
      variables: { input: { users, clientMutationId } },
    })
  async function follow(as: string, users: readonly object[], clientMutationId?: string) {
    const { data, errors } = await request(as, users, clientMutationId)
    expect(errors).toEqual([])
    return data.followUsers
  }
  const changes = (answer: { readonly results: readonly { readonly changed: boolean }[] }) =>
    answer.results.map(({ changed }) => changed)

  beforeAll(() => openAccounts(app.services, people))

  test('makes the viewer follow 100 users, 16 in a transaction', async () => {
    const viewer = await newViewer()
    const { result, commands } = await recorded(app.database.client, () =>
      request(viewer, byHandle(people)),
    )
    const { results, viewer: after } = result.data.followUsers
    expect(results.map(({ user }: { user: { handle: string } }) => user.handle)).toEqual(people)
    expect(changes({ results })).toEqual(people.map(() => true))
    expect(after.user.followingCount).toBe(100)
    // That of the viewer's account, and seven of follows.
    const commits = commands.filter(({ name }) => name === 'commitTransaction')
    expect(commits).toHaveLength(8)
    noteFact(`followUsers of 100 users: ${commands.length} commands`)
    expect(commands.length).toBeLessThanOrEqual(result.extensions.cost.requested / commandPrice)
    expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
    const once = await app.services.follows.followeesAmong(viewer, people)
    expect(once.size).toBe(100)
  })

  test('of those that the viewer follows changes nothing, and says the first result to a repeat', async () => {
    const viewer = await newViewer()
    const some = byHandle(people.slice(0, 20))
    await follow(viewer, some.slice(0, 5))
    const first = await follow(viewer, some, 'once')
    expect(changes(first)).toEqual(some.map((_, at) => at >= 5))
    expect(await follow(viewer, some, 'once')).toEqual(first)
    // Also by ids.
    const ids = people.slice(0, 20).map((user) => ({ id: userNodeId(user) }))
    expect(await follow(viewer, ids, 'once')).toEqual(first)
    expect(changes(await follow(viewer, some))).toEqual(some.map(() => false))
    await app.services.follows.unfollow(viewer, people[7] as UserId)
    expect(changes(await follow(viewer, some, 'once'))).toEqual(changes(first))
    const following = await app.services.follows.followeesAmong(viewer, people)
    expect(following.size).toBe(19)
    for (const others of [some.slice(1), [...some].reverse()]) {
      const { data, errors } = await request(viewer, others, 'once')
      expect(data).toEqual({ followUsers: null })
      expect(errors[0]?.extensions.argument).toBe('input.clientMutationId')
    }
  })

  test.each([[undefined], ['at once']])(
    'concurrent repeats under the clientMutationId %s follow each user once',
    async (id) => {
      const viewer = await newViewer()
      const all = await Promise.all(
        Array.from({ length: 4 }, () => follow(viewer, byHandle(people.slice(0, 30)), id)),
      )
      for (let at = 0; at < 30; at++) {
        const changed = all.filter(({ results }) => results[at].changed).length
        expect(changed).toBe(id === undefined ? 1 : all.length)
      }
      const stats = (await app.services.stats.byIds([viewer])).get(viewer)
      expect(stats?.following).toBe(30)
    },
  )

  test('a user that is refused refuses no other', async () => {
    const viewer = await newViewer()
    const blocker = people[50] as UserId
    await app.services.restrictions.block(blocker, viewer)
    const refused: readonly [object, string, string | null][] = [
      [{ handle: 'nobody-there' }, 'NOT_FOUND', null],
      [{ id: userNodeId('nobody' as UserId) }, 'NOT_FOUND', null],
      [{ handle: viewer }, 'BAD_USER_INPUT', 'input.users.4'],
      [{ handle: blocker }, 'FORBIDDEN', null],
      [{ handle: 'no handle' }, 'BAD_USER_INPUT', 'input.users.6.handle'],
      [{ id: 'x' }, 'BAD_USER_INPUT', 'input.users.7.id'],
      [
        { id: postNodeId({ author: viewer, id: 'a'.repeat(24) as never }) },
        'BAD_USER_INPUT',
        'input.users.8.id',
      ],
    ]
    const { results } = await follow(viewer, [
      ...byHandle(['person1', '@Person2']),
      ...refused.map(([user]) => user),
      ...byHandle(['person3', 'person1']),
    ])
    // The second person1 is followed already.
    expect(changes({ results })).toEqual([true, true, ...refused.map(() => false), true, false])
    for (const [at, [, code, argument]] of refused.entries())
      expect(results[2 + at].error).toMatchObject({ code, argument })
    expect(results[1]).toMatchObject({ error: null, user: { handle: 'person2' } })
    expect(results[5].user).toMatchObject({ handle: blocker, name: blocker })
    expect((await app.services.follows.followeesAmong(viewer, people)).size).toBe(3)
  })

  test('a user that is named several times is followed once, and changed by the first alone', async () => {
    const viewer = await newViewer()
    const [renamed = viewer] = [handle(`renamed-${viewer}`)]
    await openAccounts(app.services, [renamed])
    await app.services.users.update(renamed, { handle: `now-${viewer}` as Handle })
    const names = [
      ...[{ handle: 'person1' }, { handle: '@PERSON1' }, { id: userNodeId(people[1] as UserId) }],
      ...[{ handle: renamed }, { handle: `now-${viewer}` }, { id: userNodeId(renamed) }],
      ...[{ handle: 'nobody-there' }, { handle: 'nobody-there' }, { handle: 'person2' }],
    ]
    const first = await follow(viewer, names, 'twice')
    expect(changes(first)).toEqual([
      ...[true, false, false],
      ...[true, false, false],
      ...[false, false, true],
    ])
    const codes = first.results.map(({ error }: { error: { code: string } | null }) => error?.code)
    expect(codes.filter(Boolean)).toEqual(['NOT_FOUND', 'NOT_FOUND'])
    expect(await follow(viewer, names, 'twice')).toEqual(first)
    expect(first.viewer.user.followingCount).toBe(3)
    // Across several transactions.
    const many = byHandle([...people.slice(10, 60), ...people.slice(10, 60)])
    expect(changes(await follow(viewer, many)).filter(Boolean)).toHaveLength(50)
  })

  test('needs a viewer with an account, and at most 100 users', async () => {
    const codeOf = async (as: string | undefined, users: readonly object[]) => {
      const { data, errors } = await request(as, users, 'x')
      expect(data).toEqual({ followUsers: null })
      return errors[0]?.extensions.code
    }
    expect(await codeOf(undefined, byHandle(people))).toBe('UNAUTHENTICATED')
    expect(await codeOf('nobody-yet', byHandle(people))).toBe('NOT_FOUND')
    const viewer = await newViewer()
    expect(await codeOf(viewer, byHandle([...people, 'one-more']))).toBe('BAD_USER_INPUT')
    expect((await follow(viewer, [])).results).toEqual([])
  })

  test('works for a user that a server acts for', async () => {
    const [user] = newUsers(1) as [Full]
    await create([user])
    const headers = actFor(bySubject(user.subject), ofServer.authorization)
    const { data, errors } = await app.send({
      query: print(FollowUsersDocument),
      variables: { input: { users: byHandle(people.slice(0, 3)) } },
      headers,
    })
    expect(errors).toEqual([])
    expect(changes(data.followUsers)).toEqual([true, true, true])
    expect(data.followUsers.viewer.user.followingCount).toBe(3)
  })

  test('reaches one shard with each of its commands', async () => {
    const viewer = await newViewer()
    const { commands } = await recorded(app.database.client, () =>
      follow(viewer, byHandle(['person1']), 'sharded'),
    )
    expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  })
})

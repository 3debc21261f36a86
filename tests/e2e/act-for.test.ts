import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { importGraph } from '../../packages/import/import-graph.ts'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { actFor, byAccount, bySubject, secret, sendRaw, signed } from '../support/act-for.ts'
import { type Answer, useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'
import { viewerOf } from '../support/sign-in.ts'

const jobs = {
  ...{ issuer: 'https://jobs.example', secret: 'j'.repeat(32) },
  actFor: 'https://jobs.example',
}
/** Its tokens sign users in, and act for no user. */
const users = { issuer: 'https://users.example', secret: 'u'.repeat(32) }
/** Acts for subjects of another issuer. */
const batch = {
  ...{ issuer: 'https://batch.example', secret: 'b'.repeat(32) },
  actFor: users.issuer,
}
/** Acts for accounts of several issuers. */
const tenants = {
  ...{ issuer: 'https://tenants.example', secret: 't'.repeat(32) },
  actFor: [users.issuer, jobs.issuer],
}
const app = useApp({
  ...{ AUTH_JWT_SECRET: secret, AUTH_ROLES_CLAIM: 'roles', FEED_STRATEGY: 'INBOX' },
  AUTH_ISSUERS: JSON.stringify([jobs, users, batch, tenants]),
})
const [ann, ben] = [handle('ann'), handle('ben')]

const ofServer = signed({ sub: 'importer', scope: 'openid act-for', roles: 'admin' })
const ofJobs = signed({ sub: 'importer', scp: ['act-for'], iss: jobs.issuer }, jobs.secret)
const acting = (user: string, authorization = ofServer) => actFor(user, authorization)

/** Creates the account of a subject of the main issuer. */
async function register(sub: string, name: string): Promise<UserId> {
  const query = `mutation { createUser(input: {name: "N", handle: "${name}"}) { user { id } } }`
  await as(bySubject(sub), query)
  return (await app.services.users.byHandles([name as Handle])).get(name as Handle)?.id as UserId
}

async function importEdges(edges: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-acting-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'edges.txt')
  await writeFile(file, `${edges}\n`)
  await importGraph(app.services, { file, mutual: false })
}

/** The data of a request that must succeed. */
async function as(user: string, query: string, authorization = ofServer) {
  const { data, errors } = await app.send({ query, headers: acting(user, authorization) })
  expect(errors).toEqual([])
  return data
}

beforeAll(async () => {
  await openAccounts(app.services, [ann, ben])
})

describe.each([
  ['account', () => byAccount(ann)],
  ['subject', () => bySubject('ann')],
])('a server that acts for a user by the %s', (form, name) => {
  test('posts, follows and reads what the user reads', async () => {
    const created = await as(
      name(),
      'mutation { createPost(input: {text: "mine"}) { post { id } } }',
    )
    const follow = 'mutation { followUser(input: {user: {handle: "ben"}}) { changed } }'
    expect(await as(name(), follow)).toEqual({ followUser: { changed: form === 'account' } })
    const query = `{ viewer { id handle roles } user(handle: "ben") { viewerFollows }
      timeline(first: 1) { edges { node { id author { handle } } } } }`
    const data = await as(name(), query)
    expect(data).toEqual({
      viewer: { ...viewerOf('ann'), handle: ann, roles: [] },
      user: { viewerFollows: true },
      timeline: { edges: [{ node: { ...created.createPost.post, author: { handle: ann } } }] },
    })
    expect((await app.send({ as: ann, query })).data).toEqual(data)
  })

  test('cannot create a second account of the user', async () => {
    const query = 'mutation { createUser(input: {name: "Ann", handle: "another"}) { user { id } } }'
    const { errors } = await app.send({ query, headers: acting(name()) })
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['CONFLICT'])
  })
})

describe('createUser for an account that a server names by its id', () => {
  const create = (form = '') =>
    `mutation { createUser(input: {name: "Eli", ${form}}) { user { id } viewer { id } } }`
  const subjects = () => app.services.collections.subjects

  test('opens none for an account whose subject is lost', async () => {
    const account = await register('mel', 'mel')
    await subjects().deleteOne({ account })
    const { errors } = await app.send({
      ...{ query: create('handle: "mel2"'), headers: acting(byAccount(account)) },
    })
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['CONFLICT'])
  })

  test('has the first result for a repeat', async () => {
    const form = 'handle: "nia", clientMutationId: "open"'
    const first = await as(bySubject('auth0|nia'), create(form))
    const account = `account:${first.createUser.user.id}`
    expect(await as(account, create(form))).toEqual(first)
  })
})

test('without the header, a server acts for itself, with its own roles', async () => {
  const query = '{ viewer { id roles handle } }'
  const { data } = await app.send({ query, headers: { authorization: ofServer } })
  expect(data.viewer).toEqual({ ...viewerOf('importer'), roles: ['ADMIN'], handle: null })
})

test('a user without an account gets one, and a subject belongs to the issuer of the token', async () => {
  const sub = 'auth0|6F, "é" '
  const create = (to: string) =>
    `mutation { createUser(input: {name: "New", handle: "${to}"}) { user { id } viewer { id } } }`
  const query = '{ viewer { id handle } }'
  expect(await as(bySubject(sub), query)).toEqual({ viewer: { ...viewerOf(sub), handle: null } })
  const first = await as(bySubject(sub), create('of-main'))
  const other = await as(bySubject(sub), create('of-jobs'), ofJobs)
  expect(first.createUser.viewer).toEqual(viewerOf(sub))
  expect(other.createUser.viewer).toEqual(viewerOf(sub, jobs.issuer))
  expect(first.createUser.user.id).not.toBe(other.createUser.user.id)
  const own = await app.send({ query, headers: { authorization: signed({ sub }) } })
  expect(own.data.viewer).toEqual({ ...viewerOf(sub), handle: 'of-main' })
  const [ofMain, ofOther] = [first, other].map(({ createUser }) => `account:${createUser.user.id}`)
  expect(await as(ofMain ?? '', query)).toEqual(own.data)
  expect(await as(ofOther ?? '', query, ofJobs)).toEqual({
    viewer: { ...viewerOf(sub, jobs.issuer), handle: 'of-jobs' },
  })
})

describe('a server acts for the account', () => {
  const query = '{ viewer { handle } }'
  const ofTenants = signed(
    { sub: 'tenants', scope: 'act-for', iss: tenants.issuer },
    tenants.secret,
  )
  const ofBatch = signed({ sub: 'nightly', scope: 'act-for', iss: batch.issuer }, batch.secret)
  const servers = { main: ofServer, jobs: ofJobs, batch: ofBatch, tenants: ofTenants }
  const owners = { main: { issuer: '', isMain: true }, users, jobs }
  const createAccount = async (owner: keyof typeof owners, name: string) => {
    const { issuer } = owners[owner]
    const subject = { issuer, sub: name, isMain: owner === 'main' }
    const profile = { name: 'N', handle: name as Handle }
    return (await app.services.users.register(subject, profile))?.id as UserId
  }
  /** Whose accounts each server acts for. */
  const allowed: Readonly<Record<keyof typeof servers, readonly string[]>> = {
    ...{ main: ['main', 'imported'], jobs: ['jobs'] },
    ...{ batch: ['users'], tenants: ['users', 'jobs'] },
  }

  test.each(Object.entries(servers))(
    'of an issuer that its configuration names, and to %s no other exists',
    async (name, authorization) => {
      await importEdges(`zoe-${name} yan-${name}`)
      const imported = await app.services.collections.users.findOne({ handle: `zoe-${name}` })
      const accounts = new Map([['imported', imported?._id as UserId]])
      for (const owner of ['main', 'users', 'jobs'] as const)
        accounts.set(owner, await createAccount(owner, `${owner}-by-${name}`))
      const ask = async (account: UserId) => {
        const headers = acting(byAccount(account), authorization)
        const { result, commands } = await recorded(app.database.client, () =>
          app.send({ query: 'mutation { deleteUser(input: {}) { changed } }', headers }),
        )
        return { ...result, commands: labelsOf(commands) }
      }
      const missing = await ask('nobody' as UserId)
      expect(missing.status).toBe(404)
      for (const [owner, account] of accounts) {
        if (allowed[name as keyof typeof servers].includes(owner)) {
          expect((await as(byAccount(account), query, authorization)).viewer.handle).toBeTruthy()
          continue
        }
        const { status, errors, data, commands } = await ask(account)
        expect([status, data ?? null, commands]).toEqual([404, null, missing.commands])
        expect(errors[0]?.message).toBe(missing.errors[0]?.message)
        expect(errors[0]?.extensions.code).toBe('NOT_FOUND')
      }
      const owned = await app.services.users.byIds([...accounts.values()])
      expect(owned.size).toBe(accounts.size)
    },
  )

  test('of several issuers, and names subjects of the first', async () => {
    const sub = 'auth0|several'
    const account = await app.services.users.register(
      { issuer: users.issuer, sub, isMain: false },
      { name: 'N', handle: 'several' as Handle },
    )
    expect(await as(bySubject(sub), '{ viewer { user { id } } }', ofTenants)).toEqual({
      viewer: { user: { id: userNodeId(account?.id as UserId) } },
    })
    const create = `mutation { createUsers(input: {users: [{subject: "${sub}", name: "X", handle: "several.two"}]}) { results { created user { handle } } } }`
    const { data } = await app.send({ query: create, headers: { authorization: ofTenants } })
    expect(data.createUsers.results).toEqual([{ created: false, user: { handle: 'several' } }])
  })
})

test('a listed issuer acts for the subjects of the issuer that its actFor names, and without one for no user', async () => {
  const ofBatch = signed({ sub: 'nightly', scope: 'act-for', iss: batch.issuer }, batch.secret)
  const sub = 'auth0|batch'
  const created = await app.send({
    query: `mutation { createUsers(input: {users: [{subject: "${sub}", handle: "of-users", name: "N"}]}) { results { created } } }`,
    headers: { authorization: ofBatch },
  })
  expect(created.data).toEqual({ createUsers: { results: [{ created: true }] } })
  const query = '{ viewer { id handle } }'
  const viewer = { ...viewerOf(sub, users.issuer), handle: 'of-users' }
  expect(await as(bySubject(sub), query, ofBatch)).toEqual({ viewer })
  const token = signed({ sub, iss: users.issuer }, users.secret)
  expect((await app.send({ query, headers: { authorization: token } })).data).toEqual({ viewer })
  expect(await as(bySubject(sub), query)).toEqual({ viewer: { ...viewerOf(sub), handle: null } })
  // A user who asks the provider for the scope.
  const greedy = signed({ sub, iss: users.issuer, scope: 'act-for' }, users.secret)
  for (const user of [bySubject(sub), bySubject('ann'), byAccount(ann)]) {
    const { status, errors } = await app.send({ query, headers: acting(user, greedy) })
    expect([status, errors[0]?.extensions.code]).toEqual([403, 'FORBIDDEN'])
  }
  const bulk =
    'mutation { createUsers(input: {users: [{subject: "x", name: "X"}]}) { results { created } } }'
  const { errors } = await app.send({ query: bulk, headers: { authorization: greedy } })
  expect(errors[0]?.extensions.code).toBe('FORBIDDEN')
})

test('the clientMutationIds of a server are neither those of its users nor of another server', async () => {
  const ofOther = signed({ sub: 'other importer', scope: 'act-for' })
  const post = (text: string) =>
    `mutation { createPost(input: {clientMutationId: "1", text: "${text}"}) { clientMutationId post { text } } }`
  const answerTo = (text: string) => ({
    createPost: { clientMutationId: '1', post: { text } },
  })
  await app.send({
    query:
      'mutation { createUsers(input: {clientMutationId: "1", users: [{subject: "counter", name: "C"}]}) { results { created } } }',
    headers: { authorization: ofServer },
  })
  const own = { authorization: signed({ sub: 'counter' }) }
  expect((await app.send({ query: post('mine'), headers: own })).data).toEqual(answerTo('mine'))
  expect(await as(bySubject('counter'), post('served'))).toEqual(answerTo('served'))
  expect(await as(bySubject('counter'), post('other'), ofOther)).toEqual(answerTo('other'))
  // Each repeats its own.
  expect((await app.send({ query: post('mine'), headers: own })).data).toEqual(answerTo('mine'))
  expect(await as(bySubject('counter'), post('served'))).toEqual(answerTo('served'))
  const query = '{ viewer { user { postCount } } }'
  expect(await as(bySubject('counter'), query)).toEqual({ viewer: { user: { postCount: 3 } } })
})

test('a subject that looks like the account of another user is that subject', async () => {
  const query = '{ viewer { id handle } }'
  for (const sub of [byAccount(ann), userNodeId(ann), bySubject('ann'), 'subject:ann', '%61nn']) {
    expect(await as(bySubject(sub), query)).toEqual({ viewer: { ...viewerOf(sub), handle: null } })
    const own = await app.send({ query, headers: { authorization: signed({ sub }) } })
    expect(own.data.viewer).toEqual({ ...viewerOf(sub), handle: null })
  }
})

/** Claims of tokens that may not act for users. */
const unscoped: Readonly<Record<string, object>> = {
  'a token without scopes': {},
  'a token with other scopes': { scope: 'act-for-all act_for Act-For', scp: ['act-for openid'] },
  'a role instead of a scope': { roles: ['admin', 'act-for'] },
  'claims of an actor': { act: { sub: 'ann' }, may_act: 'act-for', scopes: 'act-for' },
}

describe('a request is refused as a whole, without an effect:', () => {
  const mutation = 'mutation { createPost(input: {text: "never"}) { post { id } } }'
  const post = () => postNodeId({ author: ann, id: 'a'.repeat(24) as never })
  const annsAccount = byAccount(ann)
  const refusals: Readonly<Record<string, readonly [string | undefined, string, string]>> = {
    'an anonymous one': [undefined, annsAccount, '401 UNAUTHENTICATED'],
    'an anonymous one with a malformed header': [undefined, 'x', '401 UNAUTHENTICATED'],
    'a bad token': [`${ofServer}x`, annsAccount, '401 UNAUTHENTICATED'],
    ...Object.fromEntries(
      Object.entries(unscoped).map(([name, claims]) => [
        name,
        [signed({ sub: 'ben', ...claims }), annsAccount, '403 FORBIDDEN'],
      ]),
    ),
    'a token that acts for itself': [signed({ sub: 'ben' }), bySubject('ben'), '403 FORBIDDEN'],
    'Dev sign-in': ['Dev ben', annsAccount, '403 FORBIDDEN'],
    'Dev sign-in with a malformed header': ['Dev ben', '', '403 FORBIDDEN'],
    'a missing account': [ofServer, byAccount('nobody' as UserId), '404 NOT_FOUND'],
  }
  const malformed = () => [
    ...['', ' ', ann, `@${ann}`, userNodeId(ann), 'account', 'account:', 'account: ', 'subject:'],
    ...['account:ann', 'handle:ann', `Account:${userNodeId(ann)}`, `account: ${userNodeId(ann)}`],
    ...[`account:${post()}`, `account:${encodeOpaque('Viewer', 'ann')}`, `${byAccount(ann)}=x`],
    ...[`account:${encodeOpaque('User', '~x')}`, `account:${encodeOpaque('User', 'ann', 'ann')}`],
    ...[`${byAccount(ann)}, ${byAccount(ann)}`, `${bySubject('ann')},${bySubject('ben')}`],
    ...[`account:${'x'.repeat(600)}`, 'subject:ann ben', 'subject:ann,ben', 'subject:a|b'],
    ...[
      'subject:%',
      'subject:%zz',
      'subject:%ff',
      'subject:%ed%a0%80',
      'subject:a%00',
      'subject:%0a',
    ],
    ...[
      `subject:${'x'.repeat(256)}`,
      `subject:${'%C3%A9'.repeat(128)}`,
      'subject:a;b=1',
      '{"$ne":1}',
    ],
  ]

  async function expectRefused(send: () => Promise<Answer>, expected: string) {
    const before = await app.services.collections.posts.countDocuments()
    const { status, data, errors } = await send()
    expect(`${status} ${errors[0]?.extensions.code}`).toBe(expected)
    expect([data ?? null, errors.length]).toEqual([null, 1])
    expect(await app.services.collections.posts.countDocuments()).toBe(before)
    return errors[0]?.message
  }

  test.each(Object.entries(refusals))('%s', async (_, refusal) => {
    const [authorization, user, expected] = refusal
    const headers = { 'feedline-act-for': user, ...(authorization && { authorization }) }
    await expectRefused(() => app.send({ query: mutation, headers }), expected)
  })

  test('a malformed header, whose name the refusal says', async () => {
    for (const value of malformed()) {
      const send = () => app.send({ query: mutation, headers: acting(value) })
      const message = await expectRefused(send, '400 BAD_REQUEST')
      expect(message, value).toMatch(/^Feedline-Act-For: /)
    }
  })

  test.each([
    ['the same value', () => [byAccount(ann), byAccount(ann)]],
    ['two values', () => [byAccount(ann), bySubject('ben')]],
    ['an empty value', () => ['', byAccount(ann)]],
  ])('two headers, with %s', async (_, values) => {
    const named = values().flatMap((value) => ['feedline-act-for', value])
    const send = () => sendRaw(app.url, mutation, ['authorization', ofServer, ...named])
    const message = await expectRefused(send, '400 BAD_REQUEST')
    expect(message).toBe('Feedline-Act-For: send the header only once')
  })

  test('a deleted account', async () => {
    const gone = handle('gone')
    await openAccounts(app.services, [gone])
    expect(await as(byAccount(gone), '{ viewer { handle } }')).toEqual({ viewer: { handle: gone } })
    await as(byAccount(gone), 'mutation { deleteUser(input: {}) { changed } }')
    const send = () => app.send({ query: mutation, headers: acting(byAccount(gone)) })
    await expectRefused(send, '404 NOT_FOUND')
    await app.rest()
    await expectRefused(send, '404 NOT_FOUND')
  })

  test('a query by GET too', async () => {
    const url = `${app.url}/graphql?${new URLSearchParams({ query: '{ viewer { id } }' })}`
    for (const [headers, status] of [
      [acting('x'), 400],
      [acting(byAccount(ann), signed({ sub: 'ben' })), 403],
      [{ 'feedline-act-for': byAccount(ann) }, 401],
    ] as const)
      expect((await fetch(url, { headers: { ...headers } })).status).toBe(status)
  })
})

describe('a server that acts for two users in turn', () => {
  const [cat, dan] = [handle('cat'), handle('dan')]
  const stable = '{ timeline(first: 5) { edges { node { text author { handle } } } pollCursor } }'

  beforeAll(async () => {
    await openAccounts(app.services, [cat, dan])
    for (const user of [cat, dan]) await app.services.posts.create(user, { text: `of ${user}` })
    await app.rest()
  })

  test('gets the pages of each on one connection, also from memory', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const forms = [byAccount(cat), bySubject('dan'), bySubject('cat'), byAccount(dan)]
    const headersOf = (user: string) => ['authorization', ofServer, 'feedline-act-for', user]
    let commands: readonly string[] = []
    for (let times = 0; times < 5; times++) {
      for (const [at, user] of forms.entries()) {
        const seen = await recorded(app.database.client, () =>
          sendRaw(app.url, stable, headersOf(user), agent),
        )
        commands = labelsOf(seen.commands)
        const { edges } = seen.result.data.timeline
        const own = [cat, dan][at % 2]
        expect(edges).toEqual([{ node: { text: `of ${own}`, author: { handle: own } } }])
      }
    }
    // The last page is from memory, and its account was looked up.
    expect(commands).toEqual(['read inbox', 'read outbox', 'read users'])
    agent.destroy()
  })

  test('gets the pages of each by GET, with what decides them in Vary', async () => {
    const query = '{ timeline(first: 4) { edges { node { text } } } }'
    const url = `${app.url}/graphql?${new URLSearchParams({ query })}`
    const textsOf = async (user: string, etag = '') => {
      const response = await fetch(url, { headers: { ...acting(user), 'if-none-match': etag } })
      const text = response.status === 304 ? '' : await response.text()
      const { headers, status } = response
      return { status, text, etag: headers.get('etag') ?? '', vary: headers.get('vary') }
    }
    for (let times = 0; times < 4; times++) {
      const first = await textsOf(byAccount(cat))
      expect(first.text).toContain('of cat')
      expect(first.vary).toContain('Authorization, feedline-act-for, ')
      const other = await textsOf(byAccount(dan), first.etag)
      expect([other.status, other.text]).toEqual([200, expect.stringContaining('of dan')])
      expect((await textsOf(bySubject('cat'), first.etag)).status).toBe(304)
    }
  })

  test('polls the news of each', async () => {
    const cursorOf = async (user: string) => (await as(user, stable)).timeline.pollCursor
    const cursors = new Map<UserId, string>()
    for (const user of [cat, dan]) cursors.set(user, await cursorOf(byAccount(user)))
    await as(bySubject('cat'), 'mutation { createPost(input: {text: "news"}) { post { id } } }')
    await app.rest()
    for (let times = 0; times < 3; times++) {
      for (const user of [cat, dan]) {
        const news = `{ timelineNews(since: "${cursors.get(user)}") { count } }`
        const { timelineNews } = await as(byAccount(user), news)
        expect(timelineNews.count).toBe(user === cat ? 1 : 0)
      }
    }
  })

  test('never mixes concurrent requests', async () => {
    const users = Array.from({ length: 40 }, (_, n) => (n % 3 === 0 ? cat : dan))
    const answers = await Promise.all(
      users.map((user, n) =>
        as(n % 2 === 0 ? byAccount(user) : bySubject(user), '{ viewer { handle } }'),
      ),
    )
    expect(answers.map(({ viewer }) => viewer.handle)).toEqual(users)
  })
})

import { expect, test } from 'vitest'
import { actFor, byAccount, secret, signed } from '../support/act-for.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { useDatabase } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'
import { expectUnauthenticated, who } from '../support/sign-in.ts'

const database = useDatabase()
const serve = (env: Readonly<Record<string, string>>) =>
  useApp({ AUTH_JWT_SECRET: secret, AUTH_ROLES_CLAIM: 'roles', ...env }, undefined, database)

const [older, former, present] = [
  'http://id.example/auth',
  'http://id.example',
  'https://id.example',
]
const other = 'https://other.example'
/** The servers of one database, as they differ while the text of `iss` changes. */
const before = serve({ AUTH_ISSUER: former })
const unaware = serve({ AUTH_ISSUER: present })
const after = serve({ AUTH_ISSUER: present, AUTH_FORMER_ISSUERS: former })
const twice = serve({ AUTH_ISSUER: present, AUTH_FORMER_ISSUERS: `${older},${former}` })
const disordered = serve({ AUTH_ISSUER: present, AUTH_FORMER_ISSUERS: `${former},${older}` })
const ofOther = serve({ AUTH_ISSUER: other })
const bare = serve({})

let names = 0
/** A name that no account has. */
const newName = () => `name-${names++}`
const bearer = (sub: string, iss?: string, more: object = {}) => signed({ sub, iss, ...more })

/** Creates the account of the sender. @returns its id, or the code of the refusal. */
async function signUp(app: TestApp, authorization: string): Promise<string> {
  const query = `mutation { createUser(input: {name: "N", handle: "${newName()}"}) { user { id } } }`
  const { data, errors } = await app.send({ query, headers: { authorization } })
  return errors[0]?.extensions.code ?? data.createUser.user.id
}

/** The account of the sender and its Viewer, as the server shows them. */
async function viewerOn(app: TestApp, authorization: string) {
  const query = '{ viewer { id roles user { id } } }'
  const { data, errors } = await app.send({ query, headers: { authorization } })
  expect(errors).toEqual([])
  return data.viewer
}
const accountOn = async (app: TestApp, authorization: string): Promise<string | undefined> =>
  (await viewerOn(app, authorization)).user?.id

/** The number of accounts of a subject, whatever the issuer. */
const countAccounts = (sub: string) =>
  database.collections.users.countDocuments({ subject: { $regex: ` ${sub}$` } })

test('the accounts of a former issuer are those of the present one, with the same Viewer and roles', async () => {
  const sub = newName()
  const account = await signUp(before, bearer(sub, former))
  const roles = { roles: 'admin' }
  const expected = {
    ...(await viewerOn(before, bearer(sub, former, roles))),
    user: { id: account },
  }
  expect(expected.roles).toEqual(['ADMIN'])
  for (const iss of [present, former])
    for (const app of [after, twice, disordered]) {
      const viewer = await viewerOn(app, bearer(sub, iss, roles))
      expect({ ...viewer, id: '' }).toEqual({ ...expected, id: '' })
      expect(await signUp(app, bearer(sub, iss))).toBe('CONFLICT')
    }
  expect((await viewerOn(after, bearer(sub, present))).id).toBe(expected.id)
})

test('an account that is opened after the change is found by servers of the former text, and both texts sign in', async () => {
  const sub = newName()
  const account = await signUp(after, bearer(sub, present))
  expect(await accountOn(before, bearer(sub, former))).toBe(account)
  expect(await accountOn(after, bearer(sub, former))).toBe(account)
  expect(await signUp(before, bearer(sub, former))).toBe('CONFLICT')
})

test('a server that does not know the former text opens no second account while servers change over', async () => {
  const sub = newName()
  await signUp(after, bearer(sub, present))
  expect(await signUp(unaware, bearer(sub, present))).toBe('CONFLICT')
  expect(await countAccounts(sub)).toBe(1)
})

test('a token of neither text is refused, and so is a former one without the variable', async () => {
  const near = [
    `${former}/`,
    older,
    former.toUpperCase(),
    'http://id.example.evil',
    other,
    undefined,
  ]
  for (const iss of near) expectUnauthenticated(await who(after, bearer('ann', iss)))
  expectUnauthenticated(await who(unaware, bearer('ann', former)))
  expectUnauthenticated(await who(before, bearer('ann', present)))
})

test('of an account of each text, the older one signs in, and who has one alone keeps it', async () => {
  const [both, late] = [newName(), newName()]
  const old = await signUp(before, bearer(both, former))
  const again = await signUp(unaware, bearer(both, present))
  const alone = await signUp(unaware, bearer(late, present))
  expect(new Set([old, again, alone]).size).toBe(3)
  for (const iss of [former, present]) {
    expect(await accountOn(after, bearer(both, iss))).toBe(old)
    expect(await accountOn(after, bearer(late, iss))).toBe(alone)
    expect(await signUp(after, bearer(late, iss))).toBe('CONFLICT')
  }
  // A server of the issuer acts for the one that no token reaches, and so can delete it.
  const server = bearer('jobs', present, { scope: 'act-for' })
  const query = 'mutation { deleteUser(input: {}) { changed } }'
  const headers = { authorization: server, 'feedline-act-for': `account:${again}` }
  expect((await after.send({ query, headers })).data).toEqual({ deleteUser: { changed: true } })
})

test('concurrent registrations of a subject by servers of different texts open one account', async () => {
  const changed = [
    ...[
      [after, former],
      [after, present],
      [twice, present],
      [disordered, former],
    ],
    ...[[bare, undefined]],
  ] as const
  // Servers that know neither text of each other are of two issuers.
  for (const one of [
    [before, former],
    [unaware, present],
  ] as const) {
    for (let round = 0; round < 5; round++) {
      const sub = newName()
      const senders = [one, ...changed.filter((_, n) => (n + round) % 5 > 1)]
      await Promise.all(senders.map(([app, iss]) => signUp(app, bearer(sub, iss))))
      expect(await countAccounts(sub), `round ${round}`).toBe(1)
    }
  }
})

test('a server acts for subjects of each text by one name', async () => {
  const sub = newName()
  const account = await signUp(before, bearer(sub, former))
  for (const iss of [former, present]) {
    const server = bearer('jobs', iss, { scope: 'act-for' })
    const headers = actFor(`subject:${sub}`, server)
    const seen = await after.send({ query: '{ viewer { user { id } } }', headers })
    expect(seen.data).toEqual({ viewer: { user: { id: account } } })
    const query = `mutation { createUsers(input: {users: [{subject: "${sub}", name: "N", handle: "${newName()}"}]}) { results { created user { id } } } }`
    const created = await after.send({ query, headers: { authorization: server } })
    expect(created.data.createUsers.results).toEqual([{ created: false, user: { id: account } }])
  }
})

test('without AUTH_ISSUER a secret is one issuer, whatever iss its tokens have, so that a subject has one account', async () => {
  const texts = [undefined, former, present, other]
  for (const first of texts) {
    const sub = newName()
    const account = await signUp(bare, bearer(sub, first))
    for (const iss of texts) expect(await accountOn(bare, bearer(sub, iss))).toBe(account)
    expect(await countAccounts(sub)).toBe(1)
  }
  const sub = newName()
  await Promise.all(texts.map((iss) => signUp(bare, bearer(sub, iss))))
  expect(await countAccounts(sub)).toBe(1)
  for (const iss of ['', ' ', null, 7, [former]])
    expectUnauthenticated(await who(bare, signed({ sub, iss })))
})

test('servers with and without AUTH_ISSUER open one account for a subject, in each order', async () => {
  const [first, last] = [newName(), newName()]
  const account = await signUp(bare, bearer(first))
  expect(await accountOn(before, bearer(first, former))).toBe(account)
  await signUp(before, bearer(last, former))
  expect(await signUp(bare, bearer(last))).toBe('CONFLICT')
  expect([await countAccounts(first), await countAccounts(last)]).toEqual([1, 1])
})

test('two issuers whose tokens the same keys sign never share an account', async () => {
  const sub = newName()
  const account = await signUp(before, bearer(sub, former))
  expect(await accountOn(ofOther, bearer(sub, other))).toBeUndefined()
  expect(await accountOn(bare, bearer(sub, other))).toBeUndefined()
  expect(await signUp(bare, bearer(sub, other))).toBe('CONFLICT')
  expectUnauthenticated(await who(before, bearer(sub, other)))
  expect(await accountOn(before, bearer(sub, former))).toBe(account)
})

test('Dev signs in the subject of AUTH_ISSUER, in each order with its tokens', async () => {
  for (const app of [before, after, bare]) {
    const iss = app === bare ? undefined : former
    const [first, last] = [newName(), newName()]
    const account = await signUp(app, `Dev ${first}`)
    expect(await accountOn(app, bearer(first, iss))).toBe(account)
    const other = await signUp(app, bearer(last, iss))
    expect(await accountOn(app, `Dev ${last}`)).toBe(other)
    expect(await signUp(app, `Dev ${last}`)).toBe('CONFLICT')
    expect((await viewerOn(app, `Dev ${last}`)).id).toBe(
      (await viewerOn(app, bearer(last, iss))).id,
    )
  }
})

test('accounts without an issuer belong to the subjects of AUTH_ISSUER, whatever its texts', async () => {
  const ann = handle(newName())
  await openAccounts(after.services, [ann])
  const account = byAccount(ann).replace('account:', '')
  for (const iss of [former, present])
    expect(await accountOn(twice, bearer(ann, iss))).toBe(account)
})

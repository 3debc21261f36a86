import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { useApp } from '../support/app.ts'
import { Signer, startKeyServer } from '../support/key-server.ts'
import { now } from '../support/sign-in.ts'

const keyServer = await startKeyServer()
afterAll(() => keyServer.close())

type Claims = Readonly<Record<string, unknown>>

/** A token of a provider, with all claims that it publishes. */
interface Provider {
  /** Where the provider publishes its keys. Undefined for a secret. */
  readonly jwks?: string
  readonly signer: Signer
  /** What its headers have beside `alg` and `kid`. */
  readonly header?: Claims
  readonly claims: Claims
}

const iat = now() - 10
const times = { iat, exp: iat + 3_600 }
const pool = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example'
const supabase = 'https://abcdefghijklmnopqrst.supabase.co/auth/v1'
const supabaseSub = '5bd6b7cc-8a1e-4c2f-9a2b-0c9e2f3f7a11'

const ofSupabase = {
  ...{ iss: supabase, sub: supabaseSub, aud: 'authenticated', ...times },
  ...{ email: 'ann@feed.example', phone: '', role: 'authenticated', aal: 'aal1' },
  app_metadata: { provider: 'email', providers: ['email'], roles: ['moderator'] },
  user_metadata: { email: 'ann@feed.example', email_verified: true, roles: ['admin'] },
  amr: [{ method: 'password', timestamp: iat }],
  ...{ session_id: '1a2b3c4d-0000-4000-8000-123456789abc', is_anonymous: false },
}
const ofPool = {
  ...{ sub: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', iss: pool, 'cognito:groups': ['moderator'] },
  ...{ origin_jti: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001', auth_time: iat, ...times },
  ...{ event_id: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000002', jti: 'aaaaaaaa-bbbb-4ccc-8ddd-000000003' },
}

/** By the headings of docs/how-to/sign-in.md. */
const providers: Readonly<Record<string, Provider>> = {
  Auth0: {
    jwks: 'https://example.eu.auth0.com/.well-known/jwks.json',
    signer: new Signer('RS256', 'Q0E4NzY1NDMyMTBGRURDQkE5ODc2NTQzMjEwRkVEQ0JB'),
    claims: {
      'https://feed.example/roles': ['moderator'],
      ...{ iss: 'https://example.eu.auth0.com/', sub: 'auth0|6553da60a54af58e29493993', ...times },
      aud: ['https://feed.example/api', 'https://example.eu.auth0.com/userinfo'],
      ...{ azp: 'K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja', scope: 'openid profile email' },
      permissions: ['read:timeline'],
    },
  },
  Firebase: {
    jwks: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    signer: new Signer('RS256', '3f9a050dc4ae828c2871c3d5b0c5a4e6c1f2d3b4'),
    claims: {
      ...{ name: 'Ann Example', picture: 'https://lh3.googleusercontent.com/a/photo=s96-c' },
      roles: ['moderator'],
      ...{ iss: 'https://securetoken.google.com/example-project', aud: 'example-project' },
      ...{ auth_time: iat, user_id: 'ZzX3vNq0JtP8bWmYh2RkLcD5fGu1' },
      ...{ sub: 'ZzX3vNq0JtP8bWmYh2RkLcD5fGu1', ...times },
      ...{ email: 'ann@feed.example', email_verified: true },
      firebase: {
        identities: { 'google.com': ['100000000000000000001'], email: ['ann@feed.example'] },
        sign_in_provider: 'google.com',
      },
    },
  },
  Clerk: {
    jwks: 'https://clerk.feed.example/.well-known/jwks.json',
    signer: new Signer('RS256', 'ins_2cWszPHuo6P2lCdnhhZbVMfbAIC'),
    header: { cat: 'cl_B7d4PD111AAA' },
    claims: {
      ...{ azp: 'https://feed.example', exp: iat + 60, fva: [7, -1], iat, nbf: iat - 10 },
      ...{ iss: 'https://clerk.feed.example', jti: 'b8a1d9f0c2e34a5b6c7d' },
      ...{ metadata: { role: 'moderator' }, sid: 'sess_2cWszPHuo6P2lCdnhhZbVMfbAIC' },
      ...{ sts: 'active', sub: 'user_2cWszPHuo6P2lCdnhhZbVMfbAIC', v: 2 },
    },
  },
  Keycloak: {
    jwks: 'https://id.feed.example/realms/feed/protocol/openid-connect/certs',
    signer: new Signer('RS256', 'nniBrxL0qhG79pkF3ccQj_l0jDmxKrYYy2YLlEe1s8g'),
    claims: {
      ...{ ...times, auth_time: iat, jti: 'onrtac:d58f5dc8-fd8f-462b-8a19-716f8f83985b' },
      ...{ iss: 'https://id.feed.example/realms/feed', aud: ['feedline', 'account'] },
      ...{ sub: '36fa0f91-f94d-4a0c-afed-6b7d952e47da', typ: 'Bearer', azp: 'feed-app' },
      ...{ sid: '2a88c258-f73a-4103-b862-e1fbd8f4e04e', acr: '1' },
      'allowed-origins': ['https://feed.example'],
      realm_access: { roles: ['offline_access', 'moderator'] },
      resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
      ...{ scope: 'openid email profile', email_verified: true, name: 'Ann Example' },
      ...{ preferred_username: 'ann@feed.example', given_name: 'Ann', family_name: 'Example' },
      email: 'ann@feed.example',
    },
  },
  Supabase: {
    jwks: `${supabase}/.well-known/jwks.json`,
    signer: new Signer('ES256', '0ba9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3'),
    claims: ofSupabase,
  },
  Cognito: {
    jwks: `${pool}/.well-known/jwks.json`,
    signer: new Signer('RS256', 'abcdefghijklmnopqrsexample='),
    claims: {
      ...{ ...ofPool, aud: '1example23456789', token_use: 'id', 'cognito:username': 'ann' },
      'cognito:roles': ['arn:aws:iam::111122223333:role/example'],
      ...{ email: 'ann@feed.example', email_verified: true, given_name: 'Ann' },
      ...{ identities: [{ userId: '1', providerName: 'Google', primary: 'true' }] },
    },
  },
  'A hand-made JWT': {
    signer: new Signer('HS256', ''),
    claims: { iss: 'https://feed.example', sub: 'alice', roles: 'moderator', exp: iat + 3_600 },
  },
}

type Environment = Readonly<Record<string, string>>

interface Section {
  readonly env: Environment
  /** The shown part of a token. */
  readonly shown: Claims
}

/** The sections of the document by their headings. */
function readSections(): ReadonlyMap<string, Section> {
  const path = join(import.meta.dirname, '../../docs/how-to/sign-in.md')
  const [, ...parts] = readFileSync(path, 'utf8').split(/^## /m)
  return new Map(
    parts.map((part) => {
      const [title = ''] = part.split('\n')
      const [, variables = ''] = /^```\n([\s\S]*?)^```$/m.exec(part) ?? []
      const [, shown = '{}'] = /^```json\n([\s\S]*?)^```$/m.exec(part) ?? []
      const lines = variables.trimEnd().split('\n')
      const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)))
      return [title, { env, shown: JSON.parse(shown) }]
    }),
  )
}

const sections = readSections()
const sectionOf = (name: string): Section => {
  const section = sections.get(name)
  if (!section) throw new Error(`the document has no section ${name}`)
  return section
}

/** The path of the key server for the keys at a URL. */
const pathOf = (url: string) => url.replace(/^https:\//, '')
const otherKey = new Signer('RS256', 'other')
/** What Keycloak publishes beside the key that signs. */
const encryptionKey = { ...new Signer('RS256', 'enc').jwk, use: 'enc', alg: 'RSA-OAEP' }

for (const { jwks, signer } of Object.values(providers))
  if (jwks) keyServer.publish(pathOf(jwks), otherKey.jwk, encryptionKey, signer.jwk)
/** The URL of a path that has the keys of no provider, unless one of them publishes there. */
const keyHost = keyServer.publish('').replace(/\/$/, '')

/** The variables of a section in production, with the URL of its keys on the key server, and its secret. */
function environmentOf(name: string, changes: Environment = {}): Environment {
  const { env } = sectionOf(name)
  const { AUTH_JWKS_URL: url, AUTH_JWT_SECRET: secret } = env
  return {
    ...{ NODE_ENV: 'production', MONGODB_URI: 'embedded', ...env },
    ...(url && { AUTH_JWKS_URL: keyHost + pathOf(url) }),
    ...(secret && { AUTH_JWT_SECRET: providers[name]?.signer.secret ?? '' }),
    ...changes,
  }
}

const authenticate = async (env: Environment, token: string) =>
  createAuthenticate(readConfig(env).auth)([`Bearer ${token}`])

const sign = ({ signer, header = {}, claims }: Provider, changes: Claims = {}): string => {
  const { alg, kid } = signer
  return signer.sign({ ...claims, ...changes }, { alg, typ: 'JWT', kid, ...header })
}
const refusal = expect.objectContaining({ code: 'UNAUTHENTICATED' })

test('docs/how-to/sign-in.md has a section for each provider', () => {
  const others = ['Several issuers', 'Servers that act for users']
  expect([...sections.keys()]).toEqual([...Object.keys(providers), ...others])
})

describe.each(Object.entries(providers))('%s', (name, provider) => {
  const { claims } = provider
  const { iss: issuer, sub } = claims

  test(`a token of ${name} signs in with its subject and role by the variables of the document`, async () => {
    expect(claims).toMatchObject(sectionOf(name).shown)
    expect(await authenticate(environmentOf(name), sign(provider))).toEqual({
      subject: { issuer, sub, isMain: true },
      roles: new Set(['MODERATOR']),
      scopes: new Set(),
    })
  })

  test(`a token of ${name} is refused after its end, of another issuer and of another key`, async () => {
    const env = environmentOf(name)
    const other = new Signer(provider.signer.alg, provider.signer.kid)
    for (const token of [
      sign(provider, { exp: now() - 10 }),
      sign(provider, { iss: 'https://evil.example/' }),
      sign({ ...provider, signer: other }),
    ])
      await expect(authenticate(env, token)).rejects.toEqual(refusal)
    if (sectionOf(name).env.AUTH_AUDIENCE === undefined) return
    for (const aud of ['other', ['other'], undefined])
      await expect(authenticate(env, sign(provider, { aud }))).rejects.toEqual(refusal)
  })

  test(`${name} works as one of several issuers, and its subject is no subject of the main keys`, async () => {
    const { AUTH_JWKS_URL: jwksUrl, AUTH_JWT_SECRET: secret, ...env } = environmentOf(name)
    const { AUTH_AUDIENCE: audience, AUTH_ROLES_CLAIM: rolesClaim } = env
    const entry = { issuer, jwksUrl, secret, audience, rolesClaim }
    const { NODE_ENV = '', MONGODB_URI = '' } = env
    const listed = { NODE_ENV, MONGODB_URI, AUTH_ISSUERS: JSON.stringify([entry]) }
    expect(await authenticate(listed, sign(provider))).toEqual({
      subject: { issuer, sub, isMain: false },
      roles: new Set(['MODERATOR']),
      scopes: new Set(),
    })
  })
})

test('a legacy secret of Supabase verifies access tokens, and its API keys are refused', async () => {
  const { AUTH_JWKS_URL: _, ...env } = environmentOf('Supabase')
  const signer = new Signer('HS256', 'legacy')
  const legacy: Environment = { ...env, AUTH_JWT_SECRET: signer.secret }
  expect(await authenticate(legacy, signer.sign(ofSupabase))).toMatchObject({
    subject: { issuer: supabase, sub: supabaseSub, isMain: true },
  })
  for (const role of ['anon', 'service_role']) {
    const key = { iss: 'supabase', ref: 'abcdefghijklmnopqrst', role, ...times }
    await expect(authenticate(legacy, signer.sign(key))).rejects.toEqual(refusal)
    const { AUTH_ISSUER: _, AUTH_AUDIENCE: __, ...open } = legacy
    await expect(authenticate(open, signer.sign(key))).rejects.toEqual(refusal)
  }
})

test('an access token of Cognito signs in without AUTH_AUDIENCE, and is refused with it', async () => {
  const { signer } = providers.Cognito as Provider
  const token = signer.sign({
    ...{ ...ofPool, client_id: '1example23456789', token_use: 'access', username: 'ann' },
    ...{ version: 2, scope: 'openid aws.cognito.signin.user.admin' },
  })
  const { AUTH_AUDIENCE: _, ...open } = environmentOf('Cognito')
  expect(await authenticate(open, token)).toMatchObject({
    subject: { sub: ofPool.sub },
    roles: new Set(['MODERATOR']),
  })
  await expect(authenticate(environmentOf('Cognito'), token)).rejects.toEqual(refusal)
})

test('the issuers of the document are accepted', () => {
  const { env } = sectionOf('Several issuers')
  const { issuers } = readConfig({ NODE_ENV: 'production', MONGODB_URI: 'embedded', ...env }).auth
  expect(issuers).toMatchObject([
    { issuer: 'https://example.eu.auth0.com/', audience: ['https://feed.example/api'] },
    { issuer: 'https://jobs.feed.example', algorithms: ['HS512'] },
  ])
})

describe('over HTTP', () => {
  const { MONGODB_URI: _, ...handMade } = environmentOf('A hand-made JWT')
  const { MONGODB_URI: __, ...keycloak } = environmentOf('Keycloak')
  const apps = { 'A hand-made JWT': useApp(handMade), Keycloak: useApp(keycloak) }

  test.each(Object.entries(apps))(
    'the roles of a token are those of the viewer: %s',
    async (name, app) => {
      const rolesOf = async (changes: Claims = {}) => {
        const token = sign(providers[name] as Provider, changes)
        const headers = { authorization: `Bearer ${token}` }
        const { errors, data } = await app.send({ query: '{ viewer { roles } }', headers })
        return errors[0] ?? data.viewer.roles
      }
      expect(await rolesOf()).toEqual(['MODERATOR'])
      const none = { roles: 'reader', realm_access: { roles: ['offline_access'] } }
      expect(await rolesOf(none)).toEqual([])
      const both = {
        roles: ['ADMIN', 'x', 'Moderator'],
        realm_access: { roles: ['admin', 'moderator'] },
      }
      expect(await rolesOf(both)).toEqual(['MODERATOR', 'ADMIN'])
    },
  )
})

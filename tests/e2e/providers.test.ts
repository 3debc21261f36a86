import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { useApp } from '../support/app.ts'
import { Signer } from '../support/key-server.ts'
import {
  type Claims,
  type Environment,
  ofEntra,
  ofPool,
  ofSupabase,
  type Provider,
  providers,
  publishKeys,
  sectionOf,
  sections,
  sign,
  subjectClaimOf,
  times,
} from '../support/providers.ts'
import { now } from '../support/sign-in.ts'

const { environmentOf, close } = await publishKeys()
afterAll(close)

const authenticate = async (env: Environment, token: string) =>
  createAuthenticate(readConfig(env).auth)([`Bearer ${token}`])

const refusal = expect.objectContaining({ code: 'UNAUTHENTICATED' })

test('docs/how-to/sign-in.md has a section for each provider', () => {
  const others = [
    ...['Web apps', 'Several issuers', 'When the issuer changes', 'Servers that act for users'],
  ]
  expect([...sections.keys()]).toEqual([...Object.keys(providers), ...others])
})

describe.each(Object.entries(providers))('%s', (name, provider) => {
  const { claims } = provider
  const issuer = claims.iss
  const sub = claims[subjectClaimOf(name)]

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
    const entry = {
      issuer,
      jwksUrl,
      secret,
      audience,
      rolesClaim,
      subjectClaim: subjectClaimOf(name),
    }
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
    subject: { issuer: ofSupabase.iss, sub: ofSupabase.sub, isMain: true },
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

test('Entra: a person is the same in each app of the tenant, and tokens of version 1, Graph and other tenants are refused', async () => {
  const entra = providers['Microsoft Entra'] as Provider
  const env = environmentOf('Microsoft Entra')
  const ofApp = sign(entra, { sub: 'differs for each app', azp: 'another client' })
  expect((await authenticate(env, ofApp))?.subject.sub).toBe(ofEntra.oid)
  const { preferred_username: _, azp: __, ver: ___, ...more } = ofEntra
  const version1 = { iss: `https://sts.windows.net/${ofEntra.tid}/`, aud: `api://${ofEntra.aud}` }
  const other = 'other-tenant-id'
  const wrong: readonly Claims[] = [
    { ...more, ...version1, ver: '1.0', appid: ofEntra.azp },
    { ...version1, aud: ofEntra.aud },
    { aud: '00000003-0000-0000-c000-000000000000' },
    { aud: `api://${ofEntra.aud}` },
    { iss: ofEntra.iss.replace(ofEntra.tid, other), tid: other },
    { iss: ofEntra.iss.replace(ofEntra.tid, '{tenantid}') },
    { iss: ofEntra.iss.replace(ofEntra.tid, 'common') },
    { oid: undefined },
  ]
  for (const claims of wrong)
    await expect(authenticate(env, sign(entra, claims))).rejects.toEqual(refusal)
  // An API that still has tokens of version 1 names their issuer.
  const former = { ...env, AUTH_ISSUER: version1.iss, AUTH_AUDIENCE: version1.aud }
  expect((await authenticate(former, sign(entra, wrong[0])))?.subject).toEqual({
    ...{ issuer: version1.iss, sub: ofEntra.oid, isMain: true },
  })
})

test('the issuers of the document are accepted', () => {
  const { env } = sectionOf('Several issuers')
  const { issuers } = readConfig({ NODE_ENV: 'production', MONGODB_URI: 'embedded', ...env }).auth
  expect(issuers).toMatchObject([
    { issuer: 'https://id.example', audience: ['feed'] },
    { issuer: 'https://jobs.example', actFor: ['https://id.example'] },
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

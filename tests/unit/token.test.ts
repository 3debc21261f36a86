import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { signAcceptedToken } from '../../src/cli/sign-token.ts'
import { ConfigError } from '../../src/config.ts'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { roleNames } from '../../src/users/subject.ts'
import { lawRuns } from '../support/seed.ts'

const AUTH_JWT_SECRET = 's'.repeat(32)
const issuer = 'https://id.example'
const expiresAt = new Date(Date.now() + 60_000)

const environments: readonly Readonly<Record<string, string>>[] = [
  {},
  { AUTH_ISSUER: issuer },
  { AUTH_ISSUER: issuer, AUTH_AUDIENCE: 'feed, other', AUTH_ALGORITHMS: 'HS512,HS256' },
  { AUTH_SUBJECT_CLAIM: 'uid' },
  { AUTH_SUBJECT_CLAIM: 'ext.user.id', AUTH_ROLES_CLAIM: 'roles' },
  { AUTH_ISSUERS: JSON.stringify([{ issuer, jwksUrl: 'https://id.example/keys' }]) },
]

test.each(environments)(
  'feedline token signs what a server of the same variables verifies: %j',
  async (variables) => {
    const { auth } = readConfig({ AUTH_JWT_SECRET, ...variables })
    const token = await signAcceptedToken(auth, { subject: 'auth0|Ann 王', expiresAt })
    const alg = variables.AUTH_ALGORITHMS ? 'HS512' : 'HS256'
    expect(decodeProtectedHeader(token)).toEqual({ alg, typ: 'JWT' })
    expect(await createAuthenticate(auth)([`Bearer ${token}`])).toEqual({
      subject: { issuer: variables.AUTH_ISSUER ?? '', sub: 'auth0|Ann 王', isMain: true },
      ...{ roles: new Set(), scopes: new Set() },
    })
  },
)

test('a token of a server has the scope that it is given, and a text that is no subject gets no token', async () => {
  const { auth } = readConfig({ AUTH_JWT_SECRET })
  const token = await signAcceptedToken(auth, { subject: 'importer', expiresAt, scope: 'act-for' })
  const { scopes } = (await createAuthenticate(auth)([`Bearer ${token}`])) ?? {}
  expect(scopes).toEqual(new Set(['act-for']))
  for (const subject of ['', 'a\u0000b', 'é'.repeat(128)])
    await expect(signAcceptedToken(auth, { subject, expiresAt })).rejects.toMatchObject({
      ...{ code: 'BAD_USER_INPUT', details: { argument: 'subject' } },
    })
})

const refusalOf = (
  variables: Readonly<Record<string, string>>,
  content: Partial<Parameters<typeof signAcceptedToken>[1]> = {},
) =>
  signAcceptedToken(readConfig(variables).auth, { subject: 'ann', expiresAt, ...content }).then(
    (token) => token,
    ({ problems }: ConfigError) => problems,
  )

test('feedline token says why it signs no token', async () => {
  const jwksUrl = 'https://id.example/keys'
  const listed = (...entries: readonly object[]) => ({ AUTH_ISSUERS: JSON.stringify(entries) })
  const [ofSecret, ofKeys] = [
    { issuer, secret: 'i'.repeat(32) },
    { issuer: 'https://keys.example', jwksUrl },
  ]
  const needed = 'AUTH_JWT_SECRET: must be set to sign tokens'
  const production = { NODE_ENV: 'production', MONGODB_URI: 'embedded' }
  expect(await refusalOf({})).toEqual([
    `${needed}. In development, servers also accept "Dev SUBJECT".`,
  ])
  expect(await refusalOf({ ...production, ...listed(ofKeys) })).toEqual([needed])
  expect(await refusalOf(listed(ofKeys, ofSecret))).toEqual([
    `${needed}. A secret of AUTH_ISSUERS signs with --issuer ${issuer}.`,
  ])
  expect(await refusalOf({ AUTH_JWKS_URL: jwksUrl })).toEqual([
    `${needed}. The owner of the keys at AUTH_JWKS_URL issues all other tokens.`,
  ])
  expect(await refusalOf(listed(ofKeys), { issuer: ofKeys.issuer })).toEqual([
    `--issuer: the owner of the keys at ${jwksUrl} issues the tokens of "${ofKeys.issuer}"`,
  ])
  expect(await refusalOf({ AUTH_JWT_SECRET }, { issuer })).toEqual([
    expect.stringMatching(/^--issuer: no variable names "https:\/\/id.example": set AUTH_ISSUER/),
  ])
  const roles = ['ADMIN'] as const
  expect(await refusalOf({ AUTH_JWT_SECRET }, { roles })).toEqual([
    'AUTH_ROLES_CLAIM: must be set for --roles',
  ])
  expect(await refusalOf({ AUTH_JWT_SECRET, ...listed(ofSecret) }, { roles, issuer })).toEqual([
    `AUTH_ISSUERS: "${issuer}" must have rolesClaim for --roles`,
  ])
  expect(await refusalOf(listed(ofSecret), { scope: 'act-for', issuer })).toEqual([
    '--scope: its issuer needs "actFor" in AUTH_ISSUERS to act for users',
  ])
  for (const name of ['exp', 'iat', 'nbf', 'scope.x', 'iss'])
    expect(
      await refusalOf({ AUTH_JWT_SECRET, AUTH_ISSUER: issuer, AUTH_SUBJECT_CLAIM: name }),
    ).toEqual(name === 'scope.x' ? expect.any(String) : [expect.any(String)])
  expect(await refusalOf({ AUTH_JWT_SECRET, AUTH_ROLES_CLAIM: 'sub' }, { roles })).toEqual([
    'the claim "sub" of the subject or the roles is that of another value',
  ])
  const others: readonly (readonly [variables: Record<string, string>, subject: string])[] = [
    [{ AUTH_ROLES_CLAIM: 'sub' }, 'admin'],
    [{ AUTH_SUBJECT_CLAIM: 'scope' }, 'act-for'],
    [{ AUTH_SUBJECT_CLAIM: 'roles', AUTH_ROLES_CLAIM: 'roles' }, 'x,Moderator'],
  ]
  for (const [variables, subject] of others)
    expect(await refusalOf({ AUTH_JWT_SECRET, ...variables }, { subject })).toEqual([
      'the claims of subject and roles have the name of another claim',
    ])
  // Production too says the cause here, because the operator reads it.
  for (const stage of [{}, production]) {
    const variables = { AUTH_JWT_SECRET, ...stage }
    const refuses = 'a server of these variables refuses it: the token'
    expect(await refusalOf(variables, { expiresAt: new Date(0) })).toEqual([
      `${refuses} has expired`,
    ])
    expect(await refusalOf({ ...variables, AUTH_SUBJECT_CLAIM: 'nbf' })).toEqual([
      `${refuses} must have a number as "nbf", and has "ann"`,
    ])
  }
})

test('feedline token --roles writes the claim as providers do, so that the server reads it back', async () => {
  const claimsWith = async (AUTH_ROLES_CLAIM: string) => {
    const { auth } = readConfig({ AUTH_JWT_SECRET, AUTH_ROLES_CLAIM })
    const token = await signAcceptedToken(auth, { subject: 'ann', expiresAt, roles: ['ADMIN'] })
    const { iat: _, exp: __, sub, ...claims } = decodeJwt(token)
    expect(sub).toBe('ann')
    return claims
  }
  const roles = ['ADMIN']
  expect(await claimsWith('roles')).toEqual({ roles })
  expect(await claimsWith('realm_access.roles')).toEqual({ realm_access: { roles } })
  expect(await claimsWith('https://feed.example/roles')).toEqual({
    'https://feed.example/roles': roles,
  })
  expect(await claimsWith('cognito:groups')).toEqual({ 'cognito:groups': roles })
  expect(await claimsWith('sub.roles')).toEqual({ 'sub.roles': roles })
})

const names = ['a', 'b', 'a.b', 'a.b.c', 'sub', 'sub.a', 'roles', 'https://x.example/a.b', 'a..b']
const claimName = fc.oneof(
  fc.constantFrom(...names, '.', 'a.', '.a', '__proto__', '__proto__.a', 'constructor', 'exp'),
  fc.constantFrom('iss', 'aud', 'scope', 'scp', 'iat', 'nbf', 'jti', 'aud.0', 'toString.x'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
)
const rule = fc.record(
  {
    audience: fc.array(fc.constantFrom('feed', 'other', 'é x'), { minLength: 1, maxLength: 2 }),
    algorithms: fc.uniqueArray(fc.constantFrom('HS256', 'HS384', 'HS512'), { minLength: 1 }),
    subjectClaim: claimName,
    rolesClaim: claimName,
  },
  { requiredKeys: [] },
)
const [ofMain, formerly, ofListed] = ['https://main.example', 'http://main.example', issuer]
const configuration = fc.record({ main: rule, listed: rule, hasIssuer: fc.boolean() })
const content = fc.record({
  subject: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  roles: fc.subarray([...roleNames]),
  scope: fc.constantFrom('act-for' as const, undefined),
  issuer: fc.constantFrom(undefined, ofMain, formerly, ofListed, 'https://none.example'),
})

test('each token that feedline token prints is accepted by a server of the same variables, as what was asked for', async () => {
  let printed = 0
  await fc.assert(
    fc.asyncProperty(configuration, content, async ({ main, listed, hasIssuer }, asked) => {
      const entry = { issuer: ofListed, secret: 'l'.repeat(32), actFor: ofListed, ...listed }
      const optional = (name: string, value: string | undefined) =>
        value?.trim() ? { [name]: value } : {}
      const { auth } = readConfig({
        ...{ AUTH_JWT_SECRET, AUTH_ISSUERS: JSON.stringify([entry]) },
        ...(hasIssuer && { AUTH_ISSUER: ofMain, AUTH_FORMER_ISSUERS: formerly }),
        ...optional('AUTH_AUDIENCE', main.audience?.join()),
        ...optional('AUTH_ALGORITHMS', main.algorithms?.join()),
        ...optional('AUTH_SUBJECT_CLAIM', main.subjectClaim),
        ...optional('AUTH_ROLES_CLAIM', main.rolesClaim),
      })
      const token = await signAcceptedToken(auth, { ...asked, expiresAt }).catch((error) => error)
      if (typeof token !== 'string') {
        expect(token.code === 'BAD_USER_INPUT' || token instanceof ConfigError, token).toBe(true)
        return
      }
      printed++
      const signedIn = await createAuthenticate(auth)([`Bearer ${token}`])
      const isListed = asked.issuer === ofListed
      const stored = isListed ? ofListed : hasIssuer ? formerly : ''
      expect(signedIn?.subject).toMatchObject({
        ...{ issuer: stored, sub: asked.subject, isMain: !isListed },
      })
      expect(signedIn?.roles).toEqual(new Set(asked.roles))
      expect(signedIn?.actsFor !== undefined).toBe(asked.scope !== undefined)
    }),
    { numRuns: lawRuns(600) },
  )
  expect(printed).toBeGreaterThan(20)
})

import { decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { signToken } from '../../src/cli/token.ts'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'

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
    const token = await signToken(auth, { subject: 'auth0|Ann 王', expiresAt })
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
  const token = await signToken(auth, { subject: 'importer', expiresAt, scope: 'act-for' })
  const { scopes } = (await createAuthenticate(auth)([`Bearer ${token}`])) ?? {}
  expect(scopes).toEqual(new Set(['act-for']))
  for (const subject of ['', 'a\u0000b', 'é'.repeat(128)])
    await expect(signToken(auth, { subject, expiresAt })).rejects.toMatchObject({
      ...{ code: 'BAD_USER_INPUT', details: { argument: 'subject' } },
    })
})

test('feedline token needs the main secret, whatever issuers are listed', async () => {
  const entries = [{ issuer, secret: AUTH_JWT_SECRET }]
  const { auth } = readConfig({ AUTH_ISSUERS: JSON.stringify(entries) })
  await expect(signToken(auth, { subject: 'ann', expiresAt })).rejects.toThrow(
    'AUTH_JWT_SECRET: must be set to sign tokens',
  )
})

import { afterAll, describe, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { encode, Signer, signByHmac, startKeyServer } from '../support/key-server.ts'
import { useDatabase } from '../support/mongo.ts'
import { usePassTime } from '../support/pass-time.ts'
import { expectUnauthenticated, now, who } from '../support/sign-in.ts'

const keyServer = await startKeyServer()
afterAll(() => keyServer.close())
const passTime = usePassTime()
const database = useDatabase()

const [signer, thief, ofPartner] = [
  new Signer('RS256', 'key'),
  new Signer('RS256', 'key'),
  new Signer('ES256', 'partner'),
]
const [issuer, partner] = ['https://id.example/', 'https://partner.example']
const env = {
  AUTH_JWKS_URL: keyServer.publish('/main', signer.jwk),
  ...{ AUTH_ISSUER: issuer, AUTH_AUDIENCE: 'feed,app', AUTH_ALGORITHMS: 'RS256,ES256' },
  AUTH_ISSUERS: JSON.stringify([
    { issuer: partner, jwksUrl: keyServer.publish('/partner', ofPartner.jwk) },
  ]),
  AUTH_KEYS_SECONDS: '3600',
}
const development = useApp(env, undefined, database)
const production = useApp({ NODE_ENV: 'production', ...env }, undefined, database)

const right = { iss: issuer, aud: 'feed', sub: 'ann', exp: now() + 600 }
const sign = (changes: object, header?: object) =>
  signer.sign({ ...right, ...changes }, header && { typ: 'JWT', ...header })

/** What development answers. */
const causes: Readonly<Record<string, [token: () => string, problem: string]>> = {
  'an issuer without its slash': [
    () => sign({ iss: 'https://id.example' }),
    'has the "iss" "https://id.example", and must have "https://id.example/"; "https://id.example/" differs by the slash at its end',
  ],
  'a listed issuer with a slash': [
    () => ofPartner.sign({ ...right, iss: `${partner}/` }),
    'has the "iss" "https://partner.example/", and must have "https://id.example/"; "https://partner.example" differs by the slash at its end',
  ],
  'another issuer': [
    () => sign({ iss: 'https://other.example/' }),
    'has the "iss" "https://other.example/", and must have "https://id.example/"',
  ],
  'an issuer that is no text': [
    () => sign({ iss: 7 }),
    'has the "iss" a number, and must have "https://id.example/"',
  ],
  'an issuer that is null': [
    () => sign({ iss: null }),
    'has the "iss" null, and must have "https://id.example/"',
  ],
  'no issuer': [
    () => sign({ iss: undefined }),
    'has the "iss" none, and must have "https://id.example/"',
  ],
  'another audience': [
    () => sign({ aud: 'other' }),
    'has the "aud" "other", and must have "feed", "app"',
  ],
  'other audiences': [
    () => sign({ aud: ['a', 'b', 'c', 'd'] }),
    'has the "aud" "a", "b", "c", and must have "feed", "app"',
  ],
  'no audience': [
    () => sign({ aud: undefined }),
    'has the "aud" none, and must have "feed", "app"',
  ],
  'an audience that is an object': [
    () => sign({ aud: { feed: 1 } }),
    'has the "aud" an object, and must have "feed", "app"',
  ],
  'an empty list of audiences': [
    () => sign({ aud: [] }),
    'has the "aud" none, and must have "feed", "app"',
  ],
  'an unknown key': [
    () => sign({}, { alg: 'RS256', kid: 'unknown' }),
    'is signed by no published key of its issuer that has its "kid" "unknown" and is for "RS256"',
  ],
  'the key of another algorithm': [
    () => sign({}, { alg: 'ES256', kid: 'key' }),
    'is signed by no published key of its issuer that has its "kid" "key" and is for "ES256"',
  ],
  HMAC: [
    () => signByHmac('HS256', 'a secret', right),
    'has the "alg" "HS256", and must have one of RS256, ES256',
  ],
  'no algorithm': [
    () => `${encode({ alg: 'none' })}.${encode(right)}.`,
    'has the "alg" "none", and must have one of RS256, ES256',
  ],
  'an opaque text': [
    () => 'ya29.a0AfH6SMBx',
    'is no JWT: ask the provider for one, and not for an opaque token',
  ],
  'an encrypted token': [
    () => `${encode({ alg: 'dir', enc: 'A256GCM' })}..x.y.z`,
    'is encrypted (JWE), and this server reads signed tokens (JWS)',
  ],
  'three parts of no JSON': [
    () => 'x.y.z',
    'is no JWT: its header or its claims are no JSON objects',
  ],
  'an expiry that has passed': [() => sign({ exp: now() - 60 }), 'has expired'],
  'a time that has not come': [
    () => sign({ nbf: now() + 86_400 }),
    'does not hold yet: its "nbf" is 86400 s from now',
  ],
  'no expiry': [() => sign({ exp: undefined }), 'must have a number as "exp", and has none'],
  'an expiry as a text': [() => sign({ exp: '60' }), 'must have a number as "exp", and has "60"'],
  'a time of issue as a text': [
    () => sign({ iat: '60' }),
    'must have a number as "iat", and has "60"',
  ],
  'a signature of another key': [
    () => thief.sign(right),
    'has a wrong signature: another key has signed it',
  ],
  'critical headers': [
    () => sign({}, { alg: 'RS256', kid: 'key', crit: ['x'], x: 1 }),
    'cannot be verified (ERR_JOSE_NOT_SUPPORTED)',
  ],
}

/** The texts of tokens that no answer and no line may have. */
const partsOf = (token: string) => token.split('.').filter((part) => part.length > 3)

/** The lines about sign-in that a server logged since it had `seen` lines. */
const refusalsOf = ({ logged }: { readonly logged: readonly string[] }, seen: number) =>
  logged
    .slice(seen)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'sign-in refused')

describe.each(Object.entries(causes))('a token with %s is refused', (_, [make, problem]) => {
  // Refusals of the same kind are logged again.
  const fresh = () => {
    passTime(61_000)
    return make()
  }

  test('with its cause in the answer of development', async () => {
    const token = fresh()
    const answer = await who(development, `Bearer ${token}`)
    expectUnauthenticated(answer)
    expect(answer.errors[0]?.message.replace(/ \d+ s from now/, ' 86400 s from now')).toBe(
      `Authorization: the token ${problem}`,
    )
    for (const part of partsOf(token)) expect(answer.errors[0]?.message).not.toContain(part)
  })

  test('with one sentence in production, and its cause in the log', async () => {
    const token = fresh()
    const seen = production.logged.length
    const answer = await who(production, `Bearer ${token}`)
    expectUnauthenticated(answer)
    expect(answer.errors[0]?.message).toBe(
      problem === 'has expired'
        ? 'Authorization: the token has expired'
        : 'Authorization: the token is not valid for this server',
    )
    const refusals = refusalsOf(production, seen)
    const requestId = answer.headers.get('x-request-id')
    expect(refusals).toMatchObject([{ level: 30, requestId }])
    expect(refusals[0].problem.replace(/ \d+ s from now/, ' 86400 s from now')).toBe(
      `the token ${problem}`,
    )
    for (const part of partsOf(token)) expect(refusals[0].problem).not.toContain(part)
  })
})

test('a token without a subject is refused with the cause, also in production', async () => {
  passTime(61_000)
  const seen = production.logged.length
  const answer = await who(production, `Bearer ${sign({ sub: 7 })}`)
  expectUnauthenticated(answer)
  expect(answer.errors[0]?.message).toMatch(
    /^Authorization: "sub" must be a text of 1 to 255 bytes/,
  )
  expect(refusalsOf(production, seen)).toMatchObject([{ problem: answer.errors[0]?.message }])
})

test('long and invisible names of a token are shown short and escaped', async () => {
  passTime(61_000)
  const seen = production.logged.length
  await who(production, `Bearer ${sign({ iss: `\u202e\n${'x'.repeat(2_000)}` })}`)
  const [{ problem }] = refusalsOf(production, seen)
  expect(problem).toContain('has the "iss" "\\u{202e}\\n')
  expect(problem.length).toBeLessThan(300)
})

test('of refusals of one kind, five in a minute are logged, and then how many were left out', async () => {
  passTime(61_000)
  const seen = production.logged.length
  const refuse = (changes: object) => who(production, `Bearer ${sign(changes)}`)
  for (let n = 0; n < 12; n++) await refuse({ aud: 'other' })
  expect(refusalsOf(production, seen)).toHaveLength(5)
  await refuse({ iss: 'https://other.example/' })
  expect(refusalsOf(production, seen)).toHaveLength(6)
  passTime(61_000)
  await refuse({ aud: 'other' })
  expect(refusalsOf(production, seen).slice(6)).toMatchObject([{ suppressed: 7 }])
})

test('a token with all that is required is accepted', async () => {
  for (const app of [development, production]) {
    expect((await who(app, `Bearer ${sign({})}`)).errors).toEqual([])
    expect((await who(app, `Bearer ${ofPartner.sign({ ...right, iss: partner })}`)).errors).toEqual(
      [],
    )
  }
})

import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { DomainError } from '../../src/errors.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { readClaims } from '../../src/graphql/claims.ts'
import {
  causeOfRefusal,
  problemOf,
  readUnverified,
  verificationProblem,
} from '../../src/graphql/token-problems.ts'
import { isIssuer, subjectIssuerOf, type TokenSource } from '../../src/sign-in.ts'
import { lawRuns } from '../support/seed.ts'

const secret = 'Each of these 32 bytes counts: ä'
const issuer = 'https://id.example'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

/** The server, and what its variables mean for jose. */
function serverOf(variables: Readonly<Record<string, string>>) {
  const { auth } = readConfig({ AUTH_JWT_SECRET: secret, AUTH_ROLES_CLAIM: 'roles', ...variables })
  return { authenticate: createAuthenticate(auth), source: auth.main as TokenSource }
}

const servers = [
  serverOf({}),
  serverOf({ AUTH_ALGORITHMS: 'HS256,HS384,HS512', AUTH_SUBJECT_CLAIM: 'user.id' }),
  serverOf({ AUTH_ISSUER: issuer, AUTH_FORMER_ISSUERS: 'http://old.example' }),
  serverOf({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: 'feed,app', AUTH_ALGORITHMS: 'HS512,HS256' }),
]
type Server = (typeof servers)[number]

/**
 * What jose says of a token, and then the rules about its issuer and its subject. The text of a
 * refusal is its reason.
 */
async function judgeByJose(token: string, { source }: Server) {
  const { issuer: iss, formerIssuers, audience, algorithms } = source
  const options = {
    ...{ algorithms: [...algorithms], requiredClaims: ['exp'], clockTolerance: 5 },
    ...(iss === undefined ? {} : { issuer: [...formerIssuers, iss] }),
    ...(audience.length === 0 ? {} : { audience: [...audience] }),
  }
  const key = new TextEncoder().encode(secret)
  const verified = await jwtVerify(token, key, options).catch((error: unknown) => ({ error }))
  try {
    const unverified = readUnverified(token)
    if ('error' in verified)
      throw problemOf(unverified, source) ?? verificationProblem(verified.error, unverified)
    const { payload } = verified
    const { iss: named }: { readonly iss?: unknown } = payload
    const isNamed = named === undefined || (typeof named === 'string' && isIssuer(named))
    if (iss === undefined && !isNamed) throw problemOf(unverified, source)
    const own = subjectIssuerOf(source, true)
    return readClaims(payload, { ...source, issuer: own, actsFor: [own] })
  } catch (error) {
    return reasonOf(error)
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof DomainError ? causeOfRefusal(error) : `the token ${(error as Error).message}`

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value))
const now = () => Math.floor(Date.now() / 1_000)
const seconds = fc.oneof(
  { weight: 3, arbitrary: fc.constant(900) },
  fc.constantFrom(-7, -6, -5, -4, 0, 4, 5, 6, 7),
)
const time = seconds.map((from) => String(now() + from))
const long = fc.nat({ max: 3_000 }).map((length) => JSON.stringify('x'.repeat(length)))
const texts = (...values: readonly unknown[]) =>
  fc.constantFrom(...values.map((value) => JSON.stringify(value)))
const or = (right: fc.Arbitrary<string>, wrong: fc.Arbitrary<string> = json) =>
  fc.oneof({ weight: 16, arbitrary: right }, wrong)

type Member = readonly [name: string, json: string]
const member = (name: string, value: fc.Arbitrary<string>) =>
  value.map((text): Member => [name, text])
const members = (...all: readonly fc.Arbitrary<Member>[]) => fc.tuple(...all)

const usualHeader = members(member('alg', or(texts('HS256', 'HS256', 'HS512'))))
const oddHeader = fc.array(
  fc.oneof(
    member('alg', fc.oneof(texts('HS256', 'HS512', 'none', 'hs256', 'RS256', '', null), json)),
    member('crit', fc.oneof(texts(['b64'], ['b64', 'b64'], ['exp'], [], null, 'b64', [1]), json)),
    member('b64', fc.oneof(texts(true, false, null), json)),
    member('typ', json),
    member('kid', json),
    member('jwk', texts({ kty: 'oct', k: 'eA' })),
    member('__proto__', texts({ alg: 'HS256', crit: ['b64'] })),
  ),
  { maxLength: 4 },
)
const usualClaims = members(
  member('exp', or(time)),
  member('iss', or(texts(issuer, 'http://old.example'))),
  member('aud', or(texts('feed', ['x', 'app'], 'other'))),
  member('sub', or(texts('ann', 'ben', '王', 'a\u0000b', ''), fc.oneof(json, long))),
  member('user', or(texts({ id: 'ben' }, { id: 7 }))),
)
const oddClaims = fc.array(
  fc.oneof(
    ...['nbf', 'iat', 'exp'].map((name) => member(name, fc.oneof(time, texts(null, '1'), json))),
    ...['iss', 'aud', 'sub', 'scope', 'roles', 'user.id'].map((name) => member(name, json)),
    member('exp', fc.constantFrom('1e999', '-1e999', '99999999999.5', '1E3')),
    member('scope', texts('act-for', 'x act-for', ['act-for'])),
    member('roles', texts('admin', ['Moderator'])),
    member('__proto__', texts({ sub: 'eve', exp: 9_999_999_999 })),
  ),
  { maxLength: 4 },
)

const rarely = (odd: fc.Arbitrary<readonly Member[]>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<readonly Member[]>([]) }, odd)
const shuffled = (list: fc.Arbitrary<readonly Member[]>) =>
  list.chain((all) => fc.shuffledSubarray([...all], { minLength: all.length }))
/** The text of an object, which may name a member twice. */
const objectText = (usual: fc.Arbitrary<readonly Member[]>, odd: fc.Arbitrary<readonly Member[]>) =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .tuple(usual, shuffled(rarely(odd)), fc.constantFrom('', ' ', '\n'))
        .map(([first, more, space]) => {
          const all = [...first, ...more].map(([name, text]) => `"${name}":${space}${text}`)
          return `{${all.join()}}`
        }),
    },
    fc.constantFrom('null', '[]', '{', '""', '\ufeff{}', '['.repeat(2_000)),
  )

type Change = (text: string) => string
const place = (text: string, at: number) => at % (text.length + 1)
const insert = (more: fc.Arbitrary<string>, isReplacing: boolean): fc.Arbitrary<Change> =>
  fc.tuple(fc.nat(), more).map(
    ([n, char]): Change =>
      (text) =>
        text.slice(0, place(text, n)) +
        char +
        text.slice(place(text, n) + (isReplacing ? char.length : 0)),
  )
const odd = fc.constantFrom(...'Aa0_-+/=.\t\n', 'é', '王', '\u{1f600}', '\u0000', '%41', '\ud800')
/** What happens to a text on its way, mostly nothing. */
const change = (weight: number): fc.Arbitrary<Change> =>
  fc.oneof(
    { weight, arbitrary: fc.constant<Change>((text) => text) },
    insert(odd, true),
    insert(odd, false),
    fc.constantFrom<Change>(
      (text) => `${text}=`,
      (text) => `${text}==`,
      (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
      (text) => text.slice(0, -1),
      (text) => text.slice(0, text.length / 2),
      // The same bytes, if bits after the last byte count for nothing.
      (text) => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1),
      (text) => `${text}\n`,
    ),
  )

const encode = (text: string) => Buffer.from(text).toString('base64url')
const hashOf = (header: string) => /HS(256|384|512)/.exec(header)?.[1] ?? '256'

const tokens = fc
  .record({
    header: objectText(usualHeader, oddHeader),
    claims: objectText(usualClaims, oddClaims),
    isUnencoded: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    key: fc.oneof(
      { weight: 20, arbitrary: fc.constant(secret) },
      fc.constantFrom('x', `${secret} `),
    ),
    hash: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      fc.constantFrom('256', '384', '512'),
    ),
    before: fc.tuple(change(24), change(24)),
    signatureChange: change(12),
    after: change(24),
  })
  .map(({ header, claims, isUnencoded, key, hash, before, signatureChange, after }) => {
    const [changeHeader, changeClaims] = before
    const payload = isUnencoded ? claims : changeClaims(encode(claims))
    const signed = `${changeHeader(encode(header))}.${payload}`
    const signature = createHmac(`sha${hash ?? hashOf(header)}`, key).update(signed)
    return after(`${signed}.${signatureChange(signature.digest('base64url'))}`)
  })

test('a token of a secret is accepted or refused as jose judges it, for the same reason and with the same claims', async () => {
  const outcomes = { accepted: 0, refused: new Set<string>() }
  await fc.assert(
    fc.asyncProperty(tokens, fc.constantFrom(...servers), async (token, server) => {
      // The scheme and the token of a header have one space between them.
      fc.pre(!token.includes(' ') && token !== '')
      const expected = await judgeByJose(token, server)
      const signedIn = await server.authenticate([`Bearer ${token}`]).catch(reasonOf)
      expect(signedIn).toEqual(expected)
      if (typeof signedIn !== 'string') outcomes.accepted++
      else
        outcomes.refused.add(
          /"(?:exp|nbf|iat|iss|aud|alg)"|signature|JWT|\(.*\)/.exec(signedIn)?.[0] ?? '',
        )
    }),
    { numRuns: lawRuns(3_000) },
  )
  expect(outcomes.accepted).toBeGreaterThan(10)
  expect([...outcomes.refused]).toEqual(
    expect.arrayContaining(['signature', 'JWT', '"alg"', '"exp"', '"iss"', '"aud"']),
  )
})

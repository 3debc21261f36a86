import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { DomainError } from '../../src/errors.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { SignIns } from '../../src/graphql/sign-ins.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { SignedIn, Subject } from '../../src/users/subject.ts'
import { encode, type Jwk, Signer, startKeyServer } from '../support/key-server.ts'
import { lawRuns } from '../support/seed.ts'
import { now } from '../support/sign-in.ts'

const keyServer = await startKeyServer()
afterAll(() => keyServer.close())

/** Keys, and what the server must read of the tokens that they sign. */
interface Issuer {
  readonly signer: Signer
  /** The algorithms that the server allows for the key. */
  readonly algorithms: readonly string[]
  readonly iss: string
  /** A text that `iss` had before. Accounts are stored under it. */
  readonly former?: string
  readonly audience?: string
  readonly subjectClaim: string
  /**
   * Whose subjects its servers act for, by any text. Undefined: they act for no user, but those of
   * the main keys for their own.
   */
  readonly actFor?: string
}

const plain = { subjectClaim: 'sub' }
const main: Issuer = {
  ...{ signer: new Signer('ES256', 'k1'), algorithms: ['ES256'], ...plain },
  ...{ iss: 'https://main.example', former: 'http://main.example' },
}
const listed: readonly Issuer[] = [
  {
    ...{ signer: new Signer('RS256', 'k2'), algorithms: ['RS256', 'PS256'] },
    ...{
      iss: 'https://rsa.example',
      former: 'https://old.rsa.example',
      audience: 'feed',
      ...plain,
    },
    actFor: 'https://old.rsa.example',
  },
  {
    ...{ signer: new Signer('ES256', 'k3'), algorithms: ['ES256'] },
    ...{ iss: 'https://ec.example', subjectClaim: 'uid' },
    actFor: 'https://rsa.example',
  },
  {
    ...{ signer: new Signer('EdDSA', 'k4'), algorithms: ['EdDSA'] },
    ...{ iss: 'https://ed.example', subjectClaim: 'user.id' },
    actFor: 'https://main.example',
  },
  {
    ...{ signer: new Signer('HS512', 'k5'), algorithms: ['HS512'] },
    ...{ iss: 'https://secret.example', ...plain },
  },
]
const issuers = [main, ...listed]
const textsOf = ({ iss, former }: Issuer): readonly string[] => [iss, ...(former ? [former] : [])]
const ownerOf = (iss: unknown) => issuers.find((each) => textsOf(each).some((text) => text === iss))
/** The issuer of a subject. */
const namedBy = (issuer: Issuer) => ({
  ...{ issuer: issuer.former ?? issuer.iss, isMain: issuer === main },
  ...(issuer.former && { otherTexts: [issuer.iss] }),
})
/** Keys that the server does not know, under names that it knows. */
const thieves = ['ES256', 'RS256', 'EdDSA', 'HS256'].map((alg, at) => new Signer(alg, `k${at + 1}`))

const { auth } = readConfig({
  AUTH_JWKS_URL: keyServer.publish('/main', main.signer.jwk),
  ...{ AUTH_ISSUER: main.iss, AUTH_FORMER_ISSUERS: main.former ?? '', AUTH_ROLES_CLAIM: 'roles' },
  AUTH_ISSUERS: JSON.stringify(
    listed.map(({ iss, former, signer, audience, algorithms, subjectClaim, actFor }) => ({
      ...{
        issuer: iss,
        formerIssuers: former && [former],
        audience,
        algorithms,
        subjectClaim,
        rolesClaim: 'roles',
        actFor,
      },
      ...(signer.alg.startsWith('HS')
        ? { secret: signer.secret }
        : { jwksUrl: keyServer.publish(`/${signer.kid}`, signer.jwk) }),
    })),
  ),
})
const authenticate = createAuthenticate(auth)

const publicKeys: readonly Jwk[] = issuers.flatMap(({ signer }) =>
  signer.alg.startsWith('HS') ? [] : [signer.jwk],
)

const json = fc.jsonValue({ maxDepth: 3 })
const size = fc.nat({ max: 3_000 }).map((length) => 'x'.repeat(length))
const names = fc.constantFrom('ann', 'ben', 'auth0|6F', 'Ann', '__proto__', '1')
const text = fc.oneof(
  { weight: 4, arbitrary: names },
  fc.string({ unit: 'binary', maxLength: 300 }),
  size,
)
const anything = fc.oneof(json, text)
const near = issuers.flatMap(({ iss }) => [`${iss}/`, iss.toUpperCase(), ` ${iss}`, `${iss}\n`])
const iss = fc.oneof(
  fc.constantFrom(undefined, ...issuers.flatMap(textsOf), ...near),
  fc.constantFrom(...issuers.map((each) => [each.iss])),
  anything,
)
const time = fc.integer({ min: -100, max: 600 }).map((seconds) => now() + seconds)
const exp = fc.oneof({ weight: 8, arbitrary: fc.constant(now() + 900) }, time, json)
const nbf = fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, time, json)
const aud = fc.oneof(fc.constantFrom('feed', undefined, ['x', 'feed']), anything)
const roles = fc.oneof(fc.constantFrom('admin', ['Moderator'], undefined), anything)
const scope = fc.oneof(fc.constantFrom('openid act-for', ['act-for'], undefined), anything)
const userClaim = fc.oneof({ weight: 4, arbitrary: fc.record({ id: text }) }, anything)

const claims = fc
  .record({ iss, sub: text, uid: text, user: userClaim, exp, nbf, aud, roles, scope, scp: scope })
  .chain((right) =>
    fc
      .record(
        {
          ...{ sub: anything, uid: anything, user: anything, iat: anything, jti: anything },
          ...{ 'user.id': anything, act: anything, azp: anything },
        },
        { requiredKeys: [] },
      )
      .map((wrong) => [right, wrong] as const),
  )
  .chain(([right, wrong]) =>
    fc.integer({ min: 0, max: 3 }).map((n) => (n === 0 ? { ...right, ...wrong } : right)),
  )

const algorithms = [
  ...['HS256', 'HS384', 'HS512', 'RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'],
  ...['Ed25519', 'none', 'None', 'es256', ''],
]
const alg = fc.oneof(fc.constantFrom(...algorithms), json)
const kid = fc.oneof(fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', undefined), anything)
const extra = fc.record(
  {
    ...{ jwk: fc.oneof(fc.constantFrom(...publicKeys, thieves[0]?.jwk), json), jku: anything },
    ...{ x5u: anything, x5c: json, crit: json, b64: json, typ: json, cty: json, zip: json },
  },
  { requiredKeys: [] },
)

/** False in one case of four. */
const mostly = fc.integer({ min: 0, max: 3 }).map((n) => n > 0)

/** A token before it is damaged. */
interface Signed {
  readonly signer: Signer
  readonly token: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly header: Readonly<Record<string, unknown>>
}

const signedBy = (signer: Signer) =>
  fc
    .record({ claims, alg, kid, extra, isPlain: mostly, isOwn: mostly })
    .map(({ claims: drawn, alg, kid, extra, isPlain, isOwn }): Signed => {
      const own = issuers.find((each) => each.signer === signer)
      const claims =
        isOwn && own
          ? { ...drawn, iss: textsOf(own).find((text) => text === drawn.iss) ?? own.iss }
          : drawn
      const right = { alg: signer.alg, kid: signer.kid }
      const header = isPlain ? right : { ...right, alg, kid, ...extra }
      // The key of RSA signs by what the header says, if it can.
      const by = ['PS256', 'RS512'].find((name) => name === header.alg)
      const token = signer.sign(claims, header, signer.alg === 'RS256' ? by : undefined)
      return { signer, token, claims: JSON.parse(JSON.stringify(claims)), header }
    })

const signed = fc
  .constantFrom(...issuers.map(({ signer }) => signer), ...thieves)
  .chain((signer) => signedBy(signer))

/** What happens to a token on its way. */
const damage = fc.oneof(
  { weight: 6, arbitrary: fc.constant((token: string) => token) },
  fc.tuple(fc.nat(), fc.constantFrom(...'Aa0_.-=')).map(([at, char]) => (token: string) => {
    const place = at % token.length
    return token.slice(0, place) + char + token.slice(place + 1)
  }),
  fc.nat({ max: 100 }).map((length) => (token: string) => token.slice(0, -1 - length)),
  claims.map((others) => (token: string) => {
    const [head, , signature] = token.split('.')
    return `${head}.${encode(others)}.${signature}`
  }),
  fc.record({ alg, kid }).map((header) => (token: string) => {
    const [, payload, signature] = token.split('.')
    return `${encode(header)}.${payload}.${signature}`
  }),
  fc.constantFrom('.', '.x', '==', '.x.y').map((end) => (token: string) => token + end),
)

type Outcome = { readonly signedIn: SignedIn | undefined } | { readonly refusal: unknown }

const outcomeOf = (token: string): Promise<Outcome> =>
  authenticate([`Bearer ${token}`]).then(
    (signedIn) => ({ signedIn }),
    (refusal: unknown) => ({ refusal }),
  )

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** The subject that the keys of an issuer have signed. */
const subjectIn = ({ subjectClaim }: Issuer, of: Signed['claims']): unknown =>
  member(of, subjectClaim) ?? subjectClaim.split('.').reduce<unknown>(member, of)

/**
 * Fails unless a token that was accepted is, to the letter, one that the keys of its issuer have
 * signed.
 */
function expectSigned({ subject, roles, scopes }: SignedIn, sent: string, original: Signed): void {
  const { signer, token, claims, header } = original
  const issuer = issuers.find((each) => each.signer === signer)
  if (!issuer) throw new Error('a thief has signed the token')
  expect(sent.split('.').slice(0, 2)).toEqual(token.split('.').slice(0, 2))
  expect(issuer.algorithms).toContain(header.alg)
  expect(ownerOf(claims.iss)).toBe(issuer)
  expect(subject).toEqual({ ...namedBy(issuer), sub: subjectIn(issuer, claims) })
  expect(Buffer.byteLength(subject.sub)).toBeLessThanOrEqual(255)
  expect(claims.exp).toBeGreaterThan(now() - 10)
  if (issuer.audience) expect([claims.aud].flat()).toContain(issuer.audience)
  for (const role of roles)
    expect(JSON.stringify(claims.roles).toUpperCase()).toMatch(new RegExp(`\\b${role}\\b`))
  for (const name of scopes) expect(JSON.stringify([claims.scope, claims.scp])).toContain(name)
}

test('a token is refused, or names exactly the subject that the keys of its issuer have signed', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(signed, damage, async (original, change) => {
      const sent = change(original.token)
      fc.pre(!sent.includes(' '))
      // The second time, the token may be in memory. A memory does not accept it with another
      // signature.
      for (const token of [sent, sent, sent.replace(/[^.]*$/, 'AAAA')]) {
        const outcome = await outcomeOf(token)
        if ('refusal' in outcome) {
          expect(outcome.refusal).toBeInstanceOf(DomainError)
          expect(outcome.refusal).toMatchObject({ code: 'UNAUTHENTICATED' })
          continue
        }
        if (!outcome.signedIn) throw new Error('the request is taken for an anonymous one')
        expect(token).toBe(sent)
        expectSigned(outcome.signedIn, sent, original)
        accepted++
      }
    }),
    { numRuns: lawRuns(3_000) },
  )
  expect(accepted).toBeGreaterThan(20)
})

const bensIssuer = 'https://rsa.example'
/** Each subject has an account, whose name says the issuer. */
const accounts = {
  subjects: { load: async ({ issuer, sub }: Subject) => `${issuer} ${sub}` as UserId },
  users: {
    // An account of the subject "ben" of one issuer.
    subjectOf: async (account: UserId) => ({ issuer: bensIssuer, sub: account, isMain: false }),
  },
}
const actForValue = fc.oneof(
  fc.constantFrom('subject:ben', 'account:WyJVc2VyIiwiYmVuIl0', 'ben', ''),
  fc.string({ unit: 'binary', maxLength: 100 }),
)
const headersOf = fc.array(actForValue, { maxLength: 2 })
/** Mostly the scope itself, because few other tokens act. */
const mostlyActing = fc.oneof({ weight: 3, arbitrary: fc.constant('act-for') }, scope)
const right = fc
  .record({ issuer: fc.constantFrom(...issuers), sub: names, scope: mostlyActing, roles })
  .map(({ issuer: { signer, iss, audience, subjectClaim }, sub, ...more }) =>
    signer.sign({ iss, aud: audience, exp: now() + 600, [subjectClaim]: sub, ...more }),
  )
const tokens = fc.oneof(
  right,
  signed.map(({ token }) => token),
)

const limiter = { charge: async () => undefined }

/** Whose subjects a token acts for. */
function actedFor({ subject: { issuer, isMain }, scopes }: SignedIn) {
  if (!scopes.has('act-for')) return undefined
  if (isMain) return namedBy(main)
  const owner = ownerOf(ownerOf(issuer)?.actFor)
  return owner && namedBy(owner)
}

test('a request acts as the subject of its token, or as the one user that a token with the scope names', async () => {
  let [actions, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(tokens, headersOf, async (token, actFor) => {
      const headersDistinct = { authorization: [`Bearer ${token}`], 'feedline-act-for': actFor }
      const request = { ip: '192.0.2.1', scope: null, raw: { headersDistinct } } as never
      const signedIn = await authenticate([`Bearer ${token}`]).catch(() => undefined)
      const sender = await new SignIns(authenticate, accounts, limiter, { note: () => {} })
        .find(request)
        .catch(() => undefined)
      const acted = signedIn && actedFor(signedIn)
      if (!signedIn || (actFor.length > 0 && !acted) || actFor.length > 1) {
        refused++
        expect(sender).toBeUndefined()
        return
      }
      const { signIn, client } = sender ?? {}
      if (actFor.length === 0) {
        expect(signIn).toMatchObject({ subject: signedIn.subject, isActing: false })
        return
      }
      if (!signIn) return
      actions++
      const [value = ''] = actFor
      expect(signIn).toMatchObject({ isActing: true, roles: new Set() })
      expect(client).toMatchObject({ isServer: true })
      const sub = decodeURIComponent(value.replace(/^subject:/, ''))
      if (value.startsWith('subject:')) expect(signIn.subject).toEqual({ ...acted, sub })
      else {
        expect([value, signIn.viewer]).toEqual(['account:WyJVc2VyIiwiYmVuIl0', 'ben'])
        expect([acted?.issuer, ...(acted?.otherTexts ?? [])]).toContain(bensIssuer)
      }
    }),
    { numRuns: lawRuns(2_000) },
  )
  expect(actions).toBeGreaterThan(5)
  expect(refused).toBeGreaterThan(20)
})

test('each issuer signs in each subject of its bounds, and no two of them share one', async () => {
  const sub = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
    .filter((each) => Buffer.byteLength(each) <= 255 && !/\p{Cc}|\p{Cs}/u.test(each))
  await fc.assert(
    fc.asyncProperty(sub, async (name) => {
      const subjects = await Promise.all(
        issuers.map(async ({ signer, iss, subjectClaim, audience }) => {
          const token = signer.sign({
            ...{ iss, aud: audience, exp: now() + 60, sub: 'someone else', [subjectClaim]: name },
          })
          return (await authenticate([`Bearer ${token}`]))?.subject
        }),
      )
      expect(subjects.map((subject) => subject?.sub)).toEqual(issuers.map(() => name))
      const keys = subjects.map((subject) => JSON.stringify([subject?.issuer, subject?.isMain]))
      expect(new Set(keys).size).toBe(issuers.length)
    }),
  )
})

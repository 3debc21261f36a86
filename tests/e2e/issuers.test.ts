import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { useApp } from '../support/app.ts'
import { encode, Signer, signByHmac, startKeyServer } from '../support/key-server.ts'
import { expectUnauthenticated, now, who } from '../support/sign-in.ts'

const keyServer = await startKeyServer()
afterAll(() => keyServer.close())

const [main, ofA, ofB, ofC, thief] = [
  new Signer('ES256', 'main'),
  new Signer('RS256', 'a'),
  new Signer('ES256', 'b'),
  new Signer('HS512', 'c'),
  new Signer('RS256', 'a'),
]
const [issA, issB, issC] = ['https://a.example', 'https://b.example', 'https://c.example']
const urlOfA = keyServer.publish('/a', new Signer('RS256', 'enc').jwk, ofA.jwk)
const urlOfB = keyServer.publish('/b', ofB.jwk)
const stolen = keyServer.publish('/thief', thief.jwk)

const issuers = [
  { issuer: issA, jwksUrl: urlOfA, audience: ['feed', 'other'], algorithms: ['RS256'] },
  { issuer: issB, jwksUrl: urlOfB, rolesClaim: 'roles' },
  { issuer: issC, secret: ofC.secret, algorithms: ['HS512'], subjectClaim: 'uid' },
  { issuer: 'https://sick.example', jwksUrl: 'http://127.0.0.1:9/keys' },
]
const env = {
  AUTH_JWKS_URL: keyServer.publish('/main', main.jwk),
  AUTH_ISSUERS: JSON.stringify(issuers),
}
const authenticate = createAuthenticate(readConfig(env).auth)
const signIn = (token: string) => authenticate([`Bearer ${token}`])

const exp = now() + 600
/** A right token of issuer A has these. */
const claimsOfA = { iss: issA, sub: 'ann', aud: 'feed', exp }

const expectRefused = async (token: string) =>
  expect(signIn(token)).rejects.toMatchObject({ name: 'DomainError', code: 'UNAUTHENTICATED' })

describe('several issuers', () => {
  test('tokens with the same sub of different issuers name different subjects', async () => {
    const tokens = [
      main.sign({ sub: 'ann', exp }),
      ofA.sign(claimsOfA),
      ofB.sign({ iss: issB, sub: 'ann', exp }),
      ofC.sign({ iss: issC, sub: 'ben', uid: 'ann', exp }),
    ]
    expect(await Promise.all(tokens.map(async (token) => (await signIn(token))?.subject))).toEqual([
      { issuer: '', sub: 'ann', isMain: true },
      { issuer: issA, sub: 'ann', isMain: false },
      { issuer: issB, sub: 'ann', isMain: false },
      { issuer: issC, sub: 'ann', isMain: false },
    ])
  })

  const forged: Readonly<Record<string, () => string>> = {
    'the key of A signs the issuer B': () => ofA.sign({ ...claimsOfA, iss: issB }),
    'the key of B signs the issuer A': () => ofB.sign(claimsOfA),
    'the key of B signs the issuer A, by the key id of A': () =>
      ofB.sign(claimsOfA, { alg: 'ES256', kid: 'a' }),
    'the main key signs the issuer A': () => main.sign(claimsOfA),
    'the main key signs the issuer B, with the same algorithm': () =>
      main.sign({ iss: issB, sub: 'ann', exp }),
    'the key of A signs no issuer': () => ofA.sign({ sub: 'ann', aud: 'feed', exp }),
    'the key of A signs an issuer that is not listed': () =>
      ofA.sign({ ...claimsOfA, iss: 'https://main.example' }),
    'the secret of C signs the issuer A': () => ofC.sign(claimsOfA),
    'the secret of C signs no issuer': () => ofC.sign({ sub: 'ann', uid: 'ann', exp }),
    'the issuer A without its claim of the subject': () =>
      ofA.sign({ ...claimsOfA, sub: undefined }),
    'the issuer C without its claim of the subject': () => ofC.sign({ iss: issC, sub: 'ann', exp }),
    'the issuer A for an audience of C': () => ofA.sign({ ...claimsOfA, aud: 'c' }),
    'the issuer A for no audience': () => ofA.sign({ ...claimsOfA, aud: undefined }),
    'the issuer A for an object as audience': () => ofA.sign({ ...claimsOfA, aud: { feed: 1 } }),
    'the key of A by another algorithm': () =>
      ofA.sign(claimsOfA, { alg: 'PS256', kid: 'a' }, 'PS256'),
  }
  test.each(Object.entries(forged))('a token is refused: %s', async (_, make) => {
    await expectRefused(make())
  })

  test.each([...[`${issA}/`, issA.toUpperCase(), `${issA}#`, 'a.example', 'x'.repeat(255)]])(
    'the main keys sign AUTH_ISSUER %s, which is another one than A, and without AUTH_ISSUER none',
    async (iss) => {
      const named = createAuthenticate(readConfig({ ...env, AUTH_ISSUER: iss }).auth)
      const ofMain = main.sign({ ...claimsOfA, iss })
      expect(await named([`Bearer ${ofMain}`])).toMatchObject({
        subject: { issuer: iss, sub: 'ann', isMain: true },
      })
      const stolenName = ofA.sign({ ...claimsOfA, iss })
      await expect(named([`Bearer ${stolenName}`])).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      })
      for (const token of [ofMain, stolenName]) await expectRefused(token)
    },
  )

  const noIssuers: readonly unknown[] = [
    ...['', ' ', `${issA} `, `${issA}\n`, 'a\u0000b', '\ud800', 'x'.repeat(256)],
    ...[7, null, true, {}, { toString: issA }, [], [issA], ['x', issA]],
  ]
  test.each(noIssuers.map((iss) => [iss]))('a token whose issuer is %j is refused', async (iss) => {
    for (const signer of [main, ofA, ofB]) await expectRefused(signer.sign({ ...claimsOfA, iss }))
  })

  test('algorithms of an issuer hold for a published key that names none', async () => {
    const { alg: _, ...jwk } = ofA.jwk
    const entry = { issuer: issA, jwksUrl: keyServer.publish('/open', jwk), algorithms: ['PS256'] }
    const { auth } = readConfig({ AUTH_ISSUERS: JSON.stringify([entry]) })
    const signInBy = async (alg: string) =>
      createAuthenticate(auth)([`Bearer ${ofA.sign(claimsOfA, { alg, kid: 'a' }, alg)}`])
    expect((await signInBy('PS256'))?.subject.sub).toBe('ann')
    for (const alg of ['RS256', 'PS384', 'RS512'])
      await expect(signInBy(alg)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  test('without main keys, tokens of other issuers are refused', async () => {
    const alone = createAuthenticate(readConfig({ AUTH_ISSUERS: env.AUTH_ISSUERS }).auth)
    expect((await alone([`Bearer ${ofA.sign(claimsOfA)}`]))?.subject.issuer).toBe(issA)
    await expect(alone([`Bearer ${main.sign({ sub: 'ann', exp })}`])).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: 'Authorization: the token has the "iss" none, which is none of AUTH_ISSUERS',
    })
  })

  test('keys of an issuer that are out of reach make its tokens alone UNAVAILABLE', async () => {
    const token = ofA.sign({ ...claimsOfA, iss: 'https://sick.example' })
    await expect(signIn(token)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect((await signIn(ofA.sign(claimsOfA)))?.subject.issuer).toBe(issA)
  })
})

describe('a token of the issuer A', () => {
  const jwk = ofA.jwk as JsonWebKey
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const der = publicKey.export({ format: 'der', type: 'spki' })
  /** What a server may take for the secret of HMAC. */
  const published: Readonly<Record<string, string | Buffer>> = {
    PEM: publicKey.export({ format: 'pem', type: 'spki' }),
    'PEM without its last line break': publicKey
      .export({ format: 'pem', type: 'spki' })
      .toString()
      .trim(),
    'PKCS #1': publicKey.export({ format: 'pem', type: 'pkcs1' }),
    DER: der,
    'base64 of DER': der.toString('base64'),
    JWK: JSON.stringify(jwk),
    'the modulus': Buffer.from(String(jwk.n), 'base64url'),
    nothing: '',
  }
  test.each(Object.entries(published))(
    'is refused if it is signed by HMAC with what is published: %s',
    async (_, secret) => {
      for (const alg of ['HS256', 'HS384', 'HS512'])
        await expectRefused(signByHmac(alg, secret, claimsOfA, 'a'))
    },
  )

  test('is refused without a signature, and if its algorithm is written another way', async () => {
    const [, payload, signature] = ofA.sign(claimsOfA).split('.')
    const algorithms = ['none', 'None', 'NONE', 'nOnE', 'rs256', 'Rs256', 'RS256 ', '', null, 1]
    for (const alg of [...algorithms, ['RS256'], { RS256: 1 }, undefined, 'RS1', 'constructor']) {
      const head = encode({ alg, typ: 'JWT', kid: 'a' })
      await expectRefused(`${head}.${payload}.`)
      await expectRefused(`${head}.${payload}.${signature}`)
      await expectRefused(ofA.sign(claimsOfA, { alg, kid: 'a' }))
    }
  })

  const { jwk: thiefsKey } = thief
  const headers: Readonly<Record<string, object>> = {
    'the key id of A': { kid: 'a' },
    'a path as key id': { kid: '../../../../dev/null' },
    'a URL as key id': { kid: stolen },
    'a query as key id': { kid: "x' UNION SELECT 'key" },
    'a prototype as key id': { kid: '__proto__' },
    'a list as key id': { kid: ['a'] },
    'an object as key id': { kid: { $ne: null } },
    'no key id': { kid: undefined },
    'a key of its own': { kid: 'a', jwk: thiefsKey },
    'a URL of keys': { kid: 'a', jku: stolen },
    'a URL of certificates': { kid: 'a', x5u: stolen },
    'a certificate': { kid: 'a', x5c: ['MIIB'], x5t: 'x' },
    'all of them': { kid: 'a', jwk: thiefsKey, jku: stolen, x5u: stolen, iss: issA },
  }
  test.each(Object.entries(headers))(
    'is refused if a thief signs it, and names the key by %s',
    async (_, header) => {
      await expectRefused(thief.sign(claimsOfA, { alg: 'RS256', typ: 'JWT', ...header }))
      expect(keyServer.asked).not.toContain('/thief')
    },
  )

  test('is refused with critical headers, and with an unencoded payload', async () => {
    for (const crit of [['exp'], ['b64'], ['x'], [], 'exp', null, {}])
      await expectRefused(ofA.sign(claimsOfA, { alg: 'RS256', kid: 'a', crit, exp: 1, x: 1 }))
    const header = { alg: 'RS256', kid: 'a', b64: false, crit: ['b64'] }
    await expectRefused(ofA.sign(claimsOfA, header))
  })

  const times: readonly object[] = [
    ...[undefined, null, 'soon', true, {}, [exp], 0, now() - 10].map((value) => ({ exp: value })),
    ...['soon', true, {}, now() + 60].map((nbf) => ({ nbf })),
  ]
  test.each(times.map((claims) => [claims]))('is refused with the times %j', async (claims) => {
    await expectRefused(ofA.sign({ ...claimsOfA, ...claims }))
  })

  const subjects: readonly unknown[] = [
    ...[undefined, null, '', 7, true, {}, [], ['ann'], { toString: 'ann' }],
    ...['a\u0000', '\u0000', 'a\nb', 'a\u007fb', 'a\u0085b', '\ud800', 'a\udfff', 'x'.repeat(256)],
    'é'.repeat(128),
  ]
  test.each(subjects.map((sub) => [sub]))('is refused with the subject %j', async (sub) => {
    await expectRefused(ofA.sign({ ...claimsOfA, sub }))
  })

  test.each([
    ...['x'.repeat(255), `${'é'.repeat(127)}x`, 'a b', ' ', 'auth0|6f', 'ANN', '__proto__', '😀'],
    ...['$ne', 'constructor', 'ann@feed.example', '{"$ne":1}', '../x', 'a|b\\c"d', 'ａｎｎ'],
  ])('names exactly the subject %j', async (sub) => {
    expect((await signIn(ofA.sign({ ...claimsOfA, sub })))?.subject).toEqual({
      ...{ issuer: issA, sub, isMain: false },
    })
  })
})

describe('over HTTP', () => {
  const app = useApp({ NODE_ENV: 'production', ...env })
  const bearer = (token: string) => `Bearer ${token}`

  test('a token of a listed issuer never acts as the account of the main keys with the same sub', async () => {
    const query = 'mutation { createUser(input: {name: "Ann"}) { user { id } } }'
    const headers = { authorization: bearer(main.sign({ sub: 'ann', exp })) }
    const { data, errors } = await app.send({ query, headers })
    expect(errors).toEqual([])
    const other = await app.send({
      query: '{ viewer { user { id } } }',
      headers: { authorization: bearer(ofA.sign(claimsOfA)) },
    })
    expect(other.data?.viewer?.user?.id).not.toBe(data.createUser.user.id)
  })

  test('a forged token gets status 401 and a challenge', async () => {
    expectUnauthenticated(await who(app, bearer(ofB.sign(claimsOfA))))
    expectUnauthenticated(await who(app, bearer(main.sign(claimsOfA))))
  })
})

test('Dev sign-in accepts any subject of the bounds, without roles and scopes', async () => {
  const dev = createAuthenticate(readConfig({}).auth)
  for (const sub of ['ann', 'auth0|6F', 'x'.repeat(255)])
    expect(await dev([`Dev ${sub}`])).toEqual({
      subject: { issuer: '', sub, isMain: true },
      ...{ roles: new Set(), scopes: new Set() },
    })
  for (const sub of ['x'.repeat(256), 'a\u0001', 'a b'])
    await expect(dev([`Dev ${sub}`])).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})

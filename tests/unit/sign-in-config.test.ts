import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { readConfig } from '../../src/environment.ts'
import { findIssuer } from '../../src/sign-in.ts'

const secret = 's'.repeat(32)
const jwksUrl = 'https://id.example/keys'
const issuer = 'https://id.example'

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const auth = (env: Record<string, string>) => readConfig(env).auth

describe('the main keys', () => {
  test('nothing is required of a token of a secret but HS256, and without keys none is accepted', () => {
    expect(auth({})).toMatchObject({ dev: true, main: undefined, issuers: [] })
    expect(auth({ AUTH_JWT_SECRET: secret }).main).toEqual({
      ...{
        secret,
        jwksUrl: undefined,
        issuer: undefined,
        formerIssuers: [],
        audience: [],
        algorithms: ['HS256'],
      },
      ...{ subjectClaim: 'sub', rolesClaim: undefined },
    })
  })

  test('each variable of sign-in is read, and AUTH_AUDIENCE and AUTH_ALGORITHMS are lists', () => {
    const env = {
      ...{ AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER: issuer, AUTH_AUDIENCE: 'one, two' },
      ...{ AUTH_ALGORITHMS: 'ES256,EdDSA', AUTH_SUBJECT_CLAIM: 'uid', AUTH_ROLES_CLAIM: 'a.b' },
    }
    expect(auth(env).main).toEqual({
      ...{ secret: undefined, jwksUrl, issuer, formerIssuers: [], audience: ['one', 'two'] },
      ...{ algorithms: ['ES256', 'EdDSA'], subjectClaim: 'uid', rolesClaim: 'a.b' },
    })
    expect(problemsOf({ AUTH_AUDIENCE: ',' })).toEqual([
      'AUTH_AUDIENCE: must name an audience, not ","',
    ])
  })

  test('the algorithms of published keys are refused for a secret, and the other way round', () => {
    const ofSecret = 'AUTH_ALGORITHMS: must be of HS256, HS384, HS512 for a secret'
    for (const name of ['RS256', 'HS256,ES256'])
      expect(problemsOf({ AUTH_JWT_SECRET: secret, AUTH_ALGORITHMS: name })).toEqual([ofSecret])
    expect(problemsOf({ AUTH_JWT_SECRET: secret, AUTH_ALGORITHMS: 'HS512' })).toEqual([])
    expect(problemsOf({ AUTH_JWKS_URL: jwksUrl, AUTH_ALGORITHMS: 'HS256' })).toEqual([
      expect.stringMatching(/^AUTH_ALGORITHMS: must be of RS256, .* for published keys$/),
    ])
    for (const name of ['none', 'hs256', 'RSA1_5'])
      expect(problemsOf({ AUTH_JWKS_URL: jwksUrl, AUTH_ALGORITHMS: name })).toEqual([
        expect.stringMatching(/^AUTH_ALGORITHMS: must be one of HS256, /),
      ])
  })

  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const jwk = publicKey.export({ format: 'jwk' })
  const keys: Readonly<Record<string, string>> = {
    'a public key in PEM': publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    'a public key in PEM on one line': publicKey
      .export({ format: 'pem', type: 'spki' })
      .toString()
      .replaceAll('\n', '\\n'),
    'a public key in PKCS #1': publicKey.export({ format: 'pem', type: 'pkcs1' }).toString(),
    'a private key': privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'the base64 of a public key': der.toString('base64'),
    'the base64url of a public key': der.toString('base64url'),
    'a JWK': JSON.stringify(jwk),
    'a set of JWK': JSON.stringify({ keys: [jwk] }, null, 2),
  }
  test.each(Object.entries(keys))('a secret that is %s is refused', (_, key) => {
    const problem = 'must be a secret, and is a key of a key pair'
    expect(problemsOf({ AUTH_JWT_SECRET: key })).toEqual([`AUTH_JWT_SECRET: ${problem}`])
    expect(problemsOf({ AUTH_ISSUERS: JSON.stringify([{ issuer, secret: key }]) })).toEqual([
      `AUTH_ISSUERS: 0.secret ${problem}`,
    ])
  })

  test('random secrets in hex, base64 and base64url are accepted', () => {
    for (const text of ['hex', 'base64', 'base64url'] as const)
      expect(problemsOf({ AUTH_JWT_SECRET: der.subarray(40, 104).toString(text) })).toEqual([])
  })
})

describe('AUTH_ISSUERS', () => {
  const of = (...entries: unknown[]) => ({ AUTH_ISSUERS: JSON.stringify(entries) })

  test('an issuer has its own keys, audience, algorithms and claims', () => {
    const ofSecret = { issuer: 'https://b.example', secret, audience: ['x', 'y'] }
    const claims = { algorithms: ['HS512'], subjectClaim: 'uid', rolesClaim: 'realm_access.roles' }
    const env = of({ issuer, jwksUrl, audience: 'x' }, { ...ofSecret, ...claims })
    expect(auth(env).issuers).toMatchObject([
      { issuer, jwksUrl, audience: ['x'], subjectClaim: 'sub', rolesClaim: undefined },
      { ...ofSecret, ...claims },
    ])
    expect(auth(env).issuers[0]?.algorithms).toEqual(
      auth({ AUTH_JWKS_URL: jwksUrl }).main?.algorithms,
    )
    expect(auth(of({ issuer, secret })).issuers[0]).toMatchObject({
      ...{ algorithms: ['HS256'], audience: [] },
    })
  })

  const array = 'must be a JSON array of 1 to 20 issuers'
  const fields =
    'must be an object, with no fields but issuer, formerIssuers, jwksUrl, secret, audience, algorithms, subjectClaim, rolesClaim, actFor'
  const wrong: readonly (readonly [given: unknown, problem: string])[] = [
    [{}, array],
    [[], array],
    [Array.from({ length: 21 }, (_, n) => ({ issuer: `https://${n}`, jwksUrl })), array],
    [[7], `0 ${fields}`],
    [[null], `0 ${fields}`],
    [[{ issuer, jwksUrl, jwks: 'hidden' }], `0 ${fields}`],
    [[{ jwksUrl }], '0.issuer must be a text'],
    [[{ issuer: '', jwksUrl }], '0.issuer must be 1 to 255 bytes without white space'],
    [[{ issuer: 'a b', jwksUrl }], '0.issuer must be 1 to 255 bytes without white space'],
    [[{ issuer: 'é'.repeat(128), jwksUrl }], '0.issuer must be 1 to 255 bytes without white space'],
    [[{ issuer }], '0 must have either jwksUrl or secret'],
    [[{ issuer, jwksUrl, secret }], '0 must have either jwksUrl or secret'],
    [[{ issuer, secret: 'hidden' }], '0.secret must be at least 32 characters, and has 6'],
    [[{ issuer, secret: 7 }], '0.secret must be a text'],
    [
      [
        { issuer, jwksUrl },
        { issuer: 'https://b', jwksUrl: 'hidden' },
      ],
      '1.jwksUrl must be an http or https URL, as in https://collector.example',
    ],
    [
      [
        { issuer, jwksUrl },
        { issuer, secret },
      ],
      '1.issuer must not be that of 0',
    ],
    [[{ issuer, jwksUrl, audience: 7 }], '0.audience must be a text or a list of texts'],
    [[{ issuer, jwksUrl, audience: [] }], '0.audience must name an audience'],
    [[{ issuer, jwksUrl, audience: '' }], '0.audience must be a text or a list of texts'],
    [[{ issuer, jwksUrl, audience: ['x', ''] }], '0.audience.1 must name an audience'],
    [[{ issuer, jwksUrl, algorithms: 'RS256' }], '0.algorithms must be a list of algorithms'],
    [[{ issuer, jwksUrl, algorithms: [] }], '0.algorithms must name an algorithm'],
    [
      [{ issuer, secret, algorithms: ['RS256'] }],
      '0.algorithms must be of HS256, HS384, HS512 for a secret',
    ],
    [[{ issuer, jwksUrl, subjectClaim: '' }], '0.subjectClaim must name a claim'],
    [[{ issuer, jwksUrl, rolesClaim: ['roles'] }], '0.rolesClaim must be a text'],
    [[{ issuer, jwksUrl, actFor: true }], '0.actFor must be an issuer or a list of issuers'],
    [[{ issuer, jwksUrl, actFor: [] }], '0.actFor must be an issuer or a list of issuers'],
    [[{ issuer, jwksUrl, actFor: '' }], '0.actFor must be an issuer or a list of issuers'],
    [
      [{ issuer, jwksUrl, actFor: [issuer, 'https://b'] }],
      '0.actFor must be AUTH_ISSUER or an issuer of AUTH_ISSUERS',
    ],
    [
      [{ issuer, jwksUrl, actFor: `${issuer}/` }],
      '0.actFor must be AUTH_ISSUER or an issuer of AUTH_ISSUERS',
    ],
  ]
  test.each(wrong)('the issuers %j are refused with the place of the problem', (given, problem) => {
    expect(problemsOf({ AUTH_ISSUERS: JSON.stringify(given) })).toEqual([
      `AUTH_ISSUERS: ${problem}`,
    ])
  })

  test('a text that is no JSON is refused, and no problem shows a value', () => {
    expect(problemsOf({ AUTH_ISSUERS: `[{"issuer": "${issuer}", "secret": hidden}]` })).toEqual([
      `AUTH_ISSUERS: ${array}`,
    ])
    const both = of({ issuer: 'hidden text', secret: 'hidden' })
    expect(problemsOf(both)).toHaveLength(2)
    expect(problemsOf(both).join()).not.toContain('hidden')
  })

  test('an algorithm that the kind of key lacks is refused by its place in the list', () => {
    expect(problemsOf(of({ issuer, jwksUrl, algorithms: ['ES256', 'none'] }))).toEqual([
      expect.stringMatching(/^AUTH_ISSUERS: 0.algorithms.1 must be one of HS256, /),
    ])
    expect(problemsOf(of({ issuer, jwksUrl, algorithms: ['HS256'] }))).toEqual([
      expect.stringMatching(/^AUTH_ISSUERS: 0.algorithms must be of RS256, .* for published keys$/),
    ])
  })

  test('AUTH_ISSUER cannot be listed too, because one rule alone verifies the tokens of an issuer', () => {
    const main = { AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer }
    expect(problemsOf({ ...main, ...of({ issuer: 'b', jwksUrl }, { issuer, jwksUrl }) })).toEqual([
      'AUTH_ISSUERS: 1.issuer must not be AUTH_ISSUER',
    ])
    expect(problemsOf({ ...main, ...of({ issuer: `${issuer}/`, jwksUrl }) })).toEqual([])
  })

  test('a former issuer is no issuer, and no former one of another issuer', () => {
    const former = 'http://id.example'
    const main = {
      ...{ AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer },
      AUTH_FORMER_ISSUERS: `${former}, https://older.example`,
    }
    expect(auth(main).main?.formerIssuers).toEqual([former, 'https://older.example'])
    expect(problemsOf({ ...main, AUTH_ISSUER: '' })).toEqual([
      'AUTH_FORMER_ISSUERS: set AUTH_ISSUER to the present one',
    ])
    expect(problemsOf({ ...main, AUTH_ISSUER: former })).toEqual([
      'AUTH_FORMER_ISSUERS: must not name AUTH_ISSUER',
    ])
    const wrong = [',', 'a b', 'a,a', Array.from({ length: 9 }, (_, n) => `a${n}`).join()]
    for (const AUTH_FORMER_ISSUERS of wrong)
      expect(problemsOf({ ...main, AUTH_FORMER_ISSUERS })).toHaveLength(1)
    const entry = { issuer: 'b', jwksUrl, formerIssuers: ['c', 'd'] }
    const [first, ...more] = auth(of(entry, { issuer: 'e', secret })).issuers
    expect([first?.formerIssuers, more[0]?.formerIssuers]).toEqual([['c', 'd'], []])
    const refused: readonly (readonly [entries: readonly object[], problem: string])[] = [
      [[entry, { issuer: 'd', secret }], '1.issuer must not be that of 0'],
      [[{ issuer: 'd', secret }, entry], '1.formerIssuers must not be that of 0'],
      [
        [entry, { issuer: 'e', secret, formerIssuers: ['c'] }],
        '1.formerIssuers must not be that of 0',
      ],
      [[{ ...entry, formerIssuers: ['b'] }], '0.formerIssuers must not be its issuer'],
      [[{ ...entry, formerIssuers: ['c', 'c'] }], '0.formerIssuers must name each text once'],
      [[{ ...entry, formerIssuers: [] }], '0.formerIssuers must name an issuer'],
      [[{ ...entry, formerIssuers: 'c' }], '0.formerIssuers must be a list of texts'],
      [[{ ...entry, formerIssuers: [7] }], '0.formerIssuers.0 must be a text'],
      [
        [{ ...entry, formerIssuers: [''] }],
        '0.formerIssuers.0 must be 1 to 255 bytes without white space',
      ],
      [[{ ...entry, formerIssuers: [issuer] }], '0.formerIssuers must not be AUTH_ISSUER'],
      [
        [{ ...entry, formerIssuers: [former] }],
        '0.formerIssuers must not be of AUTH_FORMER_ISSUERS',
      ],
      [[{ issuer: former, jwksUrl }], '0.issuer must not be of AUTH_FORMER_ISSUERS'],
    ]
    for (const [entries, problem] of refused)
      expect(problemsOf({ ...main, ...of(...entries) })).toEqual([`AUTH_ISSUERS: ${problem}`])
  })

  test('variables of the main keys are refused without main keys: no issuer would obey them', () => {
    const names = ['AUTH_AUDIENCE', 'AUTH_ALGORITHMS', 'AUTH_SUBJECT_CLAIM', 'AUTH_ROLES_CLAIM']
    const env = Object.fromEntries(names.map((name) => [name, 'RS256']))
    expect(problemsOf({ ...env, ...of({ issuer, jwksUrl }) })).toEqual(
      names.map(
        (name) =>
          `${name}: is for tokens of AUTH_JWT_SECRET or AUTH_JWKS_URL; set it in AUTH_ISSUERS instead`,
      ),
    )
    expect(problemsOf({ ...env, AUTH_JWKS_URL: jwksUrl, ...of({ issuer, jwksUrl }) })).toEqual([])
  })
})

test('an issuer is of the main keys, of keys of its own, or of none', () => {
  const ofMain = (issuers: readonly string[], env: Record<string, string>) =>
    issuers.map((each) => findIssuer(auth(env), each)?.isMain)
  const listed = 'https://listed.example'
  const AUTH_ISSUERS = JSON.stringify([{ issuer: listed, secret }])
  const asked = ['', issuer, `${issuer}/`, listed]
  const production = { NODE_ENV: 'production', MONGODB_URI: 'embedded' }
  const noIssuer = { AUTH_JWT_SECRET: secret, AUTH_ISSUERS }
  expect(ofMain(asked, noIssuer)).toEqual([true, undefined, undefined, false])
  const oneIssuer = { ...noIssuer, AUTH_ISSUER: issuer }
  expect(ofMain(asked, oneIssuer)).toEqual([true, true, undefined, false])
  expect(ofMain(asked, { ...production, ...oneIssuer })).toEqual([
    ...[undefined, true, undefined, false],
  ])
  expect(ofMain(asked, { ...production, AUTH_ISSUERS })).toEqual([
    ...[undefined, undefined, undefined, false],
  ])
  expect(ofMain(asked, {})).toEqual([true, undefined, undefined, undefined])
  const renamed = { ...oneIssuer, AUTH_FORMER_ISSUERS: `${issuer}/` }
  expect(ofMain(asked, renamed)).toEqual([true, true, true, false])
  const texts = { issuer: `${issuer}/`, isMain: true, otherTexts: [issuer] }
  expect(asked.slice(0, 3).map((each) => findIssuer(auth(renamed), each))).toEqual([
    ...[texts, texts, texts],
  ])
})

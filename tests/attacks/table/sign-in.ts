import { userNodeId } from '../../../src/graphql/node-id.ts'
import {
  type Attack,
  base64,
  bytesOf,
  existing,
  farFuture,
  jobs,
  keysIssuer,
  rawAttack,
  secret,
  serversToken,
  signToken,
  users,
} from '../attack.ts'

const refused = '401 UNAUTHENTICATED'
/** The token counts. Its subject is no handle, and so gets no account by `mutation`. */
const accepted = '200 BAD_USER_INPUT'
const mutation = JSON.stringify({
  query: 'mutation { createUser(input: {name: "x"}) { user { id } } }',
})

const sub = 'No Handle'
const claims = { iss: users.issuer, sub, aud: 'feed', exp: farFuture }
type Header = Readonly<Record<string, unknown>>
const ofUsers = (changes: object, header?: Header) =>
  signToken({ ...claims, ...changes }, header, users.secret)
/** A token whose claims are a text, which may name a member twice. */
const written = (text: string, by = users.secret) => signToken(`{${text}}`, undefined, by)
const [iss, former, aud] = [`"iss":"${users.issuer}"`, `"iss":"${users.former}"`, '"aud":"feed"']
const rest = `"sub":"${sub}",${aud},"exp":${farFuture}`

type Tokens = Readonly<Record<string, string>>
const each = <Value>(name: string, values: readonly Value[], make: (value: Value) => string) =>
  Object.fromEntries(
    values.map((value) => [`${name} ${JSON.stringify(value)?.slice(0, 60)}`, make(value)]),
  )

/** The text of `iss` chooses the keys, to the letter. */
const issuers: Tokens = {
  ...each(
    'iss',
    [
      ...[
        `${users.issuer}/`,
        users.issuer.toUpperCase(),
        `${users.issuer}:443`,
        ` ${users.issuer}`,
      ],
      ...[`${users.issuer}\n`, `${users.issuer}\u0000`, `${users.issuer}#`, `${users.issuer}?x`],
      ...[`${users.issuer}@evil.example`, 'https://users.ex\u0430mple', 'users.example', ''],
      ...['//users.example', 'https://users.example.evil', '__proto__', 'constructor', null, 7],
      ...[true, {}, { $ne: 1 }, [], [users.issuer], [users.issuer, 'x'], 'x'.repeat(300)],
    ],
    (value) => ofUsers({ iss: value }),
  ),
  'no iss, by the secret of a listed issuer': ofUsers({ iss: undefined }),
  ...each(
    'by the main secret, iss',
    [users.issuer, users.former, jobs.issuer, keysIssuer],
    (value) => signToken({ ...claims, iss: value }),
  ),
  ...each('by the main secret, which has no issuer, iss', ['', ' ', null, 0, []], (value) =>
    signToken({ ...claims, iss: value }),
  ),
  ...each('by the secret of servers, iss', [users.issuer, users.former], (value) =>
    signToken({ ...claims, iss: value }, undefined, jobs.secret),
  ),
  'iss twice, the last one another': written(`${iss},${rest},"iss":"https://evil.example"`),
  'iss twice, the last one listed, by the main secret': written(`"iss":"x",${rest},${iss}`, secret),
  'iss within another claim': written(`${rest},"x":{${iss}}`),
  'iss in another case': written(`"ISS":"${users.issuer}",${rest}`),
  'a listed iss with an escape in its name, by the main secret': written(
    `"\\u0069ss":"${users.issuer}",${rest}`,
    secret,
  ),
}

const audiences: Tokens = each(
  'aud',
  [
    ...[undefined, null, 'other', 'Feed', 'feed ', 'feed,app', '', [], ['other'], [['feed']]],
    ...[{ feed: 1 }, { 0: 'feed', length: 1 }, 7, true, 'fe\u0435d'],
  ],
  (value) => ofUsers({ aud: value }),
)

const numbers: Tokens = {
  ...each(
    'exp as written',
    ['1.5', '-1e400', '-0', `"${farFuture}"`, `[${farFuture}]`, '1e9'],
    (exp) => written(`${iss},"sub":"${sub}",${aud},"exp":${exp}`),
  ),
  'exp twice, the last one past': written(`${iss},${rest},"exp":1`),
  ...each('nbf as written', ['4e9', '4000000000.5', '1e400', '"0"', 'null', '[0]'], (nbf) =>
    written(`${iss},${rest},"nbf":${nbf}`),
  ),
  ...each('iat as written', ['null', '"0"', '[0]', '{}'], (iat) =>
    written(`${iss},${rest},"iat":${iat}`),
  ),
}

const subjects: Tokens = {
  ...each<unknown>(
    'sub of a listed issuer',
    [
      null,
      0,
      -1,
      true,
      [],
      ['ann'],
      {},
      { toString: 'ann' },
      'x'.repeat(256),
      '\u00e9'.repeat(128),
    ],
    (value) => ofUsers({ sub: value }),
  ),
  ...each(
    'sub of a listed issuer',
    ['a\u0000b', 'a\nb', 'a\u0085b', '\udc00', 'a\u007f'],
    (value) => ofUsers({ sub: value }),
  ),
  'sub twice, the last one no text': written(`${iss},${rest},"sub":7`),
  'sub in another case': written(`${iss},"Sub":"${sub}",${aud},"exp":${farFuture}`),
}

const headed: Tokens = {
  ...each('alg, by its secret', ['HS384', 'HS512', 'hs256', 'HS256 ', 'RS256'], (alg) =>
    ofUsers({}, { alg }),
  ),
  ...each('alg for published keys', ['HS256', 'HS512', 'none', 'RS384', 'ES256'], (alg) =>
    signToken({ ...claims, iss: keysIssuer }, { alg, kid: 'k' }, 'public key'),
  ),
  ...each('crit', [['iss'], [], ['b64'], 'b64', null, {}, ['alg']], (crit) =>
    ofUsers({}, { alg: 'HS256', crit }),
  ),
  ...each('a key in the header, of a thief,', ['jwk', 'x5c', 'x5u', 'jku', 'x5t'], (name) => {
    const own = { jwk: { kty: 'oct', k: base64('thief') }, x5c: [base64('thief')] }
    const value = { ...own, x5u: 'https://evil.example', jku: 'https://evil.example' }
    const header = { alg: 'HS256', [name]: value[name as keyof typeof value] ?? 'x' }
    return signToken(claims, header, 'thief')
  }),
  ...each(
    'kid of a thief',
    ['', '/dev/null', "' OR 1=1", '__proto__', '\u{1f600}', 7, null],
    (kid) => signToken(claims, { alg: 'HS256', kid }, ''),
  ),
  'a long kid of a thief': signToken(claims, { alg: 'HS256', kid: 'k'.repeat(6_000) }, 'thief'),
  'alg twice, the last one none': ((signed) =>
    `${base64('{"alg":"HS256","alg":"none"}')}.${signed.split('.').slice(1).join('.')}`)(
    ofUsers({}),
  ),
  'a token in a token': signToken(ofUsers({}), { alg: 'HS256', cty: 'JWT' }, users.secret),
  'a token as JSON': base64({ payload: base64(claims), signatures: [{ protected: 'x' }] }),
}

/** Not an attack: what a client may send, and what must keep its meaning. */
const right: Tokens = {
  'a former text of iss': ofUsers({ iss: users.former }),
  'one of several audiences': ofUsers({ aud: ['x', 'app'] }),
  'iss twice, the last one listed': written(`"iss":"https://evil.example",${rest},${iss}`),
  'iss twice, of both texts': written(`${former},${rest},${iss}`),
  'any iss by the main secret, which has no issuer': signToken({ ...claims, iss: 'https://any' }),
  'exp in fractions': ofUsers({ exp: farFuture + 0.5 }),
  'nbf below zero': ofUsers({ nbf: -1 }),
  'iat in the future': ofUsers({ iat: farFuture }),
  'the longest sub': ofUsers({ sub: `X${'x'.repeat(254)}` }),
  'a sub of spaces': ofUsers({ sub: '   ' }),
  'a sub of other planes': ofUsers({ sub: '\u{1f600}\u202e' }),
  'thousands of roles': ofUsers({ roles: Array(900).fill('admin') }),
  'roles of wrong types': ofUsers({ roles: [{ admin: 1 }, 7, null, ['ADMIN']] }),
  'another type of token': ofUsers({}, { alg: 'HS256', typ: 'at+jwt', kid: '../x' }),
  'keys in the header': ofUsers({}, { alg: 'HS256', jwk: { kty: 'oct', k: 'eA' }, x5u: 'x' }),
}

const valid = ofUsers({})
const headers: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      'Token',
      'JWT',
      'DPoP',
      'OAuth',
      'Negotiate',
      'Bearer:',
      'Bearer,',
      '"Bearer"',
      'Bearer\u00a0',
    ].map((scheme) => [`the scheme ${JSON.stringify(scheme)}`, [`${scheme} ${valid}`]]),
  ),
  'an equals sign': [`Bearer=${valid}`],
  'a comma behind': [`Bearer ${valid},`],
  'a parameter behind': [`Bearer ${valid};x=1`],
  'percent-encoded dots': [`Bearer ${valid.replaceAll('.', '%2E')}`],
  'a no-break space': [`Bearer\u00a0${valid}`],
  'the scheme twice': [`Bearer Bearer ${valid}`],
  'two headers of two issuers': [`Bearer ${valid}`, `Bearer ${serversToken}`],
  'two schemes': [`Bearer ${valid}`, 'Dev ann'],
  'a token in base64': [`Bearer ${Buffer.from(valid).toString('base64url')}`],
}

const sending = (
  name: string,
  values: readonly string[],
  answer: string,
  users: readonly string[] = [],
): Attack =>
  rawAttack(
    name,
    [answer],
    [
      bytesOf({
        headers: [
          ['Content-Type', 'application/json'],
          ...values.map((value) => ['Authorization', value] as const),
          ...users.map((value) => ['Feedline-Act-For', value] as const),
        ],
        body: mutation,
      }),
    ],
  )

const bens = userNodeId(existing.author)
const ofServer = (changes: object) =>
  signToken(
    { iss: jobs.issuer, sub: 'nightly', exp: farFuture, scope: 'act-for', ...changes },
    undefined,
    jobs.secret,
  )
/** Tokens that act for no user. */
const unscoped: Tokens = {
  ...each(
    'the scope',
    [
      'ACT-FOR',
      'act-for,openid',
      ['act-for '],
      { 'act-for': true },
      true,
      'act-for\topenid',
      [['act-for']],
    ],
    (scope) => ofServer({ scope }),
  ),
  'a scope by another name': ofServer({
    scope: undefined,
    scopes: 'act-for',
    permissions: ['act-for'],
  }),
  'the scope of an issuer of users': ofUsers({ scope: 'act-for' }),
  'the scope in the header': signToken(
    { iss: jobs.issuer, sub: 'nightly', exp: farFuture },
    { alg: 'HS256', scope: 'act-for' },
    jobs.secret,
  ),
}
const actors: readonly string[] = [
  ...['Subject:ann', 'SUBJECT:ann', 'subject', 'subject: ann', 'subject:ann;account:ben'],
  ...['subject:%61%2', 'subject:ann%00', 'subject:+', 'subject:a%E2%80', 'account:', 'user:ann'],
  ...[`account:${bens.toLowerCase()}`, `account:${bens}=`, `account: ${bens}`, `acct:${bens}`],
]

export const signInAttacks: readonly Attack[] = [
  ...Object.entries({ ...issuers, ...audiences, ...numbers, ...subjects, ...headed }).map(
    ([name, token]) => sending(`sign-in: ${name}`, [`Bearer ${token}`], refused),
  ),
  ...Object.entries(headers).map(([name, values]) => sending(`sign-in: ${name}`, values, refused)),
  ...Object.entries(right).map(([name, token]) =>
    sending(`sign-in: ${name}`, [`Bearer ${token}`], accepted),
  ),
  ...Object.entries(unscoped).map(([name, token]) =>
    sending(`acting by ${name}`, [`Bearer ${token}`], '403 FORBIDDEN', ['subject:ann']),
  ),
  ...actors.map((value) =>
    sending(`acting for ${value}`, [`Bearer ${ofServer({})}`], '400 BAD_REQUEST', [value]),
  ),
  {
    ...sending(
      'acting for an account of another issuer',
      [`Bearer ${ofServer({})}`],
      '404 NOT_FOUND',
      [`account:${bens}`],
    ),
    commandsMax: 1,
  },
  sending('acting for a subject of other planes', [`Bearer ${ofServer({})}`], accepted, [
    'subject:%F0%9F%98%80',
  ]),
]

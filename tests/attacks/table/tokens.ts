import { generateKeyPairSync, sign } from 'node:crypto'
import { userNodeId } from '../../../src/graphql/node-id.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import {
  type Attack,
  base64,
  bytesOf,
  existing,
  existingPost,
  farFuture,
  rawAttack,
  secret,
  serversToken,
  signToken,
} from '../attack.ts'

const claims = { sub: 'ann', exp: farFuture }
const past = 1_000_000_000
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signedByRsa = () => {
  const signed = `${base64({ alg: 'RS256' })}.${base64(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}
const [head = '', payload = '', signature = ''] = signToken(claims).split('.')
const unsigned = (alg: unknown) => `${base64({ alg })}.${payload}.`

const tokens: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['none', 'None', 'NONE', '', null, 'HS256', 'hs256', 1, ['HS256'], { $ne: 1 }].map((alg) => [
      `unsigned, alg ${JSON.stringify(alg)}`,
      unsigned(alg),
    ]),
  ),
  ...Object.fromEntries(
    ['HS384', 'HS512', 'none', 'RS256'].map((alg) => [
      `alg ${alg}, signed by the secret`,
      signToken(claims, { alg }),
    ]),
  ),
  'signed by RSA': signedByRsa(),
  'signed by no secret': signToken(claims, { alg: 'HS256' }, ''),
  'signed by a part of the secret': signToken(claims, { alg: 'HS256' }, secret.slice(0, 32)),
  'signed by its own key': signToken(
    claims,
    { alg: 'HS256', jwk: { kty: 'oct', k: base64('x') } },
    'x',
  ),
  'a key by path': signToken(claims, { alg: 'HS256', kid: '../../../../dev/null' }, ''),
  'a key by URL': signToken(claims, { alg: 'HS256', jku: 'http://127.0.0.1:9/keys' }, ''),
  'critical headers': signToken(claims, { alg: 'HS256', crit: ['exp'], exp: 1 }),
  'critical headers of a wrong type': signToken(claims, { alg: 'HS256', crit: 'exp' }),
  'an unencoded payload': signToken(claims, { alg: 'HS256', b64: false, crit: ['b64'] }),
  'no signature': `${head}.${payload}`,
  'an empty signature': `${head}.${payload}.`,
  'a cut signature': `${head}.${payload}.${signature.slice(0, -4)}`,
  'another payload': `${head}.${base64({ ...claims, sub: 'ben' })}.${signature}`,
  'five parts': `${head}.${payload}.${signature}.x.y`,
  'an encrypted token': `${base64({ alg: 'dir', enc: 'A256GCM' })}..x.y.z`,
  'only dots': '..',
  'thousands of dots': '.'.repeat(8_000),
  'no base64': '!!.!!.!!',
  'a header that is no JSON': `${base64('{')}.${payload}.${signature}`,
  'a header that is a list': `${base64([])}.${payload}.${signature}`,
  'a header that is null': `${base64('null')}.${payload}.${signature}`,
  'a deep header': `${base64('['.repeat(3_000))}.${payload}.${signature}`,
  ...Object.fromEntries(
    ['null', '[]', '5', '"ann"', '{', '['.repeat(3_000)].map((text) => [
      `the claims ${text.slice(0, 10)}`,
      signToken(text),
    ]),
  ),
  ...Object.fromEntries(
    [
      undefined,
      null,
      7,
      true,
      [],
      ['ann'],
      {},
      { $ne: 1 },
      '',
      'a'.repeat(5_000),
      '\u0000',
      '\ud800',
    ].map((sub) => [
      `the subject ${JSON.stringify(sub)?.slice(0, 40)}`,
      signToken({ ...claims, sub }),
    ]),
  ),
  ...Object.fromEntries(
    [undefined, null, 'soon', true, [], {}, past, -1, 0].map((exp) => [
      `exp ${JSON.stringify(exp)}`,
      signToken({ sub: 'ann', exp }),
    ]),
  ),
  ...Object.fromEntries(
    ['soon', true, [], {}, farFuture].map((nbf) => [
      `nbf ${JSON.stringify(nbf)}`,
      signToken({ ...claims, nbf }),
    ]),
  ),
  ...Object.fromEntries(
    ['soon', true, {}].map((iat) => [`iat ${JSON.stringify(iat)}`, signToken({ ...claims, iat })]),
  ),
}

const valid = signToken(claims)
const headers: Readonly<Record<string, readonly string[]>> = {
  'two tokens': [`Bearer ${valid}`, `Bearer ${valid}`],
  'a token after an empty header': ['', `Bearer ${valid}`],
  'two tokens in a header': [`Bearer ${valid}, Bearer ${valid}`],
  'a token without a scheme': [valid],
  'a scheme without a token': ['Bearer'],
  'another scheme': [`Basic ${Buffer.from('ann:x').toString('base64')}`],
  'a digest': ['Digest username="ann"'],
  'a prototype as a scheme': [`__proto__ ${valid}`],
  'two spaces': [`Bearer  ${valid}`],
  'a tab': [`Bearer\t${valid}`],
  quotes: [`Bearer "${valid}"`],
  'more parts': [`Bearer ${valid} x`],
  'bytes that are no ASCII': ['Bearer \u00e9\u00ff'],
  'a long token': [`Bearer ${'a'.repeat(12_000)}`],
}

const mutation = JSON.stringify({
  query: 'mutation { createUser(input: {name: "x"}) { user { id } } }',
})
/** Subjects that are no handles. Their accounts need one. */
const subjects = [' ', 'ANN', 'ann ', '$ne', '__proto__', '{"$ne":1}', 'auth0|5f7c8e', '../ann']

const signedIn = (
  name: string,
  values: readonly string[],
  answer = '401 UNAUTHENTICATED',
): Attack =>
  rawAttack(
    `a token: ${name}`,
    [answer],
    [
      bytesOf({
        headers: [
          ['Content-Type', 'application/json'],
          ...values.map((value) => ['Authorization', value] as const),
        ],
        body: mutation,
      }),
    ],
  )

const bens = userNodeId(existing.author)
const actors: Readonly<Record<string, string>> = {
  'a token without the scope': valid,
  'another scope': signToken({ ...claims, scope: 'act-for-all ACT-FOR', scp: ['act-for x'] }),
  'an actor in the token': signToken({ ...claims, act: { sub: 'ben' }, may_act: ['act-for'] }),
  'a role': signToken({ ...claims, roles: ['act-for', 'admin'] }),
}
const users: Readonly<Record<string, readonly string[]>> = {
  nothing: [''],
  'two users': [`account:${bens}`, 'subject:ann'],
  'one user twice': ['subject:ann', 'subject:ann'],
  'a list of users': ['subject:ann, subject:ben'],
  'no form': ['ben'],
  'another form': [`handle:ben`],
  'an id without a form': [bens],
  'an id with more behind': [`account:${bens}?x`],
  'the id of a post': [`account:${existingPost}`],
  'an id of no account': [`account:${base64(['User', '~ben'])}`],
  'an operator as an id': [`account:${base64(['User', { $ne: 1 }])}`],
  'an operator': ['account:{"$ne":1}'],
  'a prototype': ['account:__proto__'],
  'a long id': [`account:${'a'.repeat(6_000)}`],
  'a long subject': [`subject:${'a'.repeat(256)}`],
  'a subject of encoded bytes that are no text': ['subject:%ff%fe'],
  'a subject with half a pair': ['subject:%ED%A0%BD'],
  'a subject with a line break': ['subject:ben%0d%0ax-y:%20z'],
  'a subject with a zero': ['subject:ben%00'],
  'a subject with a cut escape': ['subject:ben%4'],
  'bytes that are no ASCII': ['subject:b\u00e9n'],
}

const actingAttack = (
  name: string,
  token: string,
  values: readonly string[],
  answer: string,
): Attack =>
  rawAttack(
    `a server that acts for ${name}`,
    [answer],
    [
      bytesOf({
        headers: [
          ['Content-Type', 'application/json'],
          ...(token === '' ? [] : [['Authorization', token] as const]),
          ...values.map((value) => ['Feedline-Act-For', value] as const),
        ],
        body: mutation,
      }),
    ],
  )

export const tokenAttacks: readonly Attack[] = [
  ...Object.entries(users).map(([name, values]) =>
    actingAttack(name, `Bearer ${serversToken}`, values, '400 BAD_REQUEST'),
  ),
  ...Object.entries(actors).map(([name, token]) =>
    actingAttack(`ben, by ${name}`, `Bearer ${token}`, [`account:${bens}`], '403 FORBIDDEN'),
  ),
  actingAttack('ben, without a token', '', [`account:${bens}`], '401 UNAUTHENTICATED'),
  {
    ...actingAttack('ben, by Dev', 'Dev ann', [`account:${bens}`], '403 FORBIDDEN'),
    only: 'development',
  },
  {
    ...actingAttack(
      'nobody',
      `Bearer ${serversToken}`,
      [`account:${userNodeId('nobody' as UserId)}`],
      '404 NOT_FOUND',
    ),
    commandsMax: 1,
  },
  ...Object.entries(tokens).map(([name, token]) => signedIn(name, [`Bearer ${token}`])),
  ...Object.entries(headers).map(([name, values]) => signedIn(name, values)),
  ...['Dev ann', 'dev ann', 'DEV ben'].map(
    (value): Attack => ({ ...signedIn(value, [value]), only: 'production' }),
  ),
  ...subjects.map((sub) =>
    signedIn(
      `the subject ${JSON.stringify(sub)}`,
      [`Bearer ${signToken({ ...claims, sub })}`],
      '200 BAD_USER_INPUT',
    ),
  ),
  ...['Dev ANN', 'Dev $ne', 'Dev __proto__'].map(
    (value): Attack => ({
      ...signedIn(value, [value], '200 BAD_USER_INPUT'),
      only: 'development',
    }),
  ),
  signedIn('Dev a b', ['Dev a b']),
]

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { type Answer, useApp } from '../support/app.ts'
import { expectUnauthenticated, now, viewerOf, who } from '../support/sign-in.ts'

const secret = 'a secret of at least thirty-two characters'

const shared = useApp({
  AUTH_JWT_SECRET: secret,
  AUTH_ISSUER: 'https://id.example',
  AUTH_AUDIENCE: 'feedline',
  NODE_ENV: 'production',
})
const production = useApp({ NODE_ENV: 'production', AUTH_JWT_SECRET: secret })
const dev = useApp()

interface Token {
  /** A string in a valid token. */
  readonly sub?: unknown
  readonly iss?: string
  readonly aud?: string
  readonly exp?: number
  readonly nbf?: number
}

const right = { sub: 'ann', iss: 'https://id.example', aud: 'feedline' }

function signed(claims: Token, by = secret): Promise<string> {
  const token = new SignJWT({ ...claims, exp: claims.exp ?? now() + 60 } as JWTPayload)
  return token.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(by))
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('the viewer is the subject of a token signed with the secret', async () => {
  const { data, errors } = await who(shared, `Bearer ${await signed(right)}`)
  expect(errors).toEqual([])
  expect(data.viewer).toEqual(viewerOf('ann', right.iss))
})

describe('a request is refused with 401 and a challenge:', () => {
  const tokens: Record<string, () => string | Promise<string>> = {
    'an expired token': () => signed({ ...right, exp: now() - 60 }),
    'a token that does not hold yet': () => signed({ ...right, nbf: now() + 60 }),
    'a token signed with another secret': () => signed(right, `not ${secret}`),
    'a token of another issuer': () => signed({ ...right, iss: 'https://evil.example' }),
    'a token for another audience': () => signed({ ...right, aud: 'other' }),
    'a token without a subject': () => signed({ iss: right.iss, aud: right.aud }),
    'a token whose subject is too long': () => signed({ ...right, sub: 'é'.repeat(128) }),
    'an unsigned token': () =>
      `${base64({ alg: 'none' })}.${base64({ ...right, exp: now() + 60 })}.`,
    'a token of an algorithm that is not allowed': async () => {
      const key = new TextEncoder().encode(secret)
      const token = new SignJWT({ ...right, exp: now() + 60 })
      return token.setProtectedHeader({ alg: 'HS512' }).sign(key)
    },
    'a token that never expires': () => {
      const token = new SignJWT(right).setProtectedHeader({ alg: 'HS256' })
      return token.sign(new TextEncoder().encode(secret))
    },
    'a text that is not a token': () => 'x.y.z',
  }
  test.each(Object.entries(tokens))('%s is refused with 401', async (_, make) => {
    expectUnauthenticated(await who(shared, `Bearer ${await make()}`))
  })

  test.each(['ann', 'Basic YW5uOngK', 'Bearer', 'Bearer a b', 'Dev ann'])(
    'a request with the header "%s" is refused with 401 and a challenge',
    async (authorization) => {
      expectUnauthenticated(await who(shared, authorization))
    },
  )

  test('production refuses Dev sign-in with 401 and a challenge', async () => {
    expectUnauthenticated(await who(production, 'Dev ann'))
    expect((await who(dev, 'Dev ann')).data.viewer).toEqual(viewerOf('ann'))
  })
})

describe('a subject that is not a string', () => {
  const subjects: readonly unknown[] = [7, 0, true, false, null, ['u5'], [], { toString: 'u5' }, {}]

  test.each(subjects.map((sub) => [sub]))(
    'the subject %j is refused with 401 and creates no account',
    async (sub) => {
      const authorization = `Bearer ${await signed({ ...right, sub })}`
      const refused = await who(shared, authorization)
      expectUnauthenticated(refused)
      expect(refused.errors[0]?.message).toMatch(/^Authorization: /)
      expectUnauthenticated(
        await shared.send({
          headers: { authorization },
          query: 'mutation { createUser(input: {name: "Seven"}) { user { handle } } }',
        }),
      )
      expect(await shared.database.db.collection('users').countDocuments()).toBe(0)
    },
  )
})

/** Sends a request with these Authorization headers, each on a line of its own. */
async function whoByHeaders(authorization: readonly string[]) {
  const sent = request(`${dev.url}/graphql`, {
    method: 'POST',
    headers: [
      ...['host', new URL(dev.url).host, 'content-type', 'application/json'],
      ...authorization.flatMap((value) => ['authorization', value]),
    ],
  }).end(JSON.stringify({ query: '{ viewer { id } }' }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: (await json(response)) as Partial<Answer> }
}

test.each([
  [['Dev ann', 'Dev bob']],
  [['Dev ann', 'Dev ann']],
  [['', 'Dev ann']],
  [['Dev ann', '']],
  [['Bearer x', 'Dev ann']],
])('a request with the Authorization headers %j is refused with 401', async (authorization) => {
  const { status, body } = await whoByHeaders(authorization)
  expect([status, body.data ?? null]).toEqual([401, null])
  expect(body.errors?.map(({ message, extensions: { code } }) => [code, message])).toEqual([
    ['UNAUTHENTICATED', 'Authorization: send the header only once'],
  ])
  expect((await whoByHeaders(['Dev ann'])).body.data.viewer).toEqual(viewerOf('ann'))
})

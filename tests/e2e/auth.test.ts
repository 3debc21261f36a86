import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { type TestApp, useApp } from '../support/app.ts'

const secret = 'a secret of at least thirty-two characters'
const now = () => Math.floor(Date.now() / 1000)

const published: JWK[] = []
const keyServer = await new Promise<Server>((resolve) => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published })),
  ).listen(0, '127.0.0.1', () => resolve(server))
})
const keyUrl = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/keys`
afterAll(() => keyServer.close())

const shared = useApp({
  AUTH_JWT_SECRET: secret,
  AUTH_ISSUER: 'https://id.example',
  AUTH_AUDIENCE: 'feedline',
  AUTH_DEV: 'false',
})
const keyed = useApp({ AUTH_JWKS_URL: keyUrl })
const keyless = useApp({ AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' })
const production = useApp({ NODE_ENV: 'production', AUTH_JWT_SECRET: secret })
const dev = useApp()

interface Token {
  readonly sub?: string
  readonly iss?: string
  readonly aud?: string
  readonly exp?: number
  readonly nbf?: number
}

const right = { sub: 'ann', iss: 'https://id.example', aud: 'feedline' }

function signed(claims: Token, by = secret): Promise<string> {
  const token = new SignJWT({ ...claims, exp: claims.exp ?? now() + 60 })
  return token.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(by))
}

const who = (app: TestApp, authorization: string) =>
  app.send({ query: '{ viewer { handle } }', headers: { authorization } })

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('the subject of a token signed with the secret is who acts', async () => {
  const { data, errors } = await who(shared, `Bearer ${await signed(right)}`)
  expect(errors).toEqual([])
  expect(data.viewer.handle).toBe('ann')
})

describe('is refused with 401 and told how to sign in:', () => {
  const tokens: Record<string, () => string | Promise<string>> = {
    'an expired token': () => signed({ ...right, exp: now() - 60 }),
    'a token that does not hold yet': () => signed({ ...right, nbf: now() + 60 }),
    'a token signed with another secret': () => signed(right, `not ${secret}`),
    'a token of another issuer': () => signed({ ...right, iss: 'https://evil.example' }),
    'a token for another audience': () => signed({ ...right, aud: 'other' }),
    'a token without a subject': () => signed({ iss: right.iss, aud: right.aud }),
    'a token whose subject is no handle': () => signed({ ...right, sub: '$ne' }),
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
    'what is no token': () => 'x.y.z',
  }
  test.each(Object.entries(tokens))('%s', async (_, make) => {
    const { status, headers, errors, data } = await who(shared, `Bearer ${await make()}`)
    expect([status, errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect(headers.get('www-authenticate')).toBe('Bearer')
    expect(data ?? null).toBeNull()
  })

  test.each(['ann', 'Basic YW5uOngK', 'Bearer', 'Bearer a b', 'Dev ann'])(
    'the header "%s"',
    async (authorization) => {
      expect((await who(shared, authorization)).status).toBe(401)
    },
  )

  test('Dev in production', async () => {
    expect((await who(production, 'Dev ann')).status).toBe(401)
    expect((await who(dev, 'Dev ann')).data.viewer.handle).toBe('ann')
  })
})

describe('keys at a URL', () => {
  const key = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    published.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' })
    return (sub: string) =>
      new SignJWT({ sub, exp: now() + 60 })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey)
  }

  test('verify tokens, and a secret does not', async () => {
    const sign = await key('first')
    expect((await who(keyed, `Bearer ${await sign('bob')}`)).data.viewer.handle).toBe('bob')
    const confused = new SignJWT({ sub: 'bob', exp: now() + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new TextEncoder().encode(JSON.stringify(published[0])))
    expect((await who(keyed, `Bearer ${await confused}`)).status).toBe(401)
  })

  test('that are out of reach: the answer says so and no more', async () => {
    const sign = await key('second')
    const { status, errors } = await who(keyless, `Bearer ${await sign('bob')}`)
    expect([status, errors[0]?.extensions.code]).toEqual([503, 'UNAVAILABLE'])
    expect(errors[0]?.message).not.toMatch(/127|fetch|ECONN/)
  })
})

describe('what is whose', () => {
  const run = (as: string | undefined, query: string) => dev.send({ as, query })
  const mine = `viewer { mutes { edges { node { handle } } } blocks { edges { node { handle } } } groups { edges { node { name } } } }`

  test('ann follows, groups, mutes and blocks', async () => {
    for (const name of ['ann', 'bob', 'cat', 'dan']) {
      await run(name, `mutation { createUser(input: { name: "${name}" }) { user { handle } } }`)
      await run(name, `mutation { createPost(input: { text: "by ${name}" }) { post { id } } }`)
    }
    const { errors } = await run(
      'ann',
      `mutation {
        a: followUser(input: { handle: "bob" }) { changed }
        b: setFollowGroups(input: { handle: "bob", groups: ["secret"] }) { groups }
        c: muteUser(input: { handle: "cat" }) { changed }
        d: blockUser(input: { handle: "dan" }) { changed }
      }`,
    )
    expect(errors).toEqual([])
    const { data } = await run('ann', `{ ${mine} }`)
    expect(data.viewer.mutes.edges[0].node.handle).toBe('cat')
    expect(data.viewer.blocks.edges[0].node.handle).toBe('dan')
    expect(data.viewer.groups.edges[0].node.name).toBe('secret')
  })

  test('anybody may read people, posts and follows, but no timeline', async () => {
    const { data, errors } = await run(
      undefined,
      '{ user(handle: "ann") { name stats { following } posts { edges { node { text } } } following { edges { node { handle viewerFollows viewerGroups viewerHasMuted } } } } viewer { handle } }',
    )
    expect(errors).toEqual([])
    expect(data.user.posts.edges[0].node.text).toBe('by ann')
    expect(data.user.following.edges[0].node).toEqual({
      handle: 'bob',
      viewerFollows: false,
      viewerGroups: [],
      viewerHasMuted: false,
    })
    expect(data.viewer).toBeNull()
    const { errors: refused } = await run(undefined, '{ timeline { edges { cursor } } }')
    expect(refused[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  test.each(['bob', 'cat', 'dan'])('nothing tells %s of mutes, blocks and groups', async (as) => {
    const answer = await run(
      as,
      `{ ${mine} user(handle: "ann") { viewerHasMuted viewerHasBlocked viewerGroups
        following { edges { node { handle viewerHasMuted viewerHasBlocked viewerGroups } } } } }`,
    )
    expect(answer.errors).toEqual([])
    const { viewer, user } = answer.data
    for (const list of ['mutes', 'blocks', 'groups']) expect(viewer[list].edges).toEqual([])
    const nothing = { viewerHasMuted: false, viewerHasBlocked: false, viewerGroups: [] }
    expect(user).toMatchObject(nothing)
    for (const { node } of user.following.edges) expect(node).toMatchObject(nothing)
    const { errors } = await run(
      as,
      '{ user(handle: "ann") { following(group: "secret") { edges { cursor } } } }',
    )
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN')
  })

  test('a block hides posts both ways, wherever they could be read', async () => {
    for (const [reader, author] of [
      ['ann', 'dan'],
      ['dan', 'ann'],
    ] as const) {
      const open = await run(
        'cat',
        `{ user(handle: "${author}") { posts { edges { node { id } } } } }`,
      )
      const { id } = open.data.user.posts.edges[0].node
      const { data } = await dev.send({
        as: reader,
        query: `query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id }
          user(handle: "${author}") { posts { edges { cursor } } } timeline { edges { node { author { handle } } } } }`,
        variables: { id },
      })
      expect([data.node, data.nodes, data.user.posts.edges]).toEqual([null, [null], []])
      const authors = data.timeline.edges.map(
        (edge: { node: { author: { handle: string } } }) => edge.node.author.handle,
      )
      expect(authors).not.toContain(author)
    }
  })
})

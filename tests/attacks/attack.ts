import { createHmac } from 'node:crypto'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Sending } from './wire.ts'

/** One bad input, and what the server must do with it. */
export interface Attack {
  readonly name: string
  readonly sending: Sending
  /** Status and code of each answer on the connection. A code is that of its first error, or OK. */
  readonly answers: readonly string[]
  /** The most database commands of all its requests. */
  readonly commandsMax: number
  /** Default: both. */
  readonly only?: Mode
}

export type Mode = 'development' | 'production'

/** The secret that signs tokens, in both processes. */
export const secret = 'the secret of the processes under attack'

/** An issuer that the processes know. */
interface KnownIssuer {
  readonly issuer: string
  readonly secret: string
}
/** Its tokens sign users in. `former` is a text that its `iss` had before. */
export const users: KnownIssuer & { readonly former: string } = {
  ...{ issuer: 'https://users.example', former: 'http://users.example' },
  secret: 'the secret of the issuer of users',
}
/** Its servers act for the users of {@link users}. */
export const jobs: KnownIssuer = {
  ...{ issuer: 'https://jobs.example', secret: 'the secret of the servers of the users' },
}
/** Publishes keys that no one can fetch. */
export const keysIssuer = 'https://keys.example'
export const issuersVariable = JSON.stringify([
  {
    ...{ issuer: users.issuer, formerIssuers: [users.former], secret: users.secret },
    ...{ audience: ['feed', 'app'], rolesClaim: 'roles' },
  },
  { ...jobs, actFor: users.issuer },
  { issuer: keysIssuer, jwksUrl: 'http://127.0.0.1:9/keys', algorithms: ['RS256'] },
])

/** A post that exists, of a user who exists, like the viewer `ann`. */
export const existing = { author: 'ben' as UserId, id: '65f0000000000000000000aa' as PostId }
export const existingPost = postNodeId(existing)
export const accounts = ['ann' as UserId, existing.author]

export const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const digests: Readonly<Record<string, string>> = {
  HS256: 'sha256',
  HS384: 'sha384',
  HS512: 'sha512',
}

/** A token of any header and claims, signed by HMAC. */
export function signToken(
  claims: unknown,
  header: Readonly<Record<string, unknown>> = { alg: 'HS256' },
  by = secret,
): string {
  const signed = `${base64(header)}.${base64(claims)}`
  const digest = digests[String(header.alg)] ?? 'sha256'
  return `${signed}.${createHmac(digest, by).update(signed).digest('base64url')}`
}

export const farFuture = 4_000_000_000
export const annsToken = signToken({ sub: 'ann', exp: farFuture })
/** The token of a server that may act for users. */
export const serversToken = signToken({ sub: 'server', exp: farFuture, scope: 'act-for' })

/**
 * A request to send. A header is a name and a value; a later one does not replace an earlier one.
 */
export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string | Buffer
}

/** The bytes of a request with the right length, whose connection the server closes. */
export function bytesOf({
  method = 'POST',
  path = '/graphql',
  headers = [],
  body = '',
}: RawRequest) {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: feedline.example',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)])
}

const jsonHeaders = [
  ['Content-Type', 'application/json'],
  ['Accept', 'application/graphql-response+json'],
] as const

/** A request with a JSON body, by `ann` unless `token` is null. */
export const bytesOfJson = (body: string, token: string | null = annsToken): Buffer =>
  bytesOf({
    headers: [
      ...jsonHeaders,
      ...(token === null ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ],
    body,
  })

/** What a row of GraphQL expects. Default: 400 of GRAPHQL_VALIDATION_FAILED, without a command. */
export interface Expected {
  readonly answer?: string
  readonly commandsMax?: number
  readonly only?: Mode
  /** Null: an anonymous request. */
  readonly token?: string | null
}

/** A row that sends one request with a JSON body. */
export const jsonAttack = (
  name: string,
  body: string,
  { answer = '400 GRAPHQL_VALIDATION_FAILED', commandsMax = 0, only, token }: Expected = {},
): Attack => ({
  name,
  sending: { pieces: [bytesOfJson(body, token)], finish: 'wait' },
  answers: [answer],
  commandsMax,
  ...(only ? { only } : {}),
})

/** A row that sends one document. */
export const documentAttack = (
  name: string,
  query: string,
  expected: Expected = {},
  variables: unknown = {},
): Attack => jsonAttack(name, JSON.stringify({ query, variables }), expected)

/** A row that sends one request without GraphQL's headers. */
export const httpAttack = (name: string, answer: string, request: RawRequest): Attack => ({
  name,
  sending: { pieces: [bytesOf(request)], finish: 'wait' },
  answers: [answer],
  commandsMax: 0,
})

/** A row that sends bytes as they are. */
export const rawAttack = (
  name: string,
  answers: readonly string[],
  pieces: string | readonly (string | Buffer)[],
  finish: Sending['finish'] = 'wait',
): Attack => ({
  name,
  sending: { pieces: typeof pieces === 'string' ? [pieces] : pieces, finish },
  answers,
  commandsMax: 0,
})

export const times = (count: number, part: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

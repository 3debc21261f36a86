import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { refuse } from './error-body.ts'
import { graphqlPath } from './graphql-route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, however it was sent. */
    bodyBytes: number
  }
}

/** Why a body is refused, for its client. */
export class RefusedBody extends Error {
  constructor(
    readonly statusCode: 400 | 415,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Reads bodies of JSON in UTF-8 only, the encoding of JSON, because other bytes would become
 * replacement characters. Refuses compressed bodies, other types and other charsets with status
 * 415, and other bytes and a list of operations with 400. An empty `query` or `operationName`
 * counts as absent, since some clients send both always.
 */
export function readJsonBodies(http: FastifyInstance): void {
  const parseJson = http.getDefaultJsonParser('error', 'error')
  http.decorateRequest('bodyBytes', 0)
  // A page of another site may send text/plain without asking.
  http.removeAllContentTypeParsers()
  http.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, bytes: Buffer, done) => {
      request.bodyBytes = bytes.length
      if (!charsetsOf(request.headers['content-type']).every(namesUtf8))
        return done(new RefusedBody(415, 'The charset must be UTF-8'))
      if (!isUtf8(bytes)) return done(new RefusedBody(400, 'The body is not UTF-8'))
      // The parser of JSON skips one mark of the byte order.
      return parseJson(request, bytes.toString(), (error, body: unknown) =>
        Array.isArray(body)
          ? done(new RefusedBody(400, noBatches))
          : done(error, withoutEmpty(body)),
      )
    },
  )
  http.addHook('onRequest', (request, reply, done) => {
    if (request.headers['content-encoding'] === undefined) return done()
    refuse(reply, 'BAD_REQUEST', 'The body must not be compressed', 415)
  })
}

const noBatches =
  'A request has one operation, so the body must not be a list. Switch batching off: use HttpLink in place of BatchHttpLink, or leave out the option batch of genql.'

const charsetsOf = (contentType = ''): readonly string[] =>
  !contentType.includes(';')
    ? []
    : Array.from(
        contentType.matchAll(/;\s*charset\s*=\s*("[^"]*"|[^;]*)/gi),
        ([, value = '']) => value,
      )

const namesUtf8 = (charset: string): boolean => /^(?:utf-?8|"utf-?8")$/i.test(charset.trim())

function withoutEmpty(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const fields = body as Record<string, unknown>
  for (const name of ['query', 'operationName']) if (fields[name] === '') fields[name] = null
  return body
}

/**
 * Removes empty parameters of a GraphQL request from a URL, also variables and extensions of null,
 * since some clients send each parameter always.
 */
export function withoutEmptyParameters(url: string): string {
  const start = `${graphqlPath}?`
  if (!url.startsWith(start)) return url
  const given = url.slice(start.length).split('&')
  return `${start}${given.filter((parameter) => !emptyParameters.has(parameter)).join('&')}`
}

const emptyParameters: ReadonlySet<string> = new Set([
  ...['query', 'operationName', 'variables', 'extensions'].flatMap((name) => [name, `${name}=`]),
  ...['variables=null', 'extensions=null'],
])

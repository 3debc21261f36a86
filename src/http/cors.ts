import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** The headers of answers that clients read. */
const exposedHeaders = [
  ...['etag', 'x-request-id', 'retry-after'],
  ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
]

/**
 * How long a browser may keep the answer to a preflight, in seconds. Chromium keeps none longer.
 */
const preflightSecondsMax = 7_200

/** Headers that pages may not send: servers alone act for users. */
const serverHeaders: readonly string[] = ['feedline-act-for']

const localOrigin = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

/**
 * Lets pages of these origins send requests and read their answers. Outside production also pages
 * of this computer, on any port. Call it before other hooks, so that pages can read every refusal.
 */
export async function allowOrigins(
  http: FastifyInstance,
  origins: readonly string[],
  { production }: { readonly production: boolean },
): Promise<void> {
  if (production && origins.length === 0) return
  const isAllowed = (origin = '') =>
    origins.includes(origin.toLowerCase()) || (!production && localOrigin.test(origin))
  // The plugin allows all headers that a page asks for.
  http.addHook('onSend', (_, reply, __, done) => {
    const allowed = reply.getHeader('access-control-allow-headers')
    if (allowed !== undefined) {
      reply.header('access-control-allow-headers', withoutServerHeaders(String(allowed)))
    }
    done()
  })
  await http.register(cors, {
    origin: (origin, done) => done(null, isAllowed(origin)),
    methods: ['GET', 'POST'],
    exposedHeaders,
    maxAge: preflightSecondsMax,
    // Its refusal would not have the shape of an error.
    strictPreflight: false,
  })
}

const withoutServerHeaders = (names: string): string =>
  names
    .split(',')
    .filter((name) => !serverHeaders.includes(name.trim().toLowerCase()))
    .join()

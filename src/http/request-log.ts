import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Log } from '../log.ts'
import { countRequest, requestsInFlight } from '../metrics/requests.ts'
import { type RequestScope, runInScope } from '../request-scope.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the request is read. */
    scope: RequestScope | null
  }
}

/** How requests are logged. */
export interface RequestLogging {
  readonly log: Log
  /**
   * Production logs every request; otherwise only slow requests are logged, unless the level is
   * debug.
   */
  readonly production: boolean
  /** From which duration on a request is slow, in milliseconds. */
  readonly slowMs: number
}

/**
 * Logs and counts each request once, when it is answered or its client has left. A line holds no
 * token, document, variable or text. Probes are left out.
 */
export function logRequests(http: FastifyInstance, logging: RequestLogging): void {
  http.decorateRequest('scope', null)
  http.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.probe) return done()
    const scope = newScope(request)
    request.scope = scope
    requestsInFlight.inc()
    reply.raw.on('close', () => {
      requestsInFlight.dec()
      finish(scope, logging, reply.raw.writableFinished ? reply.statusCode : undefined)
    })
    done()
  })
  // Not earlier: the parser of the body leaves the context of the request.
  http.addHook('preHandler', ({ scope }, _, done) => {
    if (scope) runInScope(scope, done)
    else done()
  })
}

const newScope = ({ id }: FastifyRequest): RequestScope => ({
  id,
  startedMs: performance.now(),
  operation: undefined,
  viewer: undefined,
  actor: undefined,
  code: undefined,
  commands: 0,
})

/** @param status of the answer; undefined if the client left before it. */
function finish(scope: RequestScope, logging: RequestLogging, status: number | undefined): void {
  const { id, startedMs, viewer, actor, commands, operation = 'none' } = scope
  const { log, production, slowMs } = logging
  const ms = performance.now() - startedMs
  const code = status === undefined ? 'CLOSED' : (scope.code ?? 'OK')
  countRequest({ operation, code, ms, commands })
  const line = {
    requestId: id,
    operation,
    viewer: viewer && pseudonymOf(viewer),
    actor: actor && pseudonymOf(actor),
    status,
    code,
    commands,
    ms: Math.round(ms),
  }
  if (ms >= slowMs) log.warn(line, 'slow request')
  else if (production) log.info(line, 'request')
  else log.debug(line, 'request')
}

/**
 * 12 hex digits of the SHA-256 of an account or a subject. An operator who knows it finds its
 * lines.
 */
function pseudonymOf(name: string): string {
  const kept = pseudonyms.get(name)
  if (kept !== undefined) return kept
  const pseudonym = hash('sha256', name).slice(0, 12)
  pseudonyms.set(name, pseudonym)
  return pseudonym
}

/** Of those who sent requests last. */
const pseudonyms = new LRUCache<string, string>({ max: 2_000 })

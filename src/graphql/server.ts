import { randomUUID } from 'node:crypto'
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server'
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled'
import fastifyApollo from '@as-integrations/fastify'
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify'
import { SharedBuckets } from '../db/rate-limits.ts'
import type { AppConfig } from '../environment.ts'
import { DomainError, type ErrorCode, errorCodes } from '../errors.ts'
import { keptMsMaxOf } from '../feed/feeds.ts'
import { compressAnswers } from '../http/compression.ts'
import { allowOrigins } from '../http/cors.ts'
import { errorBody, refusalOf } from '../http/error-body.ts'
import { OpenRequests } from '../http/open-requests.ts'
import { limitRequests } from '../http/overload.ts'
import { servePage } from '../http/page.ts'
import { addLiveness, addReadiness } from '../http/probes.ts'
import type { Readiness } from '../http/readiness.ts'
import { logRequests } from '../http/request-log.ts'
import { refuseWrongHosts } from '../http/request-target.ts'
import { limitRequestTime } from '../http/request-time.ts'
import { traceRequests } from '../http/request-trace.ts'
import { addSecurityHeaders, securityHeaders } from '../http/security-headers.ts'
import { limitSlowReaders } from '../http/slow-readers.ts'
import { receiveLimits, UnreadableRequests } from '../http/slow-senders.ts'
import type { UserId } from '../lib/ids.ts'
import type { Log } from '../log.ts'
import { operationLabelOf } from '../metrics/requests.ts'
import { currentScope } from '../request-scope.ts'
import type { Services } from '../services.ts'
import { answerAgain, keepPlugin } from './answer-again.ts'
import { createAuthenticate } from './auth.ts'
import { Context } from './context.ts'
import { createDocumentCache } from './document-cache.ts'
import { errorPlugin, formatError, requestError } from './errors.ts'
import { createExecutor } from './executor.ts'
import { KeptAnswers } from './kept-answers.ts'
import { costPlugin, limitRules, limits } from './limits.ts'
import { findTrusted, namedDocumentPlugin } from './named-documents.ts'
import { knownOperationTypes, subscriptionPlugin } from './operation-types.ts'
import { PersistedDocuments } from './persisted-documents.ts'
import { playgroundPage } from './playground.ts'
import { MemoryStore, RateLimiter, SharedStore } from './rate-limit.ts'
import { tracePlugin } from './trace.ts'
import type { TrustedDocuments } from './trusted-documents.ts'

/** The dependencies of the HTTP server. */
export interface ServerParts {
  readonly config: Pick<AppConfig, 'production' | 'auth' | 'http' | 'operations' | 'feed'>
  readonly services: Services
  readonly log: Log
  /** Notifies the worker of this process of a committed job. */
  readonly nudge: () => void
  readonly readiness: Readiness
  /** Undefined: clients send documents of their own. */
  readonly trusted?: TrustedDocuments | undefined
}

/** The HTTP server, and the requests that it has not answered yet. */
export interface FeedServer {
  readonly http: FastifyInstance
  readonly requests: OpenRequests
}

/** The HTTP server: `/graphql`, `/healthz`, `/readyz`, and outside production the playground at `/`. */
export async function createServer(parts: ServerParts): Promise<FeedServer> {
  const unreadable = new UnreadableRequests()
  const http = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: parts.config.operations.receiveMs,
    keepAliveTimeout: parts.config.operations.keepAliveMs,
    http: { ...receiveLimits(parts.config.operations.receiveMs), requireHostHeader: false },
    clientErrorHandler: unreadable.refuse,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // Requests on open connections are answered until the server has closed.
    return503OnClosing: false,
    trustProxy: [...parts.config.http.trustedProxies],
    frameworkErrors: (_, request, reply: unknown) => {
      const body = errorBody('BAD_REQUEST', 'The URL is malformed', request.id)
      ;(reply as FastifyReply)
        .code(400)
        .headers({ ...securityHeaders, 'x-request-id': request.id })
        .send(body)
    },
  })
  unreadable.watch(http.server)
  const { production, operations } = parts.config
  const requests = new OpenRequests(http, parts.readiness)
  logRequests(http, { log: parts.log, production, slowMs: operations.slowMs })
  limitSlowReaders(http, operations.receiveMs)
  traceRequests(http)
  addSecurityHeaders(http)
  await allowOrigins(http, parts.config.http.corsOrigins, parts.config)
  await compressAnswers(http)
  answerErrorsInJson(http, parts.log)
  http.addHook('onSend', (request, reply, _, done) => {
    reply.header('x-request-id', request.id)
    if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer')
    done()
  })
  refuseWrongHosts(http)
  // First, because the time in which a request waits for its turn counts.
  limitRequestTime(http, parts.config.http.requestMsMax, parts.log)
  limitRequests(http, parts.config.http.requestsMax)
  addLiveness(http, '/healthz')
  addReadiness(http, parts.readiness)
  if (!production) servePage(http, '/', playgroundPage)
  await mountGraphql(http, parts)
  return { http, requests }
}

async function mountGraphql(http: FastifyInstance, parts: ServerParts): Promise<void> {
  const { config, services, nudge, log } = parts
  const authenticate = createAuthenticate(config.auth)
  const limiter = createRateLimiter(parts)
  const persisted = new PersistedDocuments()
  const apollo = new ApolloServer<Context>({
    gateway: createExecutor(),
    introspection: !config.production,
    allowBatchedHttpRequests: false,
    // No cookie identifies a viewer, so another site can send anonymous queries only.
    csrfPrevention: false,
    persistedQueries: { cache: persisted },
    documentStore: createDocumentCache(),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: limits.tokens },
    maxRecursiveSelections: limits.selections,
    validationRules: [...limitRules, knownOperationTypes],
    formatError,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      errorPlugin(log),
      subscriptionPlugin,
      namedDocumentPlugin,
      costPlugin(limiter, persisted),
      keepPlugin,
      scopePlugin,
      tracePlugin,
    ],
  })
  await apollo.start()
  /** Verifies the token of a request once. */
  const viewerOf = (request: FastifyRequest): Promise<UserId | undefined> => {
    request.viewer ??= authenticate(request.raw.headersDistinct.authorization ?? []).catch(
      (error: unknown) => {
        throw error instanceof DomainError ? requestError(error) : error
      },
    )
    return request.viewer
  }
  http.decorateRequest('viewer', undefined)
  const answers = new KeptAnswers({
    bytesMax: config.feed.pageCacheMb * 512 * 1024,
    keptMsMax: keptMsMaxOf(config.feed),
  })
  const { versions, summaries } = services
  answerAgain(http, { answers, versions, summaries, limiter, persisted, viewerOf })
  await http.register(fastifyApollo(apollo), {
    method: ['GET', 'POST'],
    context: async (request) => {
      const viewer = await viewerOf(request)
      if (request.scope) request.scope.viewer = viewer
      const trustedText = findTrusted(request, parts.trusted)
      const { id, ip, keeping } = request
      return new Context(services, viewer, { id, ip, keeping, trustedText }, nudge)
    },
  })
  http.addHook('onClose', async () => apollo.stop())
}

function createRateLimiter({ config, services, log }: ServerParts): RateLimiter {
  const { isShared, viewersPerAddress, ...limits } = config.http.rateLimits
  if (!isShared) return new RateLimiter(limits, viewersPerAddress, new MemoryStore(limits))
  const shared = new SharedBuckets(services.collections.rate_limits, limits)
  return new RateLimiter(limits, viewersPerAddress, new SharedStore(shared, limits, log))
}

/** Gives a valid document's operation to the log and the metrics. */
const scopePlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operationName }) => {
      const scope = currentScope()
      if (scope) scope.operation = operationLabelOf(operationName ?? undefined)
    },
  }),
}

/** Makes Fastify answer its own errors in the shape of a GraphQL error. */
function answerErrorsInJson(http: FastifyInstance, log: Log): void {
  // A page of another site may send this type without asking.
  http.removeContentTypeParser('text/plain')
  http.addHook('onRequest', (request, reply, done) => {
    if (request.headers['content-encoding'] === undefined) return done()
    const refused = refusalOf(request, 'BAD_REQUEST', 'The body must not be compressed')
    reply.code(415).send(refused)
  })
  http.setNotFoundHandler((request, reply) => {
    if (/^\/graphql(\?|$)/.test(request.url)) {
      const problem = 'The method must be POST, or GET for a query'
      reply.code(405).header('allow', 'GET, POST')
      return reply.send(refusalOf(request, 'BAD_REQUEST', problem))
    }
    const problem = 'This path does not exist. GraphQL is at /graphql.'
    return reply.code(404).send(refusalOf(request, 'NOT_FOUND', problem))
  })
  http.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) log.error({ requestId: request.id, err: error }, 'request failed')
    const code: ErrorCode =
      status === 413 ? 'PAYLOAD_TOO_LARGE' : status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'
    const message = {
      PAYLOAD_TOO_LARGE: `The body exceeds the limit of ${limits.bodyBytes} bytes`,
      BAD_REQUEST:
        status === 415 ? 'The content type must be application/json' : 'The body is not JSON',
      INTERNAL_SERVER_ERROR: 'The server failed. The server log has the details.',
    }[code]
    reply.code(code === 'BAD_REQUEST' ? status : errorCodes[code].status)
    return reply.send(refusalOf(request, code, message))
  })
}

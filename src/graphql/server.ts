import { randomUUID } from 'node:crypto'
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server'
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { SharedBuckets } from '../db/rate-limits.ts'
import type { AppConfig } from '../environment.ts'
import { compressAnswers } from '../http/compression.ts'
import { allowOrigins } from '../http/cors.ts'
import { errorBody } from '../http/error-body.ts'
import { graphqlPath } from '../http/graphql-route.ts'
import { readJsonBodies, withoutEmptyParameters } from '../http/json-body.ts'
import { answerInMediaType, mediaTypeOf } from '../http/media-types.ts'
import { OpenRequests } from '../http/open-requests.ts'
import { limitRequests } from '../http/overload.ts'
import { servePage } from '../http/page.ts'
import { limitPipelining } from '../http/pipelining.ts'
import { addLiveness, addReadiness } from '../http/probes.ts'
import type { Readiness } from '../http/readiness.ts'
import { answerErrorsInJson } from '../http/refusals.ts'
import { logRequests } from '../http/request-log.ts'
import { refuseWrongTargets } from '../http/request-target.ts'
import { limitRequestTime, prepareRequests } from '../http/request-time.ts'
import { traceRequests } from '../http/request-trace.ts'
import { addSecurityHeaders, securityHeaders } from '../http/security-headers.ts'
import { limitSlowReaders } from '../http/slow-readers.ts'
import { receiveLimits, UnreadableRequests } from '../http/slow-senders.ts'
import type { Log } from '../log.ts'
import { knowOperations, operationLabelOf } from '../metrics/requests.ts'
import { currentScope } from '../request-scope.ts'
import type { Services } from '../services.ts'
import { createApolloHandler } from './apollo-handler.ts'
import { createAuthenticateAtOnce } from './auth.ts'
import { Context } from './context.ts'
import { costPlugin } from './cost-plugin.ts'
import { errorPlugin, formatError } from './errors.ts'
import { answerPlanned } from './fast-path/answer-planned.ts'
import { KeySets } from './key-sets.ts'
import { limits } from './limits.ts'
import { answerNotModified } from './not-modified.ts'
import { PersistedDocuments } from './persisted-documents.ts'
import { MemoryStore, RateLimiter, SharedStore } from './rate-limit.ts'
import { documentPlugin, readDocuments } from './read-documents.ts'
import { RefusalLog } from './refusal-log.ts'
import { createSchema } from './schema.ts'
import { SignIns } from './sign-ins.ts'
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

/**
 * How long an idle connection stays open. Longer than balancers keep their own: 60 s of nginx and
 * AWS, 600 s of Google. Otherwise their clients get 502 when both close at once.
 */
const keepAliveMs = 620_000

/** The HTTP server, and the requests that it has not answered yet. */
export interface FeedServer {
  readonly http: FastifyInstance
  readonly requests: OpenRequests
}

/**
 * The HTTP server: `/graphql`, `/healthz`, `/readyz`, and outside production the playground at `/`.
 */
export async function createServer(parts: ServerParts): Promise<FeedServer> {
  const unreadable = new UnreadableRequests()
  const { trustedProxies } = parts.config.http
  const http = fastify({
    bodyLimit: limits.bodyBytes,
    // Each URL is parsed when it is needed, as Apollo does.
    routerOptions: { querystringParser: () => ({}) },
    requestTimeout: parts.config.operations.receiveMs,
    keepAliveTimeout: keepAliveMs,
    http: { ...receiveLimits(parts.config.operations.receiveMs), requireHostHeader: false },
    clientErrorHandler: unreadable.refuse,
    genReqId: () => randomUUID(),
    rewriteUrl: ({ url = '/' }) => withoutEmptyParameters(url),
    forceCloseConnections: 'idle',
    // Requests on open connections are answered until the server has closed.
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    frameworkErrors: (_, request, reply: unknown) => {
      const body = errorBody('BAD_REQUEST', 'The URL is malformed', request.id)
      ;(reply as FastifyReply)
        .code(400)
        .headers({ ...securityHeaders, 'x-request-id': request.id })
        .type(mediaTypeOf(request.headers.accept) ?? 'application/json')
        .send(body)
    },
  })
  unreadable.watch(http.server)
  const { production, operations } = parts.config
  // First, because a request that waits behind another one leaves nothing behind when its
  // connection ends.
  limitPipelining(http)
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
  refuseWrongTargets(http)
  answerInMediaType(http)
  readJsonBodies(http)
  // First, because the time in which a request waits for its turn counts.
  limitRequestTime(http, parts.config.http.requestMsMax, parts.log)
  limitRequests(http, parts.config.http.requestsMax)
  addLiveness(http, '/healthz')
  addReadiness(http, parts.readiness)
  // Its files take 44 MB of memory.
  if (!production)
    servePage(http, '/', async () => (await import('./playground.ts')).playgroundPage())
  await mountGraphql(http, parts)
  return { http, requests }
}

async function mountGraphql(http: FastifyInstance, parts: ServerParts): Promise<void> {
  const { config, services, nudge, log } = parts
  const limiter = createRateLimiter(parts)
  const persisted = new PersistedDocuments()
  const schema = createSchema()
  const apollo = new ApolloServer<Context>({
    schema,
    allowBatchedHttpRequests: false,
    // No cookie identifies a viewer, so another site can send anonymous queries only.
    csrfPrevention: false,
    persistedQueries: { cache: persisted },
    // Documents are checked before.
    documentStore: null,
    introspection: !config.production,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    formatError,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      errorPlugin(log),
      documentPlugin,
      costPlugin(limiter, persisted),
      scopePlugin,
      tracePlugin,
    ],
  })
  await apollo.start()
  const keySets = new KeySets(config.auth, log)
  keySets.start()
  http.addHook('onClose', async () => keySets.stop())
  const authenticate = createAuthenticateAtOnce(config.auth, keySets)
  const signIns = new SignIns(authenticate, services, limiter, new RefusalLog(log))
  const senderOf = (request: FastifyRequest) => signIns.find(request)
  http.decorateRequest('signedIn', undefined)
  http.decorateRequest('sender', undefined)
  prepareRequests(http, config.http.requestMsMax, (request) => signIns.prepare(request))
  answerNotModified(http)
  const { trusted } = parts
  knowOperations(trusted?.operationNames() ?? [])
  const introspection = !config.production
  readDocuments(http, { schema, introspection, persisted, trusted, limiter, senderOf })
  const contexts = new WeakMap<FastifyRequest, Context>()
  const contextOf = async (request: FastifyRequest) => {
    const ctx =
      contexts.get(request) ?? new Context(services, await signIns.find(request), request, nudge)
    contexts.set(request, ctx)
    return ctx
  }
  answerPlanned(http, { schema, services, limiter, persisted, contextOf })
  http.route({
    method: ['GET', 'POST'],
    url: graphqlPath,
    handler: createApolloHandler(apollo, contextOf),
  })
  http.addHook('onClose', async () => apollo.stop())
}

function createRateLimiter({ config, services, log }: ServerParts): RateLimiter {
  const { isShared, cost, mutations, ...multiples } = config.http.rateLimits
  return new RateLimiter({ cost, mutations }, multiples, (limits) => {
    if (!isShared) return new MemoryStore(limits)
    const shared = new SharedBuckets(services.collections.rate_limits, limits)
    return new SharedStore(shared, limits, log)
  })
}

/** Gives a valid document's operation to the log and the metrics. */
const scopePlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operationName, contextValue: { viewer } }) => {
      const scope = currentScope()
      if (scope)
        scope.operation = operationLabelOf(operationName ?? undefined, viewer !== undefined)
    },
  }),
}

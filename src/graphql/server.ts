import { randomUUID } from 'node:crypto'
import { ApolloServer } from '@apollo/server'
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled'
import fastifyApollo from '@as-integrations/fastify'
import cors from '@fastify/cors'
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify'
import type { Config } from '../config.ts'
import { DomainError, type ErrorCode, errorCodes } from '../errors.ts'
import type { Metrics } from '../integrity/metrics.ts'
import type { UserId } from '../lib/ids.ts'
import type { Log } from '../log.ts'
import type { Services } from '../services.ts'
import { createAuthenticate } from './auth.ts'
import { Context } from './context.ts'
import { errorPlugin, formatError, requestError, requestIds } from './errors.ts'
import { costPlugin, limitRules, limits } from './limits.ts'
import { playgroundPage } from './playground.ts'
import { createSchema } from './schema.ts'

/** The most time in which a request must arrive, in milliseconds. */
const requestMsMax = 30_000

/** The dependencies of the HTTP server. */
export interface ServerParts {
  readonly config: Pick<Config, 'production' | 'auth' | 'http'>
  readonly services: Services
  readonly log: Log
  /** Notifies the worker of this process of a committed job. */
  readonly nudge: () => void
  /** Whether the database answers. */
  readonly ready: () => Promise<boolean>
  readonly metrics: Metrics
}

/** The HTTP server: `/graphql`, `/healthz`, `/readyz`, `/metrics`, and outside production the playground at `/`. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const http = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestMsMax,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    frameworkErrors: (_, request, reply: unknown) => {
      const body = bodyOf('BAD_REQUEST', 'The URL is malformed', request.id)
      ;(reply as FastifyReply).code(400).header('x-request-id', request.id).send(body)
    },
  })
  answerErrorsInJson(http, parts.log)
  const { corsOrigins } = parts.config.http
  if (corsOrigins.length > 0) await http.register(cors, { origin: [...corsOrigins] })
  http.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  })
  http.get('/healthz', async () => ({ status: 'up' }))
  http.get('/readyz', async (_, reply) => {
    if (await parts.ready()) return { status: 'ready' }
    return reply.code(503).send({ status: 'the database does not answer' })
  })
  http.get('/metrics', async (_, reply) =>
    reply.type(parts.metrics.contentType).send(await parts.metrics.text()),
  )
  if (!parts.config.production) {
    const page = playgroundPage()
    http.get('/', async (_, reply) => reply.type('text/html; charset=utf-8').send(page))
  }
  await mountGraphql(http, parts)
  return http
}

async function mountGraphql(http: FastifyInstance, parts: ServerParts): Promise<void> {
  const { config, services, nudge, log } = parts
  const authenticate = createAuthenticate(config.auth)
  const apollo = new ApolloServer<Context>({
    schema: createSchema(),
    introspection: !config.production,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    hideSchemaDetailsFromClientErrors: true,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: limits.tokens },
    maxRecursiveSelections: limits.selections,
    validationRules: limitRules,
    formatError,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      errorPlugin(log),
      costPlugin,
    ],
  })
  await apollo.start()
  const viewerOf = async ({ headers }: FastifyRequest): Promise<UserId | undefined> => {
    try {
      return await authenticate(headers.authorization)
    } catch (error) {
      throw error instanceof DomainError ? requestError(error) : error
    }
  }
  http.addHook('preHandler', ({ id }, _, done) => requestIds.run(id, done))
  await http.register(fastifyApollo(apollo), {
    method: ['GET', 'POST'],
    context: async (request) => new Context(services, await viewerOf(request), request.id, nudge),
  })
  http.addHook('onClose', async () => apollo.stop())
}

/** The body of an error response, in the shape of a GraphQL error. */
const bodyOf = (code: ErrorCode, message: string, requestId: string) => ({
  errors: [{ message, extensions: { code, requestId } }],
})

/** Makes Fastify answer its own errors in the shape of a GraphQL error. */
function answerErrorsInJson(http: FastifyInstance, log: Log): void {
  http.addHook('onRequest', async ({ headers, id }, reply) => {
    if (headers['content-encoding'] === undefined) return
    const refused = bodyOf('BAD_REQUEST', 'The body must not be compressed', id)
    await reply.code(415).send(refused)
  })
  http.setNotFoundHandler(({ id, url }, reply) =>
    /^\/graphql(\?|$)/.test(url)
      ? reply
          .code(405)
          .header('allow', 'GET, POST')
          .send(bodyOf('BAD_REQUEST', 'The method must be POST, or GET for a query', id))
      : reply
          .code(404)
          .send(bodyOf('NOT_FOUND', 'This path does not exist. GraphQL is at /graphql.', id)),
  )
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
    return reply.send(bodyOf(code, message, request.id))
  })
}

import { createHash } from 'node:crypto'
import type { ApolloServerPlugin } from '@apollo/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Versions } from '../db/versions.ts'
import type { UserId } from '../lib/ids.ts'
import type { Context } from './context.ts'
import { etagOf, Keeping, type KeptAnswer, type KeptAnswers, namesEtag } from './kept-answers.ts'
import { clientOf, crowdOf, type RateLimiter } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for anonymous requests. */
    keeping: Keeping | undefined
    /** The answer from memory. Undefined if the request is executed. */
    kept: KeptAnswer | undefined
  }
}

/** What {@link answerAgain} works with. */
export interface AnswerAgainParts {
  readonly answers: KeptAnswers
  readonly versions: Versions
  readonly limiter: RateLimiter
  readonly viewerOf: (request: FastifyRequest) => Promise<UserId | undefined>
}

/**
 * Answers signed-in requests from memory while nothing that decides the answer has changed, and GET requests whose
 * client has the answer with 304. Kept answers are charged like executed ones. One command, shared, for an answer from
 * memory. Call it before the route is added.
 */
export function answerAgain(http: FastifyInstance, parts: AnswerAgainParts): void {
  const { answers, versions, viewerOf } = parts
  http.decorateRequest('keeping', undefined)
  http.decorateRequest('kept', undefined)
  http.addHook('preHandler', async (request, reply) => {
    if (!isGraphql(request)) return
    // Apollo refuses what cannot be verified.
    const viewer = await viewerOf(request).catch(() => undefined)
    if (viewer === undefined) return
    const keeping = new Keeping(versions, keyOf(request, viewer))
    request.keeping = keeping
    // Without versions the request is executed, which names the fault.
    const kept = await answers.findCurrent(keeping.key, keeping.stamping).catch(() => undefined)
    if (!kept || !(await charge(request, reply, viewer, kept, parts.limiter))) return
    if (request.scope) Object.assign(request.scope, { viewer, operation: kept.operation })
    request.kept = kept
    return reply.type(kept.contentType).send(kept.body)
  })
  http.addHook('onSend', async (request, reply, payload) => {
    const { keeping, kept, method } = request
    if (!keeping || reply.statusCode !== 200 || typeof payload !== 'string') return payload
    const etag = kept?.etag ?? etagOf(payload)
    if (!kept) {
      const about = {
        contentType: String(reply.getHeader('content-type')),
        etag,
        operation: request.scope?.operation,
      }
      const answer = keeping.answerOf(payload, about)
      if (answer) answers.keep(keeping.key, answer)
    }
    if (method !== 'GET') return payload
    const vary = reply.getHeader('vary')
    reply.headers({
      etag,
      'cache-control': 'private, no-cache',
      vary: [...(vary ? [String(vary)] : []), 'Authorization', 'Accept'].join(', '),
    })
    if (!namesEtag(request.headers['if-none-match'], etag)) return payload
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return null
  })
}

const isGraphql = ({ method, url }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'POST') && /^\/graphql(\?|$)/.test(url)

/** Everything of a request that decides its answer. Apollo refuses some requests by their headers. */
function keyOf({ method, url, body, headers }: FastifyRequest, viewer: UserId): string {
  const given = [
    ...[viewer, method, url, headers.accept, headers['content-type']],
    ...[headers['x-apollo-operation-name'], headers['apollo-require-preflight']],
  ]
  return createHash('sha256')
    .update(JSON.stringify([...given, body ?? null]))
    .digest('base64')
}

/** Charges an answer as its execution was. @returns false if the rate limit refuses it. */
async function charge(
  { ip }: FastifyRequest,
  reply: FastifyReply,
  viewer: UserId,
  { cost }: KeptAnswer,
  limiter: RateLimiter,
): Promise<boolean> {
  const client = { client: clientOf(viewer, ip), crowd: crowdOf(viewer, ip) }
  const charged = await limiter.charge(client, { cost, mutations: 0 })
  if (charged?.refusal) return false
  reply.headers(charged?.headers ?? {})
  return true
}

/** Keeps no answer that has errors, nor one of several fields: each has a stamp of its own. */
export const keepPlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { body }, operation, contextValue: { keeping } }) => {
      if (!keeping) return
      const [only, ...more] = operation?.selectionSet.selections ?? []
      const isOneField = only?.kind === 'Field' && more.length === 0
      const hasErrors = body.kind !== 'single' || body.singleResult.errors !== undefined
      if (!isOneField || operation?.operation !== 'query' || hasErrors) keeping.refuse()
    },
  }),
}

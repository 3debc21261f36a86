import type { FastifyInstance } from 'fastify'
import { etagOf, namesEtag } from '../http/entity-tags.ts'
import { actForHeader } from './act-for.ts'

/** The headers that decide an answer. */
const decidingHeaders = ['Authorization', actForHeader, 'Accept', 'accept-encoding']

/**
 * Gives answers to GET requests of viewers an entity tag, and answers 304 to clients that have the
 * answer. Sends no command. Call it before the route is added.
 */
export function answerNotModified(http: FastifyInstance): void {
  http.addHook('onSend', async (request, reply, payload) => {
    const { state, method } = request
    if (!state || method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string')
      return payload
    const vary = reply.getHeader('vary')
    reply.headers({
      'cache-control': 'private, no-cache',
      vary: [...(vary ? [String(vary)] : []), ...decidingHeaders].join(', '),
    })
    // Before an equal answer, the client may have read a page that this news is about again.
    if (state.isNews) return payload
    const etag = etagOf(payload)
    reply.header('etag', etag)
    if (!namesEtag(request.headers['if-none-match'], etag)) return payload
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return null
  })
}

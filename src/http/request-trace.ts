import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ActiveSpan, endSpan, isTracing, runInSpan, startSpan } from '../tracing/spans.ts'

/**
 * Traces each request to its end, except probes. The header `traceparent` of a client continues the
 * trace of the client. Does nothing while tracing is off.
 */
export function traceRequests(http: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, ActiveSpan>()
  http.addHook('onRequest', (request, reply, done) => {
    const { probe, url: route = 'other' } = request.routeOptions.config
    if (probe || !isTracing()) return done()
    const span = startSpan(`${request.method} ${route}`, {
      kind: 'SERVER',
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'feedline.request.id': request.id,
      },
      parent: request.headers.traceparent?.toString(),
    })
    if (!span) return done()
    spans.set(request, { span })
    reply.raw.on('close', () => {
      const isAnswered = reply.raw.writableFinished
      if (isAnswered) span.setAttribute('http.response.status_code', reply.statusCode)
      span.setAttribute('feedline.request.commands', request.scope?.commands ?? 0)
      if (!isAnswered) endSpan(span, 'CLOSED')
      else if (reply.statusCode >= 500) endSpan(span, request.scope?.code ?? `${reply.statusCode}`)
      else endSpan(span)
    })
    done()
  })
  http.addHook('preHandler', (request, _, done) => {
    if (isTracing()) runInSpan(spans.get(request), done)
    else done()
  })
}

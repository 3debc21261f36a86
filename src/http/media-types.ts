import type { FastifyInstance } from 'fastify'
import { refuse } from './error-body.ts'
import { isGraphql } from './graphql-route.ts'

const [modern, legacy] = ['application/graphql-response+json', 'application/json'] as const

/** A media type of GraphQL over HTTP. */
export type MediaType = typeof modern | typeof legacy

/**
 * The media type of an answer: `application/graphql-response+json` if an Accept header names it and
 * prefers no other, otherwise `application/json`. Other parameters than a quality count for
 * nothing.
 * @returns undefined if the header accepts neither.
 * @see https://graphql.github.io/graphql-over-http/draft/
 */
export function mediaTypeOf(accept = ''): MediaType | undefined {
  if (accept === legacy || accept === modern) return accept
  if (accept.trim() === '' || accept === '*/*') return legacy
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2))
    return { type, quality: quality >= 0 && quality <= 1 ? quality : 1 }
  })
  const qualityOf = (type: MediaType) =>
    [type, 'application/*', '*/*', '*']
      .map((one) => ranges.find((range) => range.type === one)?.quality)
      .find((quality) => quality !== undefined) ?? 0
  const [ofModern, ofLegacy] = [qualityOf(modern), qualityOf(legacy)]
  if (ofModern === 0 && ofLegacy === 0) return undefined
  const isNamed = ranges.some(({ type }) => type === modern)
  return ofModern > ofLegacy || (ofModern === ofLegacy && isNamed) ? modern : legacy
}

/**
 * Gives each JSON answer its media type, refusals too. Refuses GraphQL requests that accept none
 * with status 406, before they have an effect. Apollo, which checks the header after the effect,
 * sees the media type of the answer in it.
 */
export function answerInMediaType(http: FastifyInstance): void {
  http.addHook('onRequest', (request, reply, done) => {
    if (!isGraphql(request)) return done()
    const type = mediaTypeOf(request.headers.accept)
    if (type) {
      request.headers.accept = type
      return done()
    }
    refuse(reply, 'BAD_REQUEST', `The header Accept must name ${modern} or ${legacy}`, 406)
  })
  http.addHook('onSend', ({ headers, routeOptions }, reply, _, done) => {
    const present = String(reply.getHeader('content-type'))
    if (/^application\/(graphql-response\+)?json\b/.test(present) && !routeOptions.config.probe) {
      const type = `${mediaTypeOf(headers.accept) ?? legacy}; charset=utf-8`
      if (type !== present) reply.type(type)
    }
    done()
  })
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseUrl } from '../lib/url.ts'
import { refusalOf } from './error-body.ts'

/**
 * Refuses each request without exactly one valid host with BAD_REQUEST and status 400, except probes. Handlers may
 * build a URL from the host. Set `requireHostHeader: false`, so that this answer replaces the empty one of Node.
 *
 * An `Expect` header other than 100-continue is ignored, because Node's answer to it is empty and in no log.
 */
export function refuseWrongHosts(http: FastifyInstance): void {
  http.server.on('checkExpectation', (request, response) => {
    http.server.emit('request', request, response)
  })
  http.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.probe || hasHost(request)) return done()
    const problem = 'The request must have exactly one Host header, and a valid URL'
    reply.code(400).send(refusalOf(request, 'BAD_REQUEST', problem))
  })
}

/** A trusted proxy may send the host and the protocol of its client in headers of its own. */
function hasHost({ raw, url, protocol, hostname }: FastifyRequest): boolean {
  const [host = '', ...more] = raw.headersDistinct.host ?? []
  return (
    more.length === 0 &&
    !/[\s/@?#\\]/.test(host) &&
    parseUrl(`http://${host}/`) !== undefined &&
    parseUrl(url, `${protocol}://${hostname}/`) !== undefined
  )
}

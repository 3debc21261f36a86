import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { parseUrl } from '../lib/url.ts'
import { refuse } from './error-body.ts'

/**
 * Refuses each request without exactly one valid host, and each URL that is not percent-encoded
 * UTF-8, with BAD_REQUEST and status 400, except probes. Handlers may build a URL from the host,
 * and other bytes would become replacement characters. Set `requireHostHeader: false`, so that this
 * answer replaces the empty one of Node.
 *
 * An `Expect` header other than 100-continue is ignored, because Node's answer to it is empty and
 * in no log.
 */
export function refuseWrongTargets(http: FastifyInstance): void {
  http.server.on('checkExpectation', (request, response) => {
    http.server.emit('request', request, response)
  })
  http.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.probe) return done()
    if (!hasHost(request)) {
      refuse(
        reply,
        'BAD_REQUEST',
        'The request must have exactly one Host header, and a valid URL',
        400,
      )
    } else if (!isUtf8(request.url)) {
      refuse(reply, 'BAD_REQUEST', 'The URL must be percent-encoded UTF-8', 400)
    } else done()
  })
}

/** The hosts and the origins that are known to be valid. Most requests name one of a few. */
const valid = {
  hosts: new LRUCache<string, true>({ max: 100 }),
  origins: new LRUCache<string, true>({ max: 100 }),
}

/** A trusted proxy may send the host and the protocol of its client in headers of its own. */
function hasHost({ raw, url, protocol, hostname }: FastifyRequest): boolean {
  const hosts = raw.headersDistinct.host
  const host = hosts?.[0] ?? ''
  if (hosts?.length !== 1) return false
  const origin = `${protocol}://${hostname}/`
  return (
    isValid(
      valid.hosts,
      host,
      () => !/[\s/@?#\\]/.test(host) && parseUrl(`http://${host}/`) !== undefined,
    ) &&
    isValid(valid.origins, origin, () => parseUrl(origin) !== undefined) &&
    // A path below a valid origin is valid.
    (/^\/[\w%.~-]*(?:\?|$)/.test(url) || parseUrl(url, origin) !== undefined)
  )
}

function isValid(among: LRUCache<string, true>, text: string, check: () => boolean): boolean {
  if (among.get(text)) return true
  const isOne = check()
  if (isOne) among.set(text, true)
  return isOne
}

function isUtf8(url: string): boolean {
  if (!/^[\x21-\x7e]*$/.test(url)) return false
  // ASCII alone, as in most URLs, is UTF-8.
  if (!/%[89a-f]/i.test(url)) return true
  try {
    for (const [bytes] of url.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}

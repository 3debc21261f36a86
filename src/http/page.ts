import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'
import { etagOf, namesEtag } from './entity-tags.ts'
import { policyOf } from './security-headers.ts'

/**
 * Cheap levels: 9 MB take about 0.1 s. Higher ones save an eighth of the bytes, for four times the
 * time.
 */
const compressors = {
  br: (page: string) =>
    promisify(brotliCompress)(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  gzip: (page: string) => promisify(gzip)(page, { level: 1 }),
  identity: async (page: string) => Buffer.from(page),
}
type Encoding = keyof typeof compressors

/** A page that never changes, and its forms. */
class Page {
  readonly headers: Readonly<Record<string, string>>
  private readonly bodies = new Map<Encoding, Promise<Buffer>>()

  constructor(private readonly text: string) {
    this.headers = {
      'content-security-policy': policyOf(text),
      // A browser asks each time, because another release has another page.
      'cache-control': 'no-cache',
      etag: etagOf(text),
      // Pages of other origins may read it outside production.
      vary: 'accept-encoding, origin',
    }
  }

  bodyOf(encoding: Encoding): Promise<Buffer> {
    const body = this.bodies.get(encoding) ?? compressors[encoding](this.text)
    this.bodies.set(encoding, body)
    return body
  }
}

/**
 * Serves a large page, which is rendered at its first request and compressed once for each
 * encoding. A browser may keep it, and gets 304 while it is the same.
 */
export function servePage(
  http: FastifyInstance,
  path: string,
  render: () => Promise<string>,
): void {
  let page: Page | undefined
  http.route({
    method: 'GET',
    url: path,
    handler: async (request, reply) => {
      page ??= new Page(await render())
      if (namesEtag(request.headers['if-none-match'], page.headers.etag ?? ''))
        return reply.code(304).send()
      const accepted = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
      const encoding = (accepted ?? 'identity') as Encoding
      const body = await page.bodyOf(encoding)
      // Not earlier: the deadline of the request may have answered it with an error.
      if (reply.sent) return reply
      if (encoding !== 'identity') reply.header('content-encoding', encoding)
      return reply.type('text/html; charset=utf-8').send(body)
    },
    // After the headers of every answer.
    onSend: async (_, reply, payload) => {
      if (page && reply.statusCode < 400) reply.headers(page.headers)
      return payload
    },
  })
}

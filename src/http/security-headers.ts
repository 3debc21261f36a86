import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/**
 * The headers of every answer. They keep browsers from guessing its type, storing it, embedding it
 * and naming it to other sites. Answers hold what one viewer may see, so no cache may keep them,
 * except the client's own for the answer to a GET.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

/** Adds {@link securityHeaders} to every answer. A route may replace them. */
export function addSecurityHeaders(http: FastifyInstance): void {
  http.addHook('onSend', (_, reply, _payload, done) => {
    reply.headers(securityHeaders)
    done()
  })
}

/**
 * The content security policy of a page with inline scripts and styles: only its own scripts run,
 * by their hashes.
 */
export function policyOf(page: string): string {
  const hashes = Array.from(
    page.matchAll(/<script>(.*?)<\/script>/gs),
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

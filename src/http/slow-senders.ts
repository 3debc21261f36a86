import { randomUUID } from 'node:crypto'
import { type ServerOptions, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from './error-body.ts'
import { securityHeaders } from './security-headers.ts'

/** How often the server looks for requests that take too long, in milliseconds. */
const checkMs = 1_000

/** Options of Node's server: a request, head and body, must arrive within `receiveMs` and a second. */
export const receiveLimits = (receiveMs: number): ServerOptions => ({
  requestTimeout: receiveMs,
  headersTimeout: receiveMs,
  connectionsCheckingInterval: checkMs,
})

const problems: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large' },
}
const malformed = { status: 400, message: 'The request is not valid HTTP' }

/** Answers a request that cannot be read, in the shape of a GraphQL error, and closes its connection. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = problems[error.code ?? ''] ?? malformed
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody('BAD_REQUEST', message, requestId))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

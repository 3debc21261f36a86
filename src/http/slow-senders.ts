import { randomUUID } from 'node:crypto'
import { type Server, type ServerOptions, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from './error-body.ts'
import { securityHeaders } from './security-headers.ts'

/** How often the server looks for requests that take too long, in milliseconds. */
const checkMs = 1_000

/**
 * Options of Node's server: a request, head and body, must arrive within `receiveMs` and a second.
 */
export const receiveLimits = (receiveMs: number): ServerOptions => ({
  requestTimeout: receiveMs,
  headersTimeout: receiveMs,
  connectionsCheckingInterval: checkMs,
})

const problems: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too large' },
}
type ClientError = Error & { readonly code?: string }

const malformed = { status: 400, message: 'The request is not valid HTTP' }

/**
 * Answers requests that cannot be read, after those that came before them on the same connection.
 */
export class UnreadableRequests {
  private readonly unanswered = new WeakMap<Socket, Set<ServerResponse>>()
  private readonly refused = new WeakSet<Socket>()

  /** Learns which requests of a connection are not answered yet. */
  watch(server: Server): void {
    server.prependListener('request', ({ socket }, response) => {
      const responses = this.unanswered.get(socket) ?? new Set()
      this.unanswered.set(socket, responses.add(response))
      response.on('close', () => responses.delete(response))
    })
  }

  /**
   * Answers in the shape of a GraphQL error and closes the connection, once all complete requests
   * before are answered. Each further error of the connection is ignored.
   */
  readonly refuse = (error: ClientError, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (this.refused.has(socket)) return
    this.refused.add(socket)
    const before = [...(this.unanswered.get(socket) ?? [])].filter(({ req }) => req.complete)
    const last = before.at(-1)
    if (!last) sendRefusal(error, socket)
    else last.once('close', () => sendRefusal(error, socket))
  }
}

function sendRefusal(error: ClientError, socket: Socket): void {
  // The last answer closed the connection.
  if (!socket.writable) return
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

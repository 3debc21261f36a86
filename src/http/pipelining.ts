import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The most unanswered requests of a connection. */
const unansweredMax = 100

/**
 * Serves the requests of a connection one after another, as their answers are sent. So a client
 * that sends many at once takes one place in the queue, and the limits of one request at a time.
 * Closes a connection with more than 100 unanswered requests. Call it before other hooks, so that a
 * request that waits costs nothing else.
 */
export function limitPipelining(http: FastifyInstance): void {
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>()
  http.addHook('onRequest', ({ raw: { socket } }, { raw }, done) => {
    const responses = unanswered.get(socket) ?? new Set()
    const before = [...responses].at(-1)
    unanswered.set(socket, responses.add(raw))
    raw.on('close', () => responses.delete(raw))
    if (responses.size > unansweredMax) socket.destroy()
    // After the end of the connection, no client waits for the answer.
    const serve = () => {
      if (!socket.destroyed) done()
    }
    if (before) before.once('close', serve)
    else serve()
  })
}

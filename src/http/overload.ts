import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { refuse } from './error-body.ts'
import { isGraphql } from './graphql-route.ts'
import { type AdmittedRequest, RequestQueue } from './request-queue.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined before it is admitted. */
    place: AdmittedRequest | undefined
  }
}

/** The requests that wait for each request that is executed. */
const waitingPerRunning = 4
const waitBounds = { expectedWaitMsMax: 500, waitMsMax: 5_000 }

/** How often the limit of running requests follows the event loop, in milliseconds. */
const adjustMs = 50

/**
 * Bounds the requests to /graphql that are served at once, fewer while the event loop has no idle
 * time, and the requests that wait. Refuses others with UNAVAILABLE, status 503 and Retry-After,
 * before their body is read if the queue is full when they arrive. A request gives up its place
 * when its answer is sent, whether the client reads it or not, and when its client leaves.
 * @param runningMax how many requests are served at once, at most. Up to this number, every request
 *   is admitted.
 */
export function limitRequests(http: FastifyInstance, runningMax: number): void {
  const limit = new ConcurrencyLimit(runningMax)
  const waitingMax = waitingPerRunning * runningMax
  const queue = new RequestQueue({ ...waitBounds, runningMax, waitingMax }, limit)
  followEventLoop(http, limit, queue)
  const refuseBusy = (reply: FastifyReply) =>
    refuse(reply, 'UNAVAILABLE', 'The server is too busy. Try again later.')
  http.addHook('onRequest', (request, reply, done) => {
    if (isGraphql(request) && queue.isFull) refuseBusy(reply)
    else done()
  })
  http.decorateRequest('place', undefined)
  http.addHook('preHandler', (request, reply, done) => {
    if (!isGraphql(request)) return done()
    // The end of a request whose client has left already would not be noticed.
    const admitted = reply.raw.destroyed ? undefined : queue.enter()
    if (!admitted) {
      if (!reply.sent) refuseBusy(reply)
      return
    }
    request.place = admitted
    reply.raw.on('close', () => queue.leave(admitted))
    if (admitted.hasTurn) return done()
    void admitted.turn.then((isTurn) => {
      // At its deadline, a request that waits has been answered.
      if (reply.sent) return
      if (isTurn) done()
      else refuseBusy(reply)
    })
  })
  http.addHook('onSend', ({ place }, _, _payload, done) => {
    if (place) queue.leave(place)
    done()
  })
}

/** Adjusts the limit until the server closes. */
function followEventLoop(
  http: FastifyInstance,
  limit: ConcurrencyLimit,
  queue: RequestQueue,
): void {
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    limit.adjust(performance.eventLoopUtilization(now, last).utilization, queue.isBusy)
    last = now
  }, adjustMs).unref()
  http.addHook('onClose', async () => clearInterval(timer))
}

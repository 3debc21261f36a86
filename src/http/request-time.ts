import type { FastifyInstance, FastifyRequest } from 'fastify'
import { endRequest, RequestEnded, RequestTime } from '../db/request-time.ts'
import { within } from '../lib/within.ts'
import type { Log } from '../log.ts'
import { beginInTime, runInTime, runOutside } from '../request-scope.ts'
import { Deadlines } from './deadlines.ts'
import { refuse } from './error-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How long {@link prepareRequests} took, in milliseconds. */
    preparedMs: number
  }
}

const answered = new RequestEnded('The request has ended')

/**
 * Does work for requests before their bodies are read, for at most `msMax` milliseconds. A request
 * that waits for it holds its head alone. Its time counts as that of the request. Failures are left
 * to those who need the result.
 */
export function prepareRequests(
  http: FastifyInstance,
  msMax: number,
  prepare: (request: FastifyRequest) => Promise<unknown> | undefined,
): void {
  http.addHook('onRequest', (request, _, done) => {
    const begunAt = performance.now()
    const preparation = prepare(request)
    if (!preparation) return done()
    const end = () => {
      request.preparedMs = performance.now() - begunAt
      done()
    }
    within(msMax, preparation, () => answered).then(end, end)
  })
}

/**
 * Answers each request within `ms` milliseconds of its arrival, the wait for its turn included: at
 * the deadline with UNAVAILABLE and status 503. After the answer, and after the client has closed
 * its connection, the request sends no further command. Mutations that have begun end.
 */
export function limitRequestTime(http: FastifyInstance, ms: number, log: Log): void {
  http.decorateRequest('preparedMs', 0)
  const deadlines = new Deadlines(runOutside)
  http.addHook('preHandler', (request, reply, done) => {
    const leftMs = Math.max(0, ms - request.preparedMs)
    const time = new RequestTime(leftMs)
    const answerLate = () => {
      if (reply.sent || reply.raw.headersSent) return
      const late = new RequestEnded(
        'The request took too long. Repeat a mutation with the same clientMutationId.',
      )
      time.end(late)
      log.error({ requestId: request.id, code: late.code, ms }, 'request took too long')
      refuse(reply, late.code, late.message)
    }
    const end = () => runInTime(time, answerLate)
    const deadline = { at: performance.now() + leftMs, end }
    deadlines.add(deadline)
    reply.raw.on('close', () => {
      deadlines.delete(deadline)
      time.end(answered)
    })
    beginInTime(time, done)
  })
  // A field that fails may end a response before other fields are read.
  http.addHook('onSend', (_, _reply, _payload, done) => {
    endRequest(answered)
    done()
  })
}

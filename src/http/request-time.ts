import type { FastifyInstance } from 'fastify'
import { endRequest, RequestEnded, RequestTime } from '../db/request-time.ts'
import type { Log } from '../log.ts'
import { runInTime } from '../request-scope.ts'
import { refuse } from './error-body.ts'

const answered = new RequestEnded('The request has ended')

/**
 * Answers each request within `ms` milliseconds of its arrival, the wait for its turn included: at the deadline with
 * UNAVAILABLE and status 503. After the answer, and after the client has closed its connection, the request sends no
 * further command. Mutations that have begun end.
 */
export function limitRequestTime(http: FastifyInstance, ms: number, log: Log): void {
  http.addHook('preHandler', (request, reply, done) => {
    const time = new RequestTime(ms)
    const timer = setTimeout(() => {
      if (reply.sent || reply.raw.headersSent) return
      const late = new RequestEnded(
        'The request took too long. Repeat a mutation with the same clientMutationId.',
      )
      time.end(late)
      log.error({ requestId: request.id, code: late.code, ms }, 'request took too long')
      refuse(reply, late.code, late.message)
    }, ms)
    reply.raw.once('close', () => {
      clearTimeout(timer)
      time.end(answered)
    })
    runInTime(time, done)
  })
  // A field that fails may end a response before other fields are read.
  http.addHook('onSend', (_, _reply, _payload, done) => {
    endRequest(answered)
    done()
  })
}

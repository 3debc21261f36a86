import type { FastifyError, FastifyInstance } from 'fastify'
import { type ErrorCode, errorCodes } from '../errors.ts'
import type { Log } from '../log.ts'
import { refuse } from './error-body.ts'
import { graphqlPath } from './graphql-route.ts'
import { RefusedBody } from './json-body.ts'

/** Makes Fastify answer its own errors in the shape of a GraphQL error. */
export function answerErrorsInJson(http: FastifyInstance, log: Log): void {
  const { bodyLimit } = http.initialConfig
  http.setNotFoundHandler((request, reply) => {
    if (request.url.split('?', 1)[0] === graphqlPath) {
      reply.header('allow', 'GET, POST')
      return refuse(reply, 'BAD_REQUEST', 'The method must be POST, or GET for a query', 405)
    }
    return refuse(reply, 'NOT_FOUND', `This path does not exist. GraphQL is at ${graphqlPath}.`)
  })
  http.setErrorHandler((error: FastifyError | RefusedBody, request, reply) => {
    const status = error.statusCode ?? 500
    if (error instanceof RefusedBody) return refuse(reply, 'BAD_REQUEST', error.message, status)
    if (status >= 500) log.error({ requestId: request.id, err: error }, 'request failed')
    const code: ErrorCode =
      status === 413 ? 'PAYLOAD_TOO_LARGE' : status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'
    const message = {
      PAYLOAD_TOO_LARGE: `The body exceeds the limit of ${bodyLimit} bytes`,
      BAD_REQUEST:
        status === 415 ? 'The content type must be application/json' : 'The body is not JSON',
      INTERNAL_SERVER_ERROR: 'The server failed. The server log has the details.',
    }[code]
    return refuse(reply, code, message, code === 'BAD_REQUEST' ? status : errorCodes[code].status)
  })
}

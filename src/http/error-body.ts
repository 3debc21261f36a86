import type { FastifyReply } from 'fastify'
import { type ErrorCode, errorCodes } from '../errors.ts'
import { release } from '../lib/release.ts'

/** How long a client should wait after an answer that asks it to try again, in seconds. */
export const retryAfterSeconds = 1

/** The body of an error response, in the shape of a GraphQL error. */
export const errorBody = (code: ErrorCode, message: string, requestId: string) => ({
  errors: [
    {
      message,
      extensions: {
        code,
        requestId,
        release,
        ...(code === 'UNAVAILABLE' ? { retryAfterSeconds } : {}),
      },
    },
  ],
})

/** Refuses a request. Its code also goes to the log and the metrics. */
export function refuse(
  reply: FastifyReply,
  code: ErrorCode,
  message: string,
  status: number = errorCodes[code].status,
): FastifyReply {
  const { request } = reply
  if (request.scope) request.scope.code ??= code
  if (code === 'UNAVAILABLE') reply.header('retry-after', retryAfterSeconds)
  return reply.code(status).send(errorBody(code, message, request.id))
}

import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest } from '@apollo/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from './context.ts'

/**
 * Handles requests by Apollo. Gives Apollo what it reads of a request and no more: the URL of a GET
 * request alone, and two headers.
 */
export const createApolloHandler =
  (apollo: ApolloServer<Context>, contextOf: (request: FastifyRequest) => Promise<Context>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: readByApollo(request),
      context: () => contextOf(request),
    })
    // The schema has nothing that is answered in parts.
    if (body.kind !== 'complete') throw new TypeError('Apollo answers in parts')
    for (const [name, value] of headers) reply.header(name, value)
    reply.code(status ?? 200)
    return body.string
  }

function readByApollo({ method, url, body, headers }: FastifyRequest): HTTPGraphQLRequest {
  const read = new HeaderMap()
  // The media type of the answer is known. Apollo would look for one that the schema has no use
  // for.
  read.set('accept', '')
  if (headers['content-type']) read.set('content-type', headers['content-type'])
  const search = method === 'GET' ? new URL(url, 'http://localhost').search : ''
  return { method, body, headers: read, search }
}

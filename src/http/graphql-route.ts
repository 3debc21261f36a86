import type { FastifyRequest } from 'fastify'

/** The only path that takes GraphQL requests. */
export const graphqlPath = '/graphql'

/**
 * Whether a request is for {@link graphqlPath}. By its route, because a URL has many spellings,
 * such as `/%67raphql`.
 */
export const isGraphql = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.url === graphqlPath

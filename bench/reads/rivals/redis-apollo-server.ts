import { ApolloServer } from '@apollo/server'
import fastifyApollo from '@as-integrations/fastify'
import { fastify } from 'fastify'
import { type GraphQLResolveInfo, Kind } from 'graphql'
import { Redis } from 'ioredis'
import { handleRequests } from '../../child-process.ts'
import { verifyAuthorization } from '../../tokens.ts'
import { RedisFeed } from './redis-feed.ts'
import { type RedisServerConfig, toConnection } from './redis-server-config.ts'

// The feed on Redis behind Apollo and Fastify, the packages that Feedline uses.
let feed: RedisFeed | undefined

const typeDefs = `
  type Query {
    timeline(first: Int!, since: ID): PostConnection!
    user(handle: ID!): User!
  }
  type Mutation { createPost(text: String!): CreatePostPayload! }
  type CreatePostPayload { post: NewPost! }
  type NewPost { id: ID! }
  type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! }
  type PostEdge { node: Post! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Post {
    id: ID!
    text: String!
    createdAt: String!
    author: Author!
    likeCount: Int!
    viewerHasLiked: Boolean!
  }
  type Author { handle: ID! name: String! }
  type User { handle: ID! posts(first: Int!): PostConnection! }
`

interface Viewer {
  readonly viewer: string
  readonly feed: RedisFeed
}

const resolvers = {
  Query: {
    timeline: async (
      _: unknown,
      { first: limit, since }: { first: number; since?: string },
      { viewer, feed }: Viewer,
      info: GraphQLResolveInfo,
    ) =>
      toConnection(await feed.readTimeline(viewer, { limit, since, counts: selectsCounts(info) })),
    user: (_: unknown, { handle }: { handle: string }) => ({ handle }),
  },
  User: {
    posts: async (
      { handle }: { handle: string },
      { first }: { first: number },
      { viewer, feed }: Viewer,
    ) => toConnection(await feed.readAuthorPosts(viewer, handle, first)),
  },
  Mutation: {
    createPost: async (_: unknown, { text }: { text: string }, { viewer, feed }: Viewer) => ({
      post: { id: await feed.createPost(viewer, text) },
    }),
  },
}

/** Whether the posts of a page are selected with a count: names and flags are read with the counts. */
const selectsCounts = ({ fieldNodes }: GraphQLResolveInfo): boolean => {
  const select = (nodes: GraphQLResolveInfo['fieldNodes'], name: string) =>
    nodes
      .flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
      .filter((node) => node.kind === Kind.FIELD)
      .filter((node) => node.name.value === name)
  return select(select(select(fieldNodes, 'edges'), 'node'), 'likeCount').length > 0
}

const http = fastify()
const apollo = new ApolloServer<Viewer>({ typeDefs, resolvers })
await apollo.start()
await http.register(fastifyApollo(apollo), {
  context: async ({ headers }) => {
    if (!feed) throw new Error('the server has no connection to Redis')
    return { viewer: verifyAuthorization(headers.authorization), feed }
  },
})
await http.listen({ port: 0, host: '127.0.0.1' })
handleRequests((message: RedisServerConfig | { cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  feed = new RedisFeed(new Redis({ port: message.redisPort }), message.checks)
  return { port: Number(new URL(http.listeningOrigin).port) }
})

import { ApolloServer } from '@apollo/server'
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled'
import fastifyApollo from '@as-integrations/fastify'
import { fastify } from 'fastify'
import { type GraphQLResolveInfo, Kind } from 'graphql'
import { handleRequests } from '../../child-process.ts'
import { verifyAuthorization } from '../../tokens.ts'
import { openFeed, type RivalConfig } from './open-feed.ts'
import { type RivalFeed, toConnection } from './rival-feed.ts'

// The feed of a rival behind Apollo and Fastify, the packages that Feedline uses.
let feed: RivalFeed | undefined

const typeDefs = `
  type Query {
    timeline(first: Int!): PostConnection!
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
  type Author { handle: ID! name: String! avatarUrl: String }
  type User { handle: ID! posts(first: Int!): PostConnection! }
`

interface Viewer {
  readonly viewer: string
  readonly feed: RivalFeed
}

const resolvers = {
  Query: {
    timeline: async (
      _: unknown,
      { first: limit }: { first: number },
      { viewer, feed }: Viewer,
      info: GraphQLResolveInfo,
    ) => toConnection(await feed.readTimeline(viewer, { limit, counts: selectsCounts(info) })),
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
// The plugin for cache control wraps every resolver. Its hints are of no use here.
const plugins = [ApolloServerPluginCacheControlDisabled()]
const apollo = new ApolloServer<Viewer>({ typeDefs, resolvers, plugins })
await apollo.start()
await http.register(fastifyApollo(apollo), {
  context: async ({ headers }) => {
    if (!feed) throw new Error('the server has no database')
    return { viewer: verifyAuthorization(headers.authorization), feed }
  },
})
await http.listen({ port: 0, host: '127.0.0.1' })
handleRequests((message: RivalConfig | { cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  feed = openFeed(message)
  return { port: Number(new URL(http.listeningOrigin).port) }
})

import { ApolloServer } from '@apollo/server'
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled'
import fastifyApollo from '@as-integrations/fastify'
import { fastify } from 'fastify'
import { handleRequests } from '../../child-process.ts'
import { verifyAuthorization } from '../../tokens.ts'
import { PostgresFeed } from './postgres-feed.ts'

// The feed on PostgreSQL behind Apollo and Fastify, the packages that Feedline uses.
let feed: PostgresFeed | undefined

const typeDefs = `
  type Query {
    timeline(first: Int!): PostConnection!
    timelineNews(since: ID!): News!
  }
  type Mutation {
    createPost(text: String!): CreatePostPayload!
    likePost(post: ID!): Change!
    followUser(user: ID!): Change!
  }
  type CreatePostPayload { post: NewPost! }
  type NewPost { id: ID! }
  type Change { changed: Boolean! }
  type News { count: Int! hasMore: Boolean! authors: [Author!]! pollCursor: String! }
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
  type Author { id: ID! handle: ID! name: String! avatarUrl: String }
`

interface Viewer {
  readonly viewer: string
  readonly feed: PostgresFeed
}

const resolvers = {
  Query: {
    timeline: async (_: unknown, { first }: { first: number }, { viewer, feed }: Viewer) => {
      const { posts, hasNextPage } = await feed.readTimeline(viewer, first)
      return {
        edges: posts.map((node) => ({ node, cursor: node.id })),
        pageInfo: { hasNextPage, endCursor: posts.at(-1)?.id ?? null },
      }
    },
    timelineNews: (_: unknown, { since }: { since: string }, { viewer, feed }: Viewer) =>
      feed.readNews(viewer, since),
  },
  Mutation: {
    createPost: async (_: unknown, { text }: { text: string }, { viewer, feed }: Viewer) => ({
      post: { id: await feed.createPost(viewer, text) },
    }),
    likePost: async (_: unknown, { post }: { post: string }, { viewer, feed }: Viewer) => ({
      changed: await feed.likePost(viewer, post),
    }),
    followUser: async (_: unknown, { user }: { user: string }, { viewer, feed }: Viewer) => ({
      changed: await feed.followUser(viewer, user),
    }),
  },
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
handleRequests((message: { readonly port: number } | { readonly cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  feed = PostgresFeed.open(message.port)
  return { port: Number(new URL(http.listeningOrigin).port) }
})

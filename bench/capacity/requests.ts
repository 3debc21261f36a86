import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import { newIdEachTime } from '../idempotency.ts'
import { pollOperation, readOperation } from '../reads/documents.ts'
import { graphqlRequest } from '../reads/side.ts'
import { syntheticPosts } from './synthetic-posts.ts'
import type { LoadRequest } from './system.ts'

const page = `query Page($first: Int!) {
  timeline(first: $first) {
    edges { node { id text createdAt author { handle name } likeCount viewerHasLiked } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`
const poll = readOperation(pollOperation.name)
const createPost =
  'mutation Compose($input: CreatePostInput!) { createPost(input: $input) { post { id } } }'
const likePost = 'mutation Like($input: LikePostInput!) { likePost(input: $input) { changed } }'
const followUser =
  'mutation Follow($input: FollowUserInput!) { followUser(input: $input) { changed } }'

/** The number of posts of a page, as the operations of schema/operations ask for by default. */
export const pageSize = 20

const mutation = (user: UserId, document: string, input: object): LoadRequest =>
  graphqlRequest(user, document, { input: { ...input, clientMutationId: newIdEachTime } })

/** The requests of the loads. */
export const requests = {
  page: (reader: UserId): LoadRequest => graphqlRequest(reader, page, { first: pageSize }),
  poll: (reader: UserId, newest: PostId): LoadRequest =>
    graphqlRequest(reader, poll, pollOperation.variables(newest)),
  post: (author: UserId, text: string): LoadRequest => mutation(author, createPost, { text }),
  like: (user: UserId, post: PostRef): LoadRequest =>
    mutation(user, likePost, { postId: postNodeId(post) }),
  follow: (follower: UserId, followee: UserId): LoadRequest =>
    mutation(follower, followUser, { user: { handle: followee } }),
} as const

/** Texts of posts: three to twelve words each. The same in each run. */
export const createTexts = (count: number): string[] =>
  syntheticPosts(count, 2, Date.now()).map(({ text }) => text)

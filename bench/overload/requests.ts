import { SignJWT } from 'jose'
import type { UserId } from '../../src/lib/ids.ts'
import { newIdEachTime } from '../idempotency.ts'
import type { LoadRequest } from './load-process.ts'

/** Creates the headers of a request of `user`, with a token of a day that `secret` signs. */
async function createHeaders(user: UserId, secret: string): Promise<LoadRequest['headers']> {
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(user)
    .setExpirationTime('1d')
    .sign(new TextEncoder().encode(secret))
  return { 'content-type': 'application/json', authorization: `Bearer ${token}` }
}

const page = `query Page { timeline(first: 20) {
  edges { node { id text author { handle } likeCount viewerHasLiked } cursor }
  pageInfo { hasNextPage endCursor }
} }`
const post = 'mutation Post($input: CreatePostInput!) { createPost(input: $input) { post { id } } }'
const like = 'mutation Like($input: LikePostInput!) { likePost(input: $input) { changed } }'
const unlike = 'mutation Unlike($input: UnlikePostInput!) { unlikePost(input: $input) { changed } }'

/** How often the requests contain each user. */
const turns = 10

/**
 * Creates requests of all users in turn. Of twenty requests, one creates a post, and one likes a
 * post or takes a like back. The others read the first page of a timeline.
 */
export async function createRequests(
  users: readonly UserId[],
  posts: readonly string[],
  secret: string,
): Promise<LoadRequest[]> {
  const headers = await Promise.all(users.map((user) => createHeaders(user, secret)))
  return Array.from({ length: turns }, (_, turn) =>
    headers.map((given, at) => {
      const kind = at % 20
      const isMark = kind === 14
      const query = kind === 7 ? post : isMark ? (turn % 2 === 0 ? like : unlike) : page
      const about = isMark
        ? { postId: posts[(at + Math.floor(turn / 2)) % posts.length] }
        : { text: 'The morning was cold.' }
      const input = { ...about, clientMutationId: newIdEachTime }
      const variables = query === page ? {} : { input }
      return { headers: given, body: JSON.stringify({ query, variables }) }
    }),
  ).flat()
}

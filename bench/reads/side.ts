import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Server } from '../feeds/http.ts'
import type { LoadJob } from '../feeds/load-process.ts'
import { authorizationOf } from '../tokens.ts'

/** A request of a load. */
export type HttpRequest = LoadJob['requests'][number]

/** The requests that the clients of a side send. */
export interface Requests {
  /** `{ __typename }`. */
  empty(user: UserId): HttpRequest
  /** The first page of a timeline, with names, pictures, counts and the viewer's flags. */
  page(reader: UserId): HttpRequest
  post(author: UserId, text: string): HttpRequest
  like(user: UserId, post: PostRef): HttpRequest
  follow(follower: UserId, followee: UserId): HttpRequest
}

/** Servers under load, with their database. */
export interface Side {
  readonly name: string
  /** Whether its writes are durable and atomic, and what each page checks. */
  readonly promise: string
  /** The servers that share the load. */
  readonly servers: readonly Server[]
  readonly requests: Requests
  /** The status of a poll without news. */
  readonly pollStatus: number
  /** The processor time of the database in microseconds. */
  readDatabaseCpuUs(): Promise<number>
  /**
   * Adds a post of an author, by another process than the servers. @returns its id when every
   * follower has it.
   */
  addPost(author: UserId, text: string): Promise<string>
  /** Waits until no delivery is running. */
  waitUntilIdle(): Promise<void>
  /** Each reader's poll for what is newer than a post. */
  createPolls(readers: readonly UserId[], newest: string): Promise<readonly HttpRequest[]>
  /**
   * Starts another server on the same data, which has kept nothing. These readers are unknown to
   * the database too.
   */
  start(readers: readonly UserId[]): Promise<Server>
}

/** The number of posts of a page. */
export const pageSize = 50
/** The connections of all loads. */
export const connections = 16

const authorizations = new Map<string, string>()

/** The headers of a user's requests. A user sends the same token in all of them. */
export function headersOf(user: string): Record<string, string> {
  const authorization = authorizations.get(user) ?? authorizationOf(user)
  authorizations.set(user, authorization)
  return { 'content-type': 'application/json', authorization }
}

/** A request with a GraphQL document. */
export const graphqlRequest = (user: string, query: string, variables: object): HttpRequest => ({
  ...{ headers: headersOf(user), body: JSON.stringify({ query, variables }) },
})

/** A post in an answer, with the id of its document. */
export interface PagePost {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  readonly author: { readonly handle: string; readonly name: string; readonly avatarUrl: string }
  readonly likeCount: number
  readonly viewerHasLiked: boolean
}

/**
 * Sends one request to the last server of a side. @returns ETag and body. @throws if the answer is
 * an error.
 */
export async function sendRequest(
  { servers }: Pick<Side, 'servers'>,
  { method = 'POST', path = '/graphql', headers, body }: HttpRequest,
) {
  const answer = await fetch(`http://127.0.0.1:${servers.at(-1)?.port}${path}`, {
    method,
    headers: headers as Record<string, string>,
    ...(body === undefined ? {} : { body: String(body) }),
  })
  const text = await answer.text()
  if (answer.status >= 400 || text.startsWith('{"errors"'))
    throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 500)}`)
  return { etag: answer.headers.get('etag'), text }
}

/** The posts of a reader's first page. */
export async function readPage(side: Side, reader: UserId): Promise<PagePost[]> {
  const { text } = await sendRequest(side, side.requests.page(reader))
  const { edges } = JSON.parse(text).data.timeline as { edges: { node: PagePost }[] }
  return edges.map(({ node }) => ({ ...node, id: documentIdOf(node.id) }))
}

/** The id of the document behind a global id of Feedline. The rival sends the id itself. */
function documentIdOf(id: string): string {
  if (/^[0-9a-f]{24}$/.test(id)) return id
  const [, , post] = JSON.parse(Buffer.from(id, 'base64url').toString())
  return post
}

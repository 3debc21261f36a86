import type { Server } from '../feeds/http.ts'
import type { LoadJob } from '../feeds/load-process.ts'

/** A request of a load. */
export type HttpRequest = LoadJob['requests'][number]

/** What a page contains: fields that never change, or also names, counts and the viewer's flags. */
export type PageFields = 'immutable' | 'counts'

/** Requests for what is newer than a post, and the status of an answer without news. */
export interface Poll {
  request(reader: string, newest: string): HttpRequest
  readonly statusWithoutNews: 200 | 304
}

/** A server under load. What it cannot answer is absent. */
export interface Side {
  readonly name: string
  readonly server: Server
  /** The processor time of the database in microseconds. */
  readDatabaseCpuUs(): Promise<number>
  /** Adds a post of the hub to the timelines of all readers. @returns its id. */
  addPost(text: string): Promise<string>
  /** Waits until no delivery is running. */
  waitUntilIdle(): Promise<void>
  page(reader: string, fields: PageFields): HttpRequest | undefined
  /** Undefined without a poll. */
  readonly poll: Poll | undefined
  /** Each reader's poll by GET with the ETag of the answer. Undefined if answers have none. */
  readonly conditionalPolls:
    | ((readers: readonly string[], newest: string) => Promise<HttpRequest[] | undefined>)
    | undefined
  readonly profile: ((reader: string, author: string) => HttpRequest) | undefined
  readonly compose: ((author: string, text: string) => HttpRequest) | undefined
}

/** A post in an answer, with the id of its document. */
export interface PagePost {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  readonly author: { readonly handle: string; readonly name?: string }
  readonly likeCount?: number
  readonly viewerHasLiked?: boolean
}

/** Sends one request. @returns its status, ETag and body. @throws if the answer is an error. */
export async function sendRequest(
  { port }: Server,
  { method = 'POST', path = '/graphql', headers, body }: HttpRequest,
) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: headers as Record<string, string>,
    ...(body === undefined ? {} : { body: String(body) }),
  })
  const text = await answer.text()
  if (answer.status >= 400 || text.startsWith('{"errors"'))
    throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 500)}`)
  return { status: answer.status, etag: answer.headers.get('etag'), text }
}

/** The posts of a reader's first page. */
export async function readPagePosts(
  { name, server, page }: Side,
  reader: string,
  fields: PageFields,
): Promise<PagePost[]> {
  const request = page(reader, fields)
  if (!request) throw new Error(`${name} has no page with ${fields} fields`)
  const { data } = JSON.parse((await sendRequest(server, request)).text)
  const { edges } = data.timeline as { edges: { node: PagePost }[] }
  return edges.map(({ node }) => ({ ...node, id: documentIdOf(node.id) }))
}

/** The id of the document behind a global id of Feedline. The rivals send the id itself. */
function documentIdOf(id: string): string {
  if (/^[0-9a-f]{24}$/.test(id)) return id
  const [, , post] = JSON.parse(Buffer.from(id, 'base64url').toString())
  return post
}

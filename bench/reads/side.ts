import type { Server } from '../feeds/http.ts'
import type { LoadJob } from '../feeds/load-process.ts'

/** A request of a load. */
export type HttpRequest = LoadJob['requests'][number]

/** The loads, by name, in the order of the report. */
export const loadNames = {
  mix: 'mix, 6 pages : 1 post',
  firstVisit: 'page, first visit',
  changed: 'page, changed before each request',
  kept: 'page with counts, kept',
  unchanged: 'page, nothing changed',
  poll304: 'poll, nothing new',
  pollNews: 'poll, one new post',
  compose: 'post to about forty followers',
  firstRequests: 'first hundred requests of a process',
  openMix: 'mix, 60 : 30 : 10, open loop',
} as const
export type LoadName = keyof typeof loadNames

/** What a page contains: fields that never change, or also names, counts and the viewer's flags. */
export type PageFields = 'immutable' | 'counts'

/** A server under load. What it cannot answer is absent. */
export interface Side {
  readonly name: string
  /** Whether its writes are durable and atomic, and what each page checks. */
  readonly promise: string
  /** The loads that are measured, by name. */
  readonly loads: ReadonlySet<LoadName>
  readonly server: Server
  /** The processor time of the database in microseconds. */
  readDatabaseCpuUs(): Promise<number>
  /** Adds a post of the hub to the timelines of all readers. @returns its id. */
  addPost(text: string): Promise<string>
  /** Waits until no delivery is running. */
  waitUntilIdle(): Promise<void>
  page(reader: string, fields: PageFields): HttpRequest | undefined
  /** Each reader's poll for what is newer than a post. Without news its answer is 304. Undefined without polls. */
  readonly createPolls:
    | ((readers: readonly string[], newest: string) => Promise<HttpRequest[]>)
    | undefined
  /** Starts another server on the same data, which has kept nothing. These readers are unknown to the database too. */
  readonly startNew: ((readers: readonly string[]) => Promise<Server>) | undefined
  readonly profile: ((reader: string, author: string) => HttpRequest) | undefined
  readonly compose: ((author: string, text: string) => HttpRequest) | undefined
}

/** A post in an answer, with the id of its document. */
export interface PagePost {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  readonly author: { readonly handle: string; readonly name?: string; readonly avatarUrl?: string }
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

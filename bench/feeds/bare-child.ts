import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BSON, type Db, type Document } from 'mongodb'
import { connect } from '../../src/db/client.ts'
import { answer } from '../children.ts'
import { socialiteCache } from './socialite.ts'

/** What a bare server is to answer with. */
export interface BareJob {
  readonly uri: string
  readonly name: string
  /** For each reader the commands of a page, stage after stage, as EJSON; undefined: the reader's one document. */
  readonly pages?: string | undefined
}

type Pages = Readonly<Record<string, readonly (readonly Document[])[]>>
type Respond = (reader: string) => Promise<string>

let respond: Respond = async () => ''
const server = createServer(async (request, response) => {
  const reader = await readerOf(request)
  const body = await respond(reader).catch((error: Error) => {
    response.statusCode = 500
    return error.message
  })
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
answer(async (message: BareJob | { cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  const db = (await connect(message.uri, 'serving', { maxPoolSize: 100 })).db(message.name)
  respond = message.pages
    ? replay(db, BSON.EJSON.parse(message.pages, { relaxed: false }) as Pages)
    : oneDocument(db)
  return { port: (server.address() as AddressInfo).port }
})

/** As `Authorization: Dev HANDLE` says; the body is read, since it was sent. */
async function readerOf(request: IncomingMessage): Promise<string> {
  for await (const _ of request);
  return request.headers.authorization?.slice(4) ?? ''
}

/** Socialite's shape: one cached document, nothing asked of the graph. */
const oneDocument =
  (db: Db): Respond =>
  async (reader) => {
    const cache = await socialiteCache(db).findOne({ _id: reader })
    const posts = cache?._c ?? []
    return pageOf(posts.map(({ _id, _a, _m }) => edgeOf(String(_id), _m, _a)).reverse())
  }

/** The very commands that the service sends for the page, and what they bring. */
const replay =
  (db: Db, pages: Pages): Respond =>
  async (reader) => {
    const posts: Document[] = []
    for (const stage of pages[reader] ?? []) {
      const results = await Promise.all(stage.map((command) => db.command(command)))
      for (const { cursor } of results) collect(cursor.firstBatch, posts)
    }
    const edges = posts.map(({ _id, post, author, text }) =>
      edgeOf(String(post ?? _id.post ?? _id), text, author),
    )
    return pageOf(edges.sort((a, b) => (a.cursor < b.cursor ? 1 : -1)))
  }

type Edge = ReturnType<typeof edgeOf>

const edgeOf = (id: string, text: string, handle: string) => ({
  ...{ node: { id, text, author: { handle } }, cursor: id },
})

const pageSize = 50

/** In the shape that GraphQL answers with. */
function pageOf(found: readonly Edge[]): string {
  const edges = found.slice(0, pageSize)
  const pageInfo = { hasNextPage: found.length > pageSize, endCursor: edges.at(-1)?.cursor }
  return JSON.stringify({ data: { timeline: { edges, pageInfo } } })
}

/** Whatever has a text is a post: itself a document, or within one. */
function collect(documents: readonly Document[], posts: Document[]): void {
  for (const document of documents) {
    if (typeof document.text === 'string') posts.push(document)
    else
      for (const value of Object.values(document)) if (Array.isArray(value)) collect(value, posts)
  }
}

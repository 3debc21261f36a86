import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BSON, type Db, type Document } from 'mongodb'
import { connect } from '../../src/db/client.ts'
import { type PostId, timeOf } from '../../src/lib/ids.ts'
import { handleRequests } from '../child-process.ts'
import { verifyAuthorization } from '../tokens.ts'
import { socialiteCache } from './socialite.ts'

/** What the bare server sends to the database for a page. */
export interface BareServerConfig {
  readonly uri: string
  readonly name: string
  /**
   * The recorded commands of each reader's page, as EJSON. If undefined, the server reads one
   * document per reader.
   */
  readonly pages?: string | undefined
  /**
   * Whether requests carry Bearer tokens, which the server verifies. Default: they carry `Dev
   * HANDLE`.
   */
  readonly verifiesTokens?: boolean
  /** Whether posts have the field createdAt. */
  readonly createdAt?: boolean
}

type RecordedPages = Readonly<Record<string, readonly (readonly Document[])[]>>
type Respond = (reader: string) => Promise<string>

let respond: Respond = async () => ''
let readHandle = (authorization: string | undefined): string => authorization?.slice(4) ?? ''
const server = createServer(async (request, response) => {
  const body = await readReader(request)
    .then(respond)
    .catch((error: Error) => {
      response.statusCode = 500
      return error.message
    })
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
handleRequests(async (message: BareServerConfig | { cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  if (message.verifiesTokens) readHandle = verifyAuthorization
  const db = (await connect(message.uri, 'serving', { maxPoolSize: 100 })).db(message.name)
  respond = message.pages
    ? replayCommands(db, BSON.EJSON.parse(message.pages, { relaxed: false }) as RecordedPages)
    : readCacheDocument(db, message.createdAt ?? false)
  return { port: (server.address() as AddressInfo).port }
})

/** Reads the body to its end and returns the handle of the header Authorization. */
async function readReader(request: IncomingMessage): Promise<string> {
  for await (const _ of request);
  return readHandle(request.headers.authorization)
}

/** Reads one document of Socialite's cache. Reads nothing of the follow graph. */
const readCacheDocument =
  (db: Db, hasTime: boolean): Respond =>
  async (reader) => {
    const cache = await socialiteCache(db).findOne({ _id: reader })
    const posts = cache?._c ?? []
    const edges = posts.map(({ _id, _a, _m }) => {
      const id = String(_id)
      return toEdge(id, _m, _a, hasTime ? timeOf(id as PostId) : undefined)
    })
    return formatPage(edges.reverse())
  }

/** Sends the recorded commands of the reader's page and returns the posts in their results. */
const replayCommands =
  (db: Db, pages: RecordedPages): Respond =>
  async (reader) => {
    const posts: Document[] = []
    for (const group of pages[reader] ?? []) {
      const results = await Promise.all(group.map((command) => db.command(command)))
      for (const { cursor } of results) collectPosts(cursor.firstBatch, posts)
    }
    const edges = posts.map(({ _id, post, author, text }) =>
      toEdge(String(post ?? _id.post ?? _id), text, author),
    )
    return formatPage(edges.sort((a, b) => (a.cursor < b.cursor ? 1 : -1)))
  }

type Edge = ReturnType<typeof toEdge>

const toEdge = (id: string, text: string, handle: string, createdAt?: Date) => ({
  ...{ node: { id, text, createdAt, author: { handle } }, cursor: id },
})

const pageSize = 50

/** Formats a page as the GraphQL server does. */
function formatPage(all: readonly Edge[]): string {
  const edges = all.slice(0, pageSize)
  const pageInfo = { hasNextPage: all.length > pageSize, endCursor: edges.at(-1)?.cursor }
  return JSON.stringify({ data: { timeline: { edges, pageInfo } } })
}

/** Collects the posts in `documents` and in their arrays: every document with a text is a post. */
function collectPosts(documents: readonly Document[], posts: Document[]): void {
  for (const document of documents) {
    if (typeof document.text === 'string') posts.push(document)
    else
      for (const value of Object.values(document))
        if (Array.isArray(value)) collectPosts(value, posts)
  }
}

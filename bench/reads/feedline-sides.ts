import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { type Server, startServer } from '../feeds/http.ts'
import { waitForEmptyOutbox } from '../feeds/mixed-workload-systems.ts'
import { cacheStrategy, fillSocialiteCaches, socialiteCache } from '../feeds/socialite.ts'
import { newIdEachTime } from '../idempotency.ts'
import { authorizationOf, tokenSecret } from '../tokens.ts'
import { type Audience, addPost, type ReadStrategy, readNewestPosts, strategyEnv } from './data.ts'
import {
  immutablePage,
  pageWithCounts,
  pollOperation,
  profile,
  readOperation,
} from './documents.ts'
import { type HttpRequest, type Poll, type Side, sendRequest } from './side.ts'

/** The number of posts of a page. */
export const pageSize = 50

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

/** The processor time of a mongod, in microseconds. */
export async function readMongodCpuUs({ db }: Pick<BenchDatabase, 'db'>): Promise<number> {
  const { extra_info } = await db.admin().serverStatus()
  return extra_info.user_time_us + extra_info.system_time_us
}

/** Starts Feedline's server as in production, without rate limits. */
export const startFeedline = (
  { uri, db }: Pick<BenchDatabase, 'uri' | 'db'>,
  strategy: ReadStrategy,
  buildFolder: string,
) =>
  startServer(
    'feedline-server.ts',
    {
      ...strategyEnv(strategy),
      ...{ NODE_ENV: 'production', FEEDLINE_BUILT: buildFolder, PORT: '0', ADMIN_PORT: '0' },
      ...{ MONGODB_URI: uri, MONGODB_DATABASE: db.databaseName },
      ...{ AUTH_JWT_SECRET: tokenSecret, RATE_LIMIT_COST: '0', RATE_LIMIT_MUTATIONS: '0' },
    },
    { port: true },
  )

const createPost =
  'mutation Compose($input: CreatePostInput!) { createPost(input: $input) { post { id } } }'

/** The requests of Feedline's clients. */
export const feedlineRequests = {
  page: (reader: string, fields: 'immutable' | 'counts') =>
    graphqlRequest(reader, fields === 'counts' ? pageWithCounts : immutablePage, {
      first: pageSize,
    }),
  profile: (reader: string, handle: string) =>
    graphqlRequest(reader, profile('String'), { handle, first: pageSize }),
  compose: (author: string, text: string) =>
    graphqlRequest(author, createPost, { input: { text, clientMutationId: newIdEachTime } }),
} as const

const pollDocument = readOperation(pollOperation.name)

/** The operation of schema/operations by POST. */
const plainPoll: Poll = {
  request: (reader, newest) =>
    graphqlRequest(reader, pollDocument, pollOperation.variables(newest)),
  statusWithoutNews: 200,
}

/** Opens a Feedline server as a side. */
export async function openFeedlineSide(
  database: BenchDatabase,
  strategy: ReadStrategy,
  { hub }: Audience,
  buildFolder: string,
): Promise<Side> {
  const server = await startFeedline(database, strategy, buildFolder)
  return {
    ...{ name: strategy, server },
    readDatabaseCpuUs: () => readMongodCpuUs(database),
    addPost: (text) => addPost(database, hub, text),
    waitUntilIdle: () => waitForEmptyOutbox(database.services),
    poll: plainPoll,
    conditionalPolls: (readers, newest) => createConditionalPolls(server, readers, newest),
    ...feedlineRequests,
  }
}

/** Sends each reader's poll by GET once, and asks for the same with the ETag of the answer. */
async function createConditionalPolls(server: Server, readers: readonly string[], newest: string) {
  const requests: HttpRequest[] = []
  for (const reader of readers) {
    const variables = JSON.stringify(pollOperation.variables(newest))
    const path = `/graphql?${new URLSearchParams({ query: pollDocument, variables })}`
    const headers = headersOf(reader)
    const { etag } = await sendRequest(server, { method: 'GET', path, headers })
    if (etag === null) return undefined
    requests.push({ method: 'GET', path, headers: { ...headers, 'if-none-match': etag } })
  }
  return requests
}

/** Opens the handler that reads one document per request. It has only the page with immutable fields. */
export async function openOneDocumentSide(
  database: BenchDatabase,
  { hub, readers }: Audience,
): Promise<Side> {
  const { uri, db, services } = database
  await fillSocialiteCaches(db, readers)
  for (const reader of readers) {
    const posts = await readNewestPosts(database, reader)
    const _c = posts.map(({ id, author, text }) => ({
      ...{ _id: toObjectId(id), _a: author, _m: text ?? '' },
    }))
    await socialiteCache(db).updateOne({ _id: reader }, { $set: { _c: _c.reverse() } })
  }
  const { send } = cacheStrategy(db)
  return {
    name: 'one document',
    server: await startServer(
      'bare-server.ts',
      {},
      { uri, name: db.databaseName, verifiesTokens: true, createdAt: true },
    ),
    readDatabaseCpuUs: () => readMongodCpuUs(database),
    addPost: async (text) => {
      const _id = toObjectId(services.mint.next<PostId>())
      const updates = readers.map((reader) => send({ _id, _a: hub, _m: text }, reader))
      await Promise.all(updates)
      return _id.toHexString()
    },
    waitUntilIdle: async () => {},
    page: (reader, fields) =>
      fields === 'immutable' ? { method: 'GET', headers: headersOf(reader) } : undefined,
    poll: undefined,
    conditionalPolls: undefined,
    profile: undefined,
    compose: undefined,
  }
}

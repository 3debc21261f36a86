import { toObjectId } from '../../src/db/object-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
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
import { type HttpRequest, type LoadName, loadNames, type Side, sendRequest } from './side.ts'

/** The number of posts of a page. */
export const pageSize = 50
/** The connections of all loads in closed loop. */
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

/** The processor time of a mongod, in microseconds. */
export async function readMongodCpuUs({ db }: Pick<BenchDatabase, 'db'>): Promise<number> {
  const { extra_info } = await db.admin().serverStatus()
  return extra_info.user_time_us + extra_info.system_time_us
}

/** High enough that no request of a benchmark is refused. */
const limit = '1000000000'

/** Starts Feedline's server as in production: with a line of log a request, and with rate limits. */
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
      ...{ AUTH_JWT_SECRET: tokenSecret, RATE_LIMIT_COST: limit, RATE_LIMIT_MUTATIONS: limit },
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

/** Opens a Feedline server as a side. */
export async function openFeedlineSide(
  database: BenchDatabase,
  strategy: ReadStrategy,
  { hub }: Audience,
  buildFolder: string,
): Promise<Side> {
  const start = () => startFeedline(database, strategy, buildFolder)
  const server = await start()
  return {
    ...{ name: strategy, server },
    promise:
      'durable, atomic, once for each clientMutationId, checks follows, mutes, blocks and accounts on each read',
    loads: new Set(Object.keys(loadNames) as LoadName[]),
    readDatabaseCpuUs: () => readMongodCpuUs(database),
    addPost: (text) => addPost(database, hub, text),
    waitUntilIdle: () => waitForEmptyOutbox(database.services),
    createPolls: (readers, newest) => createConditionalPolls(server, readers, newest),
    startNew: async (readers) => {
      await forgetReaders(database, readers)
      return start()
    },
    ...feedlineRequests,
  }
}

/** Deletes what earlier requests of readers have left: with CACHE, their timelines. */
async function forgetReaders(
  { services: { collections } }: BenchDatabase,
  readers: readonly string[],
): Promise<void> {
  await collections.timeline_cache.deleteMany({ _id: { $in: [...readers] } })
}

/** Sends each reader's poll by GET once, and asks for the same with the ETag of the answer. */
async function createConditionalPolls(server: Server, readers: readonly string[], newest: string) {
  const createPoll = async (reader: string): Promise<HttpRequest> => {
    const variables = JSON.stringify(pollOperation.variables(newest))
    const path = `/graphql?${new URLSearchParams({ query: pollDocument, variables })}`
    const headers = headersOf(reader)
    const { etag } = await sendRequest(server, { method: 'GET', path, headers })
    if (etag === null) throw new Error('the server answers no ETag, so a client cannot ask for 304')
    return { method: 'GET', path, headers: { ...headers, 'if-none-match': etag } }
  }
  const requests: HttpRequest[] = []
  for (const some of chunks(readers, connections))
    requests.push(...(await Promise.all(some.map(createPoll))))
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
    promise: 'checks nothing, has no posts and no counts',
    loads: new Set<LoadName>(['unchanged', 'changed']),
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
      fields === 'immutable' && readers.includes(reader as UserId)
        ? { method: 'GET', headers: headersOf(reader) }
        : undefined,
    createPolls: undefined,
    startNew: undefined,
    profile: undefined,
    compose: undefined,
  }
}

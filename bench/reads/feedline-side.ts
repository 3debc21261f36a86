import { postNodeId } from '../../src/graphql/node-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import type { BenchDatabase } from '../database.ts'
import { runDueJobs } from '../feeds/feeds-database.ts'
import { type Server, startServer } from '../feeds/http.ts'
import { waitForEmptyOutbox } from '../feeds/mixed-workload-systems.ts'
import { newIdEachTime, newKey } from '../idempotency.ts'
import { tokenSecret } from '../tokens.ts'
import { strategyEnv } from './data.ts'
import { page, pollOperation, readOperation } from './documents.ts'
import {
  connections,
  graphqlRequest,
  type HttpRequest,
  headersOf,
  pageSize,
  type Requests,
  type Side,
  sendRequest,
} from './side.ts'

/** Feedline, whose memory and log are measured too. */
export interface FeedlineSide extends Side {
  readonly name: FeedStrategyName
  /** Creates a post as a server does, in this process. */
  createPost(author: UserId, text: string): Promise<unknown>
  /** @param env variables of this server alone. Default: none. */
  start(readers: readonly UserId[], env?: Readonly<Record<string, string>>): Promise<Server>
}

/** The processor time of a mongod, in microseconds. */
export async function readMongodCpuUs({ db }: Pick<BenchDatabase, 'db'>): Promise<number> {
  const { extra_info } = await db.admin().serverStatus()
  return extra_info.user_time_us + extra_info.system_time_us
}

/** High enough that no request of a benchmark is refused. */
const limit = '1000000000'

/**
 * Starts Feedline's server as in production: with a line of log a request, and with rate limits.
 */
const startFeedline = (
  { uri, db }: BenchDatabase,
  strategy: FeedStrategyName,
  buildFolder: string,
  env: Readonly<Record<string, string>> = {},
) =>
  startServer(
    'feedline-server.ts',
    {
      ...strategyEnv(strategy),
      ...{ NODE_ENV: 'production', FEEDLINE_BUILT: buildFolder, PORT: '0', ADMIN_PORT: '0' },
      ...{ MONGODB_URI: uri, MONGODB_DATABASE: db.databaseName, DRAIN_SECONDS: '0' },
      ...{ AUTH_JWT_SECRET: tokenSecret, RATE_LIMIT_COST: limit, RATE_LIMIT_MUTATIONS: limit },
      ...env,
    },
    { port: true },
  )

const createPost =
  'mutation Compose($input: CreatePostInput!) { createPost(input: $input) { post { id } } }'
const likePost = 'mutation Like($input: LikePostInput!) { likePost(input: $input) { changed } }'
const followUser =
  'mutation Follow($input: FollowUserInput!) { followUser(input: $input) { changed } }'

const mutate = (user: UserId, document: string, input: object): HttpRequest =>
  graphqlRequest(user, document, { input: { ...input, clientMutationId: newIdEachTime } })

const requests: Requests = {
  empty: (user) => graphqlRequest(user, '{ __typename }', {}),
  page: (reader) => graphqlRequest(reader, page, { first: pageSize }),
  post: (author, text) => mutate(author, createPost, { text }),
  like: (user, post) => mutate(user, likePost, { postId: postNodeId(post) }),
  follow: (follower, followee) => mutate(follower, followUser, { user: { handle: followee } }),
}

const pollDocument = readOperation(pollOperation.name)

/** Opens a Feedline server as a side. */
export async function openFeedlineSide(
  database: BenchDatabase,
  strategy: FeedStrategyName,
  buildFolder: string,
): Promise<FeedlineSide> {
  const { services } = database
  const start = (env?: Readonly<Record<string, string>>) =>
    startFeedline(database, strategy, buildFolder, env)
  const servers = [await start()] as const
  const create: FeedlineSide['createPost'] = (author, text) =>
    services.posts.create(author, { text }, newKey(author, 'createPost'))
  return {
    ...{ name: strategy, servers, requests, pollStatus: 304, createPost: create },
    promise:
      'durable, atomic, once for each clientMutationId, checks follows, mutes, blocks and accounts on each read',
    readDatabaseCpuUs: () => readMongodCpuUs(database),
    addPost: async (author, text) => {
      const { id } = await services.posts.create(author, { text })
      await runDueJobs(services)
      await waitForEmptyOutbox(services)
      return id
    },
    waitUntilIdle: () => waitForEmptyOutbox(services),
    createPolls: (readers, newest) => createConditionalPolls({ servers }, readers, newest),
    start: async (readers, env) => {
      await forgetReaders(database, readers)
      return start(env)
    },
  }
}

/** Deletes what earlier requests of readers have left: with CACHE, their timelines. */
async function forgetReaders({ db }: BenchDatabase, readers: readonly UserId[]): Promise<void> {
  const caches = db.collection<{ _id: string }>('timeline_cache')
  await caches.deleteMany({ _id: { $in: [...readers] } })
}

/** Sends each reader's poll by GET once, and asks for the same with the ETag of the answer. */
async function createConditionalPolls(
  side: Pick<Side, 'servers'>,
  readers: readonly UserId[],
  newest: string,
): Promise<HttpRequest[]> {
  const createPoll = async (reader: UserId): Promise<HttpRequest> => {
    const variables = JSON.stringify(pollOperation.variables(newest))
    const path = `/graphql?${new URLSearchParams({ query: pollDocument, variables })}`
    const headers = headersOf(reader)
    const { etag } = await sendRequest(side, { method: 'GET', path, headers })
    if (etag === null) throw new Error('the server answers no ETag, so a client cannot ask for 304')
    return { method: 'GET', path, headers: { ...headers, 'if-none-match': etag } }
  }
  const polls: HttpRequest[] = []
  for (const some of chunks(readers, connections))
    polls.push(...(await Promise.all(some.map(createPoll))))
  return polls
}

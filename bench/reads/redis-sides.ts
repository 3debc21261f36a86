import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type Child, startChild } from '../child-process.ts'
import type { BenchDatabase } from '../database.ts'
import type { Graph } from '../feeds/graph.ts'
import { startServer } from '../feeds/http.ts'
import type { Audience } from './data.ts'
import { immutablePage, pageWithCounts, profile } from './documents.ts'
import { graphqlRequest, headersOf, pageSize } from './feedline-sides.ts'
import { fillRedis } from './rivals/redis-data.ts'
import { RedisFeed } from './rivals/redis-feed.ts'
import type { PageFields, Side } from './side.ts'

/** The sides on Redis. */
export const redisSideNames = {
  checkedApollo: 'Redis checked, Apollo',
  checkedPlain: 'Redis checked, plain',
  uncheckedPlain: 'Redis unchecked, plain',
} as const

/** Why there are no sides on Redis. */
export const redisMissing =
  'redis-server was not found, so the sides on Redis are skipped. Debian has it: apt-get install redis-server'

/** The sides on one Redis with the contents of `database`. @returns undefined without redis-server. */
export async function openRedisSides(
  database: BenchDatabase,
  graph: Graph,
  { hub }: Audience,
  opened: AsyncDisposable[],
): Promise<Side[] | undefined> {
  const child = await startChild(join(import.meta.dirname, 'rivals/redis-process.ts'))
  opened.push(child)
  const answer = await child.sendRequest<{ port: number; isMissing?: true }>({})
  if (answer.isMissing) return undefined
  const redisPort = answer.port
  await fillRedis(redisPort, database.services.collections, graph)
  const redis = new Redis({ port: redisPort })
  opened.push({ [Symbol.asyncDispose]: async () => redis.disconnect() })
  const feed = new RedisFeed(redis, true)
  const open = async (
    name: string,
    file: string,
    checks: boolean,
    requests: Pick<Side, 'page' | 'poll' | 'profile' | 'compose'>,
  ): Promise<Side> => {
    const path = `../reads/rivals/${file}`
    const server = await startServer(path, { NODE_ENV: 'production' }, { redisPort, checks })
    opened.push(server)
    return {
      ...{ name, server, ...requests },
      readDatabaseCpuUs: () => readRedisCpuUs(child),
      addPost: (text) => feed.createPost(hub, text),
      waitUntilIdle: async () => {},
      conditionalPolls: undefined,
    }
  }
  const { checkedApollo, checkedPlain, uncheckedPlain } = redisSideNames
  return [
    await open(checkedApollo, 'redis-apollo-server.ts', true, apolloRequests),
    await open(checkedPlain, 'redis-plain-server.ts', true, plainRequests),
    await open(uncheckedPlain, 'redis-plain-server.ts', false, plainRequests),
  ]
}

async function readRedisCpuUs(child: Child): Promise<number> {
  const { user, system } = await child.sendRequest<NodeJS.CpuUsage>({ cpu: true })
  return user + system
}

const pollDocument = `query Poll($first: Int!, $since: ID!) {
  timeline(first: $first, since: $since) {
    edges { node { id text createdAt author { handle } } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`
const pollSize = 20
const createPost = 'mutation Compose($text: String!) { createPost(text: $text) { post { id } } }'

const apolloRequests = {
  page: (reader: string, fields: PageFields) =>
    graphqlRequest(reader, fields === 'counts' ? pageWithCounts : immutablePage, {
      first: pageSize,
    }),
  poll: {
    request: (reader: string, since: string) =>
      graphqlRequest(reader, pollDocument, { first: pollSize, since }),
    statusWithoutNews: 200,
  },
  profile: (reader: string, handle: string) =>
    graphqlRequest(reader, profile('ID'), { handle, first: pageSize }),
  compose: (author: string, text: string) => graphqlRequest(author, createPost, { text }),
} as const

const get = (reader: string, path: string) =>
  ({ method: 'GET', path, headers: headersOf(reader) }) as const

const plainRequests = {
  page: (reader: string, fields: PageFields) =>
    get(reader, `/timeline?limit=${pageSize}&counts=${fields === 'counts'}`),
  poll: {
    request: (reader: string, since: string) =>
      get(reader, `/timeline?limit=${pollSize}&since=${since}`),
    statusWithoutNews: 304,
  },
  profile: (reader: string, author: string) =>
    get(reader, `/users/${author}/posts?limit=${pageSize}`),
  compose: (author: string, text: string) => ({
    ...({ method: 'POST', path: '/posts', headers: headersOf(author) } as const),
    body: JSON.stringify({ text }),
  }),
} as const

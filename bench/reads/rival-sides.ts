import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type Child, startChild } from '../child-process.ts'
import type { BenchDatabase } from '../database.ts'
import type { Graph } from '../feeds/graph.ts'
import { startServer } from '../feeds/http.ts'
import type { Audience } from './data.ts'
import { immutablePage, pageWithCounts, profile } from './documents.ts'
import { graphqlRequest, headersOf, pageSize } from './feedline-sides.ts'
import { rivalNames, rivalsMissing } from './rival-names.ts'
import type { RivalConfig } from './rivals/open-feed.ts'
import { fillPostgres } from './rivals/postgres-data.ts'
import { PostgresFeed } from './rivals/postgres-feed.ts'
import { fillRedis, firstVersion } from './rivals/redis-data.ts'
import { RedisFeed } from './rivals/redis-feed.ts'
import type { RivalFeed } from './rivals/rival-feed.ts'
import type { LoadName, PageFields, Side } from './side.ts'

const checked = 'checks follows, mutes, blocks and accounts on each read'

interface Rival {
  readonly name: string
  readonly file: string
  /** What is logged without its program. */
  readonly missing: string
  readonly promise: string
  /** Stores the contents of the database. @returns the servers' configuration, and a feed of this process. */
  readonly fill: (port: number) => Promise<{ config: RivalConfig; feed: RivalFeed & Closable }>
  readonly sides: readonly Pick<Side, 'name' | 'loads' | 'page' | 'profile' | 'compose'>[]
}

interface Closable {
  close(): Promise<void>
}

/** Starts the database of each rival with the contents of `database`, and its servers. Skips those that are missing. */
export async function openRivalSides(
  { services: { collections } }: BenchDatabase,
  graph: Graph,
  audience: Audience,
  opened: AsyncDisposable[],
  log: (line: string) => void,
): Promise<{ sides: Side[]; versions: string[] }> {
  const postgres: Rival = {
    name: 'PostgreSQL',
    file: 'postgres-process.ts',
    missing: rivalsMissing.postgres,
    promise: `durable, atomic, ${checked}`,
    fill: async (postgresPort) => {
      await fillPostgres(postgresPort, collections, graph)
      return { config: { postgresPort }, feed: PostgresFeed.open(postgresPort) }
    },
    sides: [
      apolloSide(rivalNames.postgresApollo, [
        ...(['mix', 'firstVisit', 'changed', 'kept', 'compose', 'openMix'] as const),
      ]),
      plainSide(rivalNames.postgresPlain, ['mix', 'firstVisit', 'compose']),
    ],
  }
  const redis: Rival = {
    name: 'Redis',
    file: 'redis-process.ts',
    missing: rivalsMissing.redis,
    promise: `durable, not atomic, ${checked}`,
    fill: async (redisPort) => {
      await fillRedis(redisPort, collections, graph)
      const client = new Redis({ port: redisPort })
      // Its commands fail with the error.
      client.on('error', () => {})
      const feed = new RedisFeed(client)
      const close = async () => client.disconnect()
      return { config: { redisPort }, feed: Object.assign(feed, { close }) }
    },
    sides: [
      apolloSide(rivalNames.redisApollo, ['mix', 'firstVisit', 'kept', 'openMix']),
      plainSide(rivalNames.redisPlain, [
        ...(['mix', 'changed', 'unchanged', 'poll304', 'pollNews', 'compose'] as const),
      ]),
    ],
  }
  const all: Awaited<ReturnType<typeof openRival>>[] = []
  for (const rival of [postgres, redis]) {
    log(`storing the same contents in ${rival.name}`)
    const rivalSides = await openRival(rival, audience, opened)
    if (!rivalSides) log(rival.missing)
    all.push(rivalSides)
  }
  return {
    sides: all.flatMap((rival) => rival?.sides ?? []),
    versions: all.flatMap((rival) => rival?.version ?? []),
  }
}

/** @returns undefined without the program of its database. */
async function openRival(
  { name, file, promise, fill, sides }: Rival,
  { hub }: Audience,
  opened: AsyncDisposable[],
): Promise<{ sides: Side[]; version: string } | undefined> {
  const child = await startChild(join(import.meta.dirname, 'rivals', file))
  opened.push(child)
  const answer = await child.sendRequest<{ port: number; version: string; isMissing?: true }>({})
  if (answer.isMissing) return undefined
  const { config, feed } = await fill(answer.port)
  opened.push({ [Symbol.asyncDispose]: () => feed.close() })
  const all: Side[] = []
  for (const side of sides) {
    const program = side.name.endsWith('Apollo') ? 'apollo-server.ts' : 'plain-server.ts'
    const path = `../reads/rivals/${program}`
    const server = await startServer(path, { NODE_ENV: 'production' }, config)
    opened.push(server)
    const polls = side.loads.has('poll304')
    all.push({
      ...{ ...side, server, promise },
      readDatabaseCpuUs: () => readCpuUs(child),
      addPost: (text) => feed.createPost(hub, text),
      waitUntilIdle: async () => {},
      createPolls: polls ? async (readers, newest) => createPolls(readers, newest) : undefined,
      startNew: undefined,
    })
  }
  return { sides: all, version: `${name} ${answer.version}` }
}

async function readCpuUs(child: Child): Promise<number> {
  const { user, system } = await child.sendRequest<NodeJS.CpuUsage>({ cpu: true })
  return user + system
}

const createPost = 'mutation Compose($text: String!) { createPost(text: $text) { post { id } } }'

const apolloSide = (name: string, loads: readonly LoadName[]): Rival['sides'][number] => ({
  name,
  loads: new Set(loads),
  page: (reader: string, fields: PageFields) =>
    graphqlRequest(reader, fields === 'counts' ? pageWithCounts : immutablePage, {
      first: pageSize,
    }),
  profile: (reader: string, handle: string) =>
    graphqlRequest(reader, profile('ID'), { handle, first: pageSize }),
  compose: (author: string, text: string) => graphqlRequest(author, createPost, { text }),
})

const get = (reader: string, path: string) =>
  ({ method: 'GET', path, headers: headersOf(reader) }) as const

const plainSide = (name: string, loads: readonly LoadName[]): Rival['sides'][number] => ({
  name,
  loads: new Set(loads),
  page: (reader: string, fields: PageFields) =>
    get(reader, `/timeline?limit=${pageSize}&counts=${fields === 'counts'}`),
  profile: (reader: string, author: string) =>
    get(reader, `/users/${author}/posts?limit=${pageSize}`),
  compose: (author: string, text: string) => ({
    ...({ method: 'POST', path: '/posts', headers: headersOf(author) } as const),
    body: JSON.stringify({ text }),
  }),
})

/** The number of posts of a poll. */
const pollSize = 20

const createPolls = (readers: readonly string[], newest: string) =>
  readers.map((reader) =>
    get(reader, `/timeline?limit=${pollSize}&since=${newest}&version=${firstVersion}`),
  )

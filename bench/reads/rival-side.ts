import { join } from 'node:path'
import { startChild } from '../child-process.ts'
import type { BenchDatabase } from '../database.ts'
import type { Graph } from '../feeds/graph.ts'
import { startServer } from '../feeds/http.ts'
import { page } from './documents.ts'
import { fillPostgres } from './rivals/postgres-data.ts'
import { PostgresFeed } from './rivals/postgres-feed.ts'
import { graphqlRequest, pageSize, type Requests, type Side } from './side.ts'

/** The name of the rival's side. */
export const rivalName = 'PostgreSQL, Apollo'

/** Why there is no rival. */
export const rivalMissing =
  'PostgreSQL was not found, so its side is skipped. Debian has it: apt-get install postgresql'

const createPost = 'mutation Compose($text: String!) { createPost(text: $text) { post { id } } }'
const likePost = 'mutation Like($post: ID!) { likePost(post: $post) { changed } }'
const followUser = 'mutation Follow($user: ID!) { followUser(user: $user) { changed } }'
const poll = `query Poll($since: ID!) {
  timelineNews(since: $since) { count hasMore authors { id handle name } pollCursor }
}`

const requests: Requests = {
  empty: (user) => graphqlRequest(user, '{ __typename }', {}),
  page: (reader) => graphqlRequest(reader, page, { first: pageSize }),
  post: (author, text) => graphqlRequest(author, createPost, { text }),
  like: (user, { id }) => graphqlRequest(user, likePost, { post: id }),
  follow: (follower, followee) => graphqlRequest(follower, followUser, { user: followee }),
}

/**
 * Starts PostgreSQL with the contents of `database`, and its server.
 * @returns undefined without the program of PostgreSQL.
 */
export async function openRivalSide(
  { services: { collections } }: BenchDatabase,
  graph: Graph,
  opened: AsyncDisposable[],
): Promise<{ side: Side; version: string } | undefined> {
  const child = await startChild(join(import.meta.dirname, 'rivals/postgres-process.ts'))
  opened.push(child)
  const answer = await child.sendRequest<{ port: number; version: string; isMissing?: true }>({})
  if (answer.isMissing) return undefined
  const { port, version } = answer
  await fillPostgres(port, collections, graph)
  const feed = PostgresFeed.open(port)
  opened.push({ [Symbol.asyncDispose]: () => feed.close() })
  const start = () =>
    startServer('../reads/rivals/apollo-server.ts', { NODE_ENV: 'production' }, { port })
  const servers = [await start()]
  opened.push(...servers)
  const side: Side = {
    ...{ name: rivalName, servers, requests, pollStatus: 200, start },
    promise: 'durable, atomic, checks follows, mutes, blocks and accounts on each read',
    readDatabaseCpuUs: async () => {
      const { user, system } = await child.sendRequest<NodeJS.CpuUsage>({ cpu: true })
      return user + system
    },
    addPost: (author, text) => feed.createPost(author, text),
    waitUntilIdle: async () => {},
    createPolls: async (readers, newest) =>
      readers.map((reader) => graphqlRequest(reader, poll, { since: newest })),
  }
  return { side, version: `PostgreSQL ${version}` }
}

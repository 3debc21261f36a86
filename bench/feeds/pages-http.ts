import { join } from 'node:path'
import { BSON } from 'mongodb'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { type Child, startChild } from '../child-process.ts'
import type { BenchDatabase } from '../database.ts'
import { recordCommands } from './command-recorder.ts'
import { feedEnv, openMonitored } from './feeds-database.ts'
import {
  loadServer,
  type PageAnswer,
  requestPage,
  type Server,
  type ServerLoadResult,
  startServer,
  toRequest,
} from './http.ts'
import type { LoadJob } from './load-process.ts'
import { loadName, pageNumbers, type Reader, readPage, verifyPosts } from './pages.ts'

export type HttpResults = Readonly<Record<string, ServerLoadResult>>

/**
 * All servers of the HTTP benchmark, and the process that loads them. Disposing of it stops all.
 */
export interface HttpBenchmark extends AsyncDisposable {
  /** Loads each server for `ms` milliseconds. */
  warmUp(ms: number): Promise<void>
  /** Measures one round. */
  measureRound(ms: number): Promise<HttpResults>
}

/** A server, and the requests that load it. */
interface Target {
  readonly name: string
  readonly server: Server
  readonly requests: LoadJob['requests']
}

/**
 * Starts the server, a process for the load, and the rivals. A bare handler each for CACHE and
 * INBOX sends the same commands. Compares each page with fan-out on read before it is measured.
 */
export async function openHttpBenchmark(
  database: BenchDatabase,
  readers: readonly Reader[],
  buildFolder: string,
): Promise<HttpBenchmark> {
  const opened: AsyncDisposable[] = []
  const close = async () => {
    for (const part of opened.reverse()) await part[Symbol.asyncDispose]()
  }
  try {
    const load = await startChild(join(import.meta.dirname, 'load-process.ts'))
    opened.push(load)
    const targets: Target[] = []
    for await (const target of openTargets(database, readers, buildFolder, opened))
      targets.push(target)
    return {
      warmUp: (ms) => warmUpTargets(load, targets, ms),
      measureRound: (ms) => measureTargets(load, targets, ms),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function warmUpTargets(load: Child, targets: readonly Target[], ms: number): Promise<void> {
  for (const { server, requests } of targets) {
    const share = ms / targets.filter((target) => target.server === server).length
    await load.sendRequest({
      ...{ port: server.port, requests, connections: 16, ms: share },
    } satisfies LoadJob)
  }
}

async function measureTargets(
  load: Child,
  targets: readonly Target[],
  ms: number,
): Promise<HttpResults> {
  const loads: Record<string, ServerLoadResult> = {}
  for (const { name, server, requests } of targets) {
    loads[name] = await loadServer(load, server, requests, ms)
  }
  return loads
}

async function* openTargets(
  database: BenchDatabase,
  readers: readonly Reader[],
  buildFolder: string,
  opened: AsyncDisposable[],
): AsyncGenerator<Target> {
  const { uri } = database
  const name = database.db.databaseName
  const start = async (file: string, env: Record<string, string>, message: object) => {
    const server = await startServer(file, env, message)
    opened.push(server)
    return server
  }
  const at = { MONGODB_URI: uri, MONGODB_DATABASE: name, PORT: '0' }
  const feedline = await start(
    'feedline-server.ts',
    { ...feedEnv, ...at, FEEDLINE_BUILT: buildFolder },
    { port: true },
  )
  const cursors = await readTenthPageCursors(feedline, readers)
  for (const strategy of feedStrategyNames) {
    for (const number of pageNumbers) {
      const requests = readers.map(({ handle: reader }) => ({
        ...{ reader, strategy, after: number === 1 ? undefined : cursors.get(reader) },
      }))
      for (const page of requests) {
        const expected = await requestPage(feedline.port, { ...page, strategy: 'FANOUT_ON_READ' })
        verifyPosts(
          loadName(strategy, number),
          formatPosts(await requestPage(feedline.port, page)),
          formatPosts(expected),
        )
      }
      yield {
        name: loadName(strategy, number),
        server: feedline,
        requests: requests.map(toRequest),
      }
    }
  }
  for (const strategy of ['CACHE', 'INBOX'] as const) {
    const pages = await recordPageCommands(database, readers, strategy)
    const bare = await start('bare-server.ts', {}, { uri, name, pages })
    const requests = readers.map(({ handle: reader }) => ({ reader, strategy }))
    for (const page of requests) {
      const [actual, expected] = [
        await requestPage(bare.port, page),
        await requestPage(feedline.port, page),
      ]
      verifyPosts(`bare ${strategy}`, formatPosts(actual).sort(), formatPosts(expected).sort())
    }
    yield { name: `bare ${strategy}`, server: bare, requests: requests.map(toRequest) }
  }
}

const formatPosts = ({ edges }: PageAnswer) =>
  edges.map(({ node }) => `${node.author.handle}: ${node.text}`)

/** Reads the cursor at the end of each reader's ninth page. */
async function readTenthPageCursors(server: Server, readers: readonly Reader[]) {
  const cursors = new Map<string, string>()
  for (const { handle: reader } of readers) {
    let after: string | undefined
    for (let page = 1; page < 10; page++) {
      const request = { reader, strategy: 'FANOUT_ON_READ', after } as const
      after = (await requestPage(server.port, request)).pageInfo.endCursor
    }
    if (after) cursors.set(reader, after)
  }
  return cursors
}

/** Records the commands of each reader's first page. @returns them as EJSON. */
async function recordPageCommands(
  database: BenchDatabase,
  readers: readonly Reader[],
  strategy: FeedStrategyName,
): Promise<string> {
  await using monitored = await openMonitored(database)
  const pages: [string, unknown][] = []
  for (const { handle } of readers) {
    const page = () => readPage(monitored, handle, strategy, undefined)
    await page()
    pages.push([handle, await recordCommands(monitored, page)])
  }
  return BSON.EJSON.stringify(Object.fromEntries(pages), { relaxed: false })
}

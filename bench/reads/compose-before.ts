import { setTimeout as sleep } from 'node:timers/promises'
import { permitKind } from '../../src/feed/registry/permits.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Child } from '../child-process.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import type { Graph } from '../feeds/graph.ts'
import type { Server } from '../feeds/http.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import type { BenchOptions } from '../options.ts'
import { buildServerBefore } from './build-before.ts'
import { postText } from './compose.ts'
import { strategyEnv } from './data.ts'
import { feedlineRequests, readMongodCpuUs, startFeedline } from './feedline-sides.ts'

/** The processor time of server and database for a post, in microseconds, now and before. */
export interface ComposeCpu {
  readonly now: number
  readonly before: number
}

/** One round, with one client and with sixteen. */
export interface ComposeCpuRound {
  readonly alone: ComposeCpu
  readonly sixteen: ComposeCpu
}

/** The rounds, or why the earlier server could not be measured. */
export type ComposeBefore =
  | { readonly rounds: readonly ComposeCpuRound[] }
  | { readonly reason: string }

interface Version {
  readonly server: Server
  readonly waitUntilIdle: () => Promise<void>
}

/** Collections with the same form in both versions. Each server creates the others. */
const sharedCollections = ['users', 'user_stats', 'followers', 'following', 'posts']

/**
 * Compares the processor time of posts to about forty followers under INBOX with the server of an earlier commit. Both
 * run at the same time on one mongod, each with a copy of the same data, and are loaded in turn.
 */
export async function measureComposeBefore(
  graph: Graph,
  composers: readonly UserId[],
  load: Child,
  buildFolder: string,
  { rounds: count, ms, log }: BenchOptions,
): Promise<ComposeBefore> {
  const opened: AsyncDisposable[] = []
  try {
    const built = await buildServerBefore()
    opened.push(built)
    const database = await openBenchDatabase(log, strategyEnv('INBOX'))
    opened.push(database)
    await storeGraph(database, graph)
    await storePosts(database, graph.users, 8)
    const folders = { now: buildFolder, before: built.folder }
    const open = (name: keyof typeof folders) => openVersion(database, name, folders[name], opened)
    const versions = { now: await open('now'), before: await open('before') }
    const requests = composers.map((author) => feedlineRequests.compose(author, postText))
    const measure = (version: Version, connections: number, loadMs: number) =>
      measureCpuPerPost(database, version, load, { requests, connections, ms: loadMs })
    for (const version of Object.values(versions)) {
      await measure(version, 16, ms)
      await measure(version, 1, ms)
    }
    const rounds: ComposeCpuRound[] = []
    for (let round = 1; round <= count; round++) {
      log(`round ${round} of ${count}: posts, now and before`)
      const compare = async (connections: number): Promise<ComposeCpu> => {
        const order = round % 2 === 1 ? (['now', 'before'] as const) : (['before', 'now'] as const)
        const result: Record<string, number> = {}
        for (const name of order) result[name] = await measure(versions[name], connections, ms)
        return result as unknown as ComposeCpu
      }
      rounds.push({ alone: await compare(1), sixteen: await compare(16) })
    }
    return { rounds }
  } catch (error) {
    log(`the earlier server was not measured: ${error}`)
    return { reason: `The earlier server could not be built or started: ${error}`.slice(0, 300) }
  } finally {
    for (const part of opened.toReversed()) await part[Symbol.asyncDispose]()
  }
}

/** Copies the data into a database of its own, and starts a server on it. */
async function openVersion(
  database: BenchDatabase,
  name: string,
  folder: string,
  opened: AsyncDisposable[],
): Promise<Version> {
  const { client, uri } = database
  const db = client.db(`${database.db.databaseName}_${name}`)
  opened.push({ [Symbol.asyncDispose]: async () => void (await db.dropDatabase()) })
  for (const coll of sharedCollections) {
    const out = { $out: { db: db.databaseName, coll } }
    await database.db.collection(coll).aggregate([out]).toArray()
  }
  const server = await startFeedline({ uri, db }, 'INBOX', folder)
  opened.push(server)
  const outbox = db.collection('outbox')
  const waitUntilIdle = async () => {
    while (await outbox.findOne({ kind: { $ne: permitKind } })) await sleep(5)
  }
  await waitUntilIdle()
  return { server, waitUntilIdle }
}

/** @returns the processor time of server and database for a post and its deliveries, in microseconds. */
async function measureCpuPerPost(
  database: BenchDatabase,
  { server, waitUntilIdle }: Version,
  load: Child,
  job: Omit<LoadJob, 'port'>,
): Promise<number> {
  const read = async () => (await server.readCpuTimeUs()) + (await readMongodCpuUs(database))
  const begin = await read()
  const { count } = await load.sendRequest<HttpLoadResult>({ ...job, port: server.port })
  await waitUntilIdle()
  return ((await read()) - begin) / count
}

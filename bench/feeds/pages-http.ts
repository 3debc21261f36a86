import { join } from 'node:path'
import { BSON } from 'mongodb'
import { type FeedStrategyName, feedStrategyNames } from '../../src/feed/strategies/list.ts'
import { type Child, startChild } from '../children.ts'
import type { BenchDatabase } from '../database.ts'
import { commandsOf } from './commands.ts'
import {
  askPage,
  loadServer,
  type PageAnswer,
  requestOf,
  type Server,
  type ServerLoad,
  startServer,
} from './http.ts'
import { feedEnv, openWatched } from './ours.ts'
import { check, nameOf, pageNumbers, pageOf, type Reader } from './pages.ts'

export type HttpLoads = Readonly<Record<string, ServerLoad>>

/** Everything that answers over HTTP, for as long as it is not disposed of. */
export interface HttpSide extends AsyncDisposable {
  /** One round. */
  measure(ms: number): Promise<HttpLoads>
}

/** What is loaded, with what. */
interface Target {
  readonly name: string
  readonly server: Server
  readonly requests: readonly string[]
}

/**
 * Starts the server, beside it a bare handler for each of CACHE and INBOX that sends the same commands, and one that reads
 * one document, each a process; loads come from one more. Every page is compared before it is measured.
 */
export async function openHttp(
  database: BenchDatabase,
  readers: readonly Reader[],
  built: string,
): Promise<HttpSide> {
  const open: AsyncDisposable[] = []
  const close = async () => {
    for (const one of open.reverse()) await one[Symbol.asyncDispose]()
  }
  try {
    const load = await startChild(join(import.meta.dirname, 'load-child.ts'))
    open.push(load)
    const targets: Target[] = []
    for await (const target of targetsOf(database, readers, built, open)) targets.push(target)
    return { measure: (ms) => measure(load, targets, ms), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function measure(load: Child, targets: readonly Target[], ms: number): Promise<HttpLoads> {
  const loads: Record<string, ServerLoad> = {}
  for (const { name, server, requests } of targets) {
    loads[name] = await loadServer(load, server, requests, ms)
  }
  return loads
}

async function* targetsOf(
  database: BenchDatabase,
  readers: readonly Reader[],
  built: string,
  open: AsyncDisposable[],
): AsyncGenerator<Target> {
  const { uri } = database
  const name = database.db.databaseName
  const start = async (file: string, env: Record<string, string>, message: object) => {
    const server = await startServer(file, env, message)
    open.push(server)
    return server
  }
  const at = { MONGODB_URI: uri, MONGODB_DATABASE: name, PORT: '0' }
  const ours = await start(
    'serve-child.ts',
    { ...feedEnv, ...at, FEEDLINE_BUILT: built },
    { port: true },
  )
  const cursors = await tenthCursors(ours, readers)
  for (const strategy of feedStrategyNames) {
    for (const number of pageNumbers) {
      const asked = readers.map(({ handle: reader }) => ({
        ...{ reader, strategy, after: number === 1 ? undefined : cursors.get(reader) },
      }))
      for (const page of asked) {
        const wanted = await askPage(ours.port, { ...page, strategy: 'FANOUT_ON_READ' })
        check(nameOf(strategy, number), shown(await askPage(ours.port, page)), shown(wanted))
      }
      yield { name: nameOf(strategy, number), server: ours, requests: asked.map(requestOf) }
    }
  }
  for (const strategy of ['CACHE', 'INBOX'] as const) {
    const pages = await recorded(database, readers, strategy)
    const bare = await start('bare-child.ts', {}, { uri, name, pages })
    const asked = readers.map(({ handle: reader }) => ({ reader, strategy }))
    for (const page of asked) {
      const [found, wanted] = [await askPage(bare.port, page), await askPage(ours.port, page)]
      check(`bare ${strategy}`, shown(found).sort(), shown(wanted).sort())
    }
    yield { name: `bare ${strategy}`, server: bare, requests: asked.map(requestOf) }
  }
  const one = await start('bare-child.ts', {}, { uri, name })
  const asked = readers.map(({ handle: reader }) => ({ reader, strategy: 'CACHE' as const }))
  for (const page of asked) {
    const { length } = (await askPage(one.port, page)).edges
    if (length !== 50) throw new Error(`one document: ${length} posts`)
  }
  yield { name: 'one document', server: one, requests: asked.map(requestOf) }
}

const shown = ({ edges }: PageAnswer) =>
  edges.map(({ node }) => `${node.author.handle}: ${node.text}`)

/** The cursor at the end of each reader's ninth page. */
async function tenthCursors(server: Server, readers: readonly Reader[]) {
  const cursors = new Map<string, string>()
  for (const { handle: reader } of readers) {
    let after: string | undefined
    for (let page = 1; page < 10; page++) {
      const asked = { reader, strategy: 'FANOUT_ON_READ', after } as const
      after = (await askPage(server.port, asked)).pageInfo.endCursor
    }
    if (after) cursors.set(reader, after)
  }
  return cursors
}

/** What the service sends to the database for each reader's first page, as EJSON. */
async function recorded(
  database: BenchDatabase,
  readers: readonly Reader[],
  strategy: FeedStrategyName,
): Promise<string> {
  await using watched = await openWatched(database)
  const pages: [string, unknown][] = []
  for (const { handle } of readers) {
    const page = () => pageOf(watched, handle, strategy, undefined)
    await page()
    pages.push([handle, await commandsOf(watched, page)])
  }
  return BSON.EJSON.stringify(Object.fromEntries(pages), { relaxed: false })
}

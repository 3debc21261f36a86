import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/lib/root.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { bundle } from '../bundle.ts'
import { startChild } from '../child-process.ts'
import type { HttpLoadResult, LoadJob } from './load-process.ts'

/** A server in a separate process. */
export interface Server extends AsyncDisposable {
  readonly port: number
  /** The processor time of the process in microseconds, in user and system mode. */
  readCpuTimeUs(): Promise<number>
  /** The resident memory of the process as it is, in bytes. Only Feedline's server answers it. */
  readRss(): Promise<number>
}

/** The options of Node with which `npm start` starts Feedline's server. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return scripts.start.split(' ').filter((word: string) => word.startsWith('--'))
}

/**
 * Starts the server at `file`, relative to this folder, as compiled JavaScript. Its process must
 * answer `message` with the port.
 */
export async function startServer(
  file: string,
  env: Readonly<Record<string, string>>,
  message: object,
): Promise<Server> {
  const flags = env.FEEDLINE_BUILT === undefined ? [] : startFlags()
  const child = await startChild(await bundle(join(import.meta.dirname, file)), env, flags)
  const { port } = await child.sendRequest<{ port: number }>(message)
  return {
    port,
    readCpuTimeUs: async () => {
      const { user, system } = await child.sendRequest<NodeJS.CpuUsage>({ cpu: true })
      return user + system
    },
    readRss: async () => (await child.sendRequest<{ rss: number }>({ rss: true })).rss,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

/** A page of 50 posts with text and author. */
const query = `query Page($after: String, $strategy: FeedStrategy) {
  timeline(first: 50, after: $after, strategy: $strategy) {
    edges { node { id text author { handle } } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`

/** The viewer and the variables of a page. */
export interface PageRequest {
  readonly reader: string
  readonly strategy: FeedStrategyName
  readonly after?: string | undefined
}

const formatBody = ({ strategy, after }: PageRequest) =>
  JSON.stringify({ query, variables: { strategy, after } })

/** The headers and the body of the request for a page. */
export const toRequest = (page: PageRequest): LoadJob['requests'][number] => ({
  headers: { 'content-type': 'application/json', authorization: `Dev ${page.reader}` },
  body: formatBody(page),
})

/** The timeline in an answer. */
export interface PageAnswer {
  readonly edges: readonly {
    readonly node: {
      readonly id: string
      readonly text: string
      readonly author: { readonly handle: string }
    }
    readonly cursor: string
  }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string }
}

/** Requests one page. @throws if the answer has errors or no timeline. */
export async function requestPage(port: number, request: PageRequest): Promise<PageAnswer> {
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Dev ${request.reader}` },
    body: formatBody(request),
  })
  const { data, errors } = (await answer.json()) as {
    data?: { timeline: PageAnswer }
    errors?: unknown
  }
  if (!data?.timeline || errors)
    throw new Error(`the answer has no page: ${JSON.stringify(errors)}`)
  return data.timeline
}

/** The result of a load, with the processor time per request in the server, in microseconds. */
export interface ServerLoadResult extends HttpLoadResult {
  readonly cpuUs: number
}

/**
 * Loads a server over 16 connections for `ms` milliseconds, after a warm-up of a third of that
 * time.
 */
export async function loadServer(
  load: { sendRequest<Result>(message: LoadJob): Promise<Result> },
  server: Server,
  requests: LoadJob['requests'],
  ms: number,
): Promise<ServerLoadResult> {
  const job: LoadJob = { port: server.port, requests, connections: 16, ms }
  await load.sendRequest<HttpLoadResult>({ ...job, ms: ms / 3 })
  const before = await server.readCpuTimeUs()
  const measured = await load.sendRequest<HttpLoadResult>(job)
  return { ...measured, cpuUs: ((await server.readCpuTimeUs()) - before) / measured.count }
}

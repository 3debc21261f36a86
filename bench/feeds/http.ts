import { join } from 'node:path'
import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import { startChild } from '../children.ts'
import type { HttpLoad, LoadJob } from './load-child.ts'

/** A server in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly port: number
  /** Microseconds of processor time so far, the system's counted in. */
  cpu(): Promise<number>
}

/** Starts a server; its process answers `message` with the port. */
export async function startServer(
  file: string,
  env: Readonly<Record<string, string>>,
  message: object,
): Promise<Server> {
  const child = await startChild(join(import.meta.dirname, file), env)
  const { port } = await child.ask<{ port: number }>(message)
  return {
    port,
    cpu: async () => {
      const { user, system } = await child.ask<NodeJS.CpuUsage>({ cpu: true })
      return user + system
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

/** The page that is asked for: 50 posts with text and author. */
const query = `query Page($after: String, $strategy: FeedStrategy) {
  timeline(first: 50, after: $after, strategy: $strategy) {
    edges { node { id text author { handle } } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`

/** What asks for a page. */
export interface PageRequest {
  readonly reader: string
  readonly strategy: FeedStrategyName
  readonly after?: string | undefined
}

const bodyOf = ({ strategy, after }: PageRequest) =>
  JSON.stringify({ query, variables: { strategy, after } })

/** A whole request, as it goes over the wire. */
export function requestOf(request: PageRequest): string {
  const body = bodyOf(request)
  return [
    'POST /graphql HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Dev ${request.reader}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

/** A page as it is answered. */
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

/** Asks for one page and reads the answer. */
export async function askPage(port: number, request: PageRequest): Promise<PageAnswer> {
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Dev ${request.reader}` },
    body: bodyOf(request),
  })
  const { data, errors } = (await answer.json()) as {
    data?: { timeline: PageAnswer }
    errors?: unknown
  }
  if (!data?.timeline || errors) throw new Error(`no page: ${JSON.stringify(errors)}`)
  return data.timeline
}

/** A load, and what one request of it cost the server, in microseconds. */
export interface ServerLoad extends HttpLoad {
  readonly cpuUs: number
}

/** Loads a server over 16 connections for so long, after a third of that unmeasured. */
export async function loadServer(
  load: { ask<Answer>(message: LoadJob): Promise<Answer> },
  server: Server,
  requests: readonly string[],
  ms: number,
): Promise<ServerLoad> {
  const job: LoadJob = { port: server.port, requests, connections: 16, ms }
  await load.ask<HttpLoad>({ ...job, ms: ms / 3 })
  const before = await server.cpu()
  const measured = await load.ask<HttpLoad>(job)
  return { ...measured, cpuUs: ((await server.cpu()) - before) / measured.count }
}

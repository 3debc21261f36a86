import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child-process.ts'
import { postText } from '../feeds/bulk-data.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import type { LoadResult } from '../load.ts'
import { quantile } from '../statistics.ts'
import type { Audience, Subjects } from './audience.ts'
import { connections, type HttpRequest, readPage, type Side } from './side.ts'

/**
 * The result of a load, with the processor time of servers and database per request, in
 * microseconds.
 */
export interface ReadResult extends LoadResult {
  readonly count: number
  readonly serverUs: number
  readonly databaseUs: number
  readonly bytes: number
}

/** A side in one round. */
export interface Visit {
  readonly side: Side
  /** The side on a process that has started in this round. */
  readonly fresh: Side
  readonly load: Child
  readonly audience: Audience & Subjects
  /** The number of the round, from 0, and how many there are. */
  readonly round: number
  readonly rounds: number
  /** The size of contents and loads. */
  readonly sizeOf: (standard: number, smallest: number) => number
  readonly warmUpMs: number
}

/** What each answer is. */
export type Expected = Pick<LoadJob, 'status' | 'answer'>

/** How long a server may go on with requests whose connections are closed, in milliseconds. */
const cutOffMs = 200

/** Sends each request once. @returns when all are answered and delivered. */
const sendAll = async (
  { side, load }: Pick<Visit, 'side' | 'load'>,
  requests: readonly HttpRequest[],
  expected: Expected = {},
): Promise<HttpLoadResult> => {
  const sent = await load.sendRequest<HttpLoadResult>({
    ...{ port: side.servers.map(({ port }) => port), requests, ms: 0, amount: requests.length },
    ...{ connections: Math.min(connections, requests.length), ...expected },
  } satisfies LoadJob)
  const begin = performance.now()
  await side.waitUntilIdle()
  return { ...sent, seconds: sent.seconds + (performance.now() - begin) / 1_000 }
}

/**
 * Measures batches of requests, each sent once. What a generator of batches does between them is
 * not measured. Rate and processor time include all deliveries.
 */
export async function measure(
  visit: Pick<Visit, 'side' | 'load'>,
  batches: Iterable<readonly HttpRequest[]> | AsyncIterable<readonly HttpRequest[]>,
  expected?: Expected,
): Promise<ReadResult> {
  const { side } = visit
  const readCpu = async () => {
    const servers = await Promise.all(side.servers.map((server) => server.readCpuTimeUs()))
    return {
      server: servers.reduce((sum, us) => sum + us),
      database: await side.readDatabaseCpuUs(),
    }
  }
  const latenciesMs: number[] = []
  let [seconds, serverUs, databaseUs, bytes] = [0, 0, 0, 0]
  for await (const requests of batches) {
    const before = await readCpu()
    const sent = await sendAll(visit, requests, expected)
    const after = await readCpu()
    latenciesMs.push(...(sent.latenciesMs ?? []))
    seconds += sent.seconds
    bytes = sent.bytes
    serverUs += after.server - before.server
    databaseUs += after.database - before.database
  }
  const count = latenciesMs.length
  return {
    perSecond: count / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    ...{ count, bytes, serverUs: serverUs / count, databaseUs: databaseUs / count },
  }
}

/** Sends each request once, and measures nothing. */
export async function sendOnce(visit: Visit, requests: readonly HttpRequest[]): Promise<void> {
  await sendAll(visit, requests)
}

/** Sends requests in turn for a time. They may be cut off at its end. */
export async function sendFor(
  ms: number,
  { side, load }: Pick<Visit, 'side' | 'load'>,
  requests: readonly HttpRequest[],
): Promise<void> {
  const port = side.servers.map((server) => server.port)
  await load.sendRequest<HttpLoadResult>({ port, requests, connections, ms } satisfies LoadJob)
  await sleep(cutOffMs)
  await side.waitUntilIdle()
}

let postsAdded = 0

/**
 * Adds a post of the hub in another process. @returns its id. @throws unless a reader's next page
 * begins with it.
 */
export async function addVisiblePost({ side, audience }: Visit): Promise<string> {
  const { hub, readers } = audience
  const text = postText(1_000_000 + postsAdded++)
  const id = await side.addPost(hub, text)
  const reader = readers[postsAdded % readers.length] ?? hub
  const [first] = await readPage(side, reader)
  if (first?.id !== id || first.text !== text)
    throw new Error(`${side.name}: the newest post of ${reader} is ${first?.id}, not ${id}`)
  return id
}

import type { Child } from '../child-process.ts'
import { postText } from '../feeds/bulk-data.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import type { LoadResult } from '../load.ts'
import { quantile } from '../statistics.ts'
import type { Audience } from './data.ts'
import { type HttpRequest, readPagePosts, type Side } from './side.ts'

/** The result of a load, with the processor time of server and database per request, in microseconds. */
export interface ReadResult extends LoadResult {
  readonly count: number
  readonly serverUs: number
  readonly databaseUs: number
  readonly bytes: number
}

/** The loads of a round, by name. `page unchanged` and `poll` repeat with each further number of connections. */
export const loadNames = {
  pageUnchanged: 'page, nothing changed',
  pageChanged: 'page, changed before each request',
  pageWithCounts: 'page with counts and flags',
  poll: 'poll, nothing new',
  poll304: 'poll, 304',
  pollNews: 'poll, one new post',
  pollAlone: 'poll, nothing new, one connection',
} as const

/** The name of a load with a number of connections other than the first. */
export const withConnections = (name: string, connections: number) =>
  `${name}, ${connections} connections`

/** What a round needs. */
export interface LoadContext {
  readonly load: Child
  readonly audience: Audience
  readonly ms: number
  /** The numbers of connections. All loads take the first one. */
  readonly connections: readonly number[]
}

export type SideResults = Readonly<Record<string, ReadResult>>

let postsAdded = 0

/** Adds a post of the hub. @returns its id. @throws unless it is the first post of a reader's next page. */
export async function addVisiblePost(side: Side, { readers }: Audience): Promise<string> {
  const text = postText(1_000_000 + postsAdded++)
  const id = await side.addPost(text)
  const reader = readers[postsAdded % readers.length] ?? ''
  const [first] = await readPagePosts(side, reader, 'immutable')
  if (first?.id !== id || first.text !== text)
    throw new Error(`${side.name}: the newest post of ${reader} is ${first?.id}, not ${id}`)
  return id
}

/** Runs all loads of a side in turn. Feedline's sides also poll with `If-None-Match` if the server answers an ETag. */
export async function measureSide(side: Side, context: LoadContext): Promise<SideResults> {
  const { audience, connections } = context
  const { readers } = audience
  const results: Record<string, ReadResult> = {}
  const measure = async (
    name: string,
    requests: Requests,
    status = 200,
    count = connections[0],
  ) => {
    const filled = requests.filter((request) => request !== undefined)
    if (filled.length === 0) return
    results[name] = await measureLoad(side, context, filled, status, count ?? 1)
  }
  const newest = await addVisiblePost(side, audience)
  const immutable = readers.map((reader) => side.page(reader, 'immutable'))
  const { poll } = side
  const polls = poll ? readers.map((reader) => poll.request(reader, newest)) : []
  const conditional = await side.conditionalPolls?.(readers, newest)
  for (const [at, count] of connections.entries()) {
    const name = (load: string) => (at === 0 ? load : withConnections(load, count))
    await measure(name(loadNames.pageUnchanged), immutable, 200, count)
    await measure(name(loadNames.poll), polls, poll?.statusWithoutNews, count)
    await measure(name(loadNames.poll304), conditional ?? [], 304, count)
  }
  await measure(loadNames.pollAlone, polls, poll?.statusWithoutNews, 1)
  await measure(
    loadNames.pageWithCounts,
    readers.map((reader) => side.page(reader, 'counts')),
  )
  results[loadNames.pageChanged] = await measureBursts(side, context, newest, () => immutable)
  if (poll) {
    results[loadNames.pollNews] = await measureBursts(side, context, newest, (known) =>
      readers.map((reader) => poll.request(reader, known)),
    )
  }
  return results
}

type Requests = readonly (HttpRequest | undefined)[]

/** An answer is kept from its second request on, unless another process has just changed its versions. */
export const requestsUntilKept = 3

/** Measures one load after a warm-up: each request several times, then a third of the time of the load. */
export async function measureLoad(
  side: Side,
  { load, ms }: LoadContext,
  requests: readonly HttpRequest[],
  status: number,
  connections: number,
): Promise<ReadResult> {
  const job: LoadJob = { port: side.server.port, requests, connections, ms, status }
  for (let times = 0; times < requestsUntilKept; times++)
    await load.sendRequest<HttpLoadResult>({ ...job, ms: 0, amount: requests.length })
  await load.sendRequest<HttpLoadResult>({ ...job, ms: ms / 3 })
  const { result, serverUs, databaseUs } = await measureCpu(side, () =>
    load.sendRequest<HttpLoadResult>(job),
  )
  const { perSecond, p50Ms, p99Ms, count, bytes } = result
  return {
    ...{ perSecond, p50Ms, p99Ms, count, bytes },
    ...{ serverUs: serverUs / count, databaseUs: databaseUs / count },
  }
}

/** Runs `work`. @returns its result with the processor time of server and database, in microseconds. */
export async function measureCpu<Result>(side: Side, work: () => Promise<Result>) {
  const read = () => Promise.all([side.server.readCpuTimeUs(), side.readDatabaseCpuUs()])
  const [server, database] = await read()
  const result = await work()
  const [serverAfter, databaseAfter] = await read()
  return { result, serverUs: serverAfter - server, databaseUs: databaseAfter - database }
}

/**
 * Measures bursts of one request per reader. Before each burst the hub adds a post, which every reader sees first. Only
 * the bursts are measured, for `ms` milliseconds or twice as long with the posts.
 * @param requestsAfter the requests of a burst. It gets the newest post before the new one.
 */
export async function measureBursts(
  side: Side,
  { load, audience, ms, connections: [connections = 1] }: LoadContext,
  newest: string,
  requestsAfter: (known: string) => Requests,
): Promise<ReadResult> {
  const latenciesMs: number[] = []
  let [seconds, serverUs, databaseUs, bytes, known] = [0, 0, 0, 0, newest]
  const begin = performance.now()
  while (seconds * 1000 < ms && performance.now() - begin < 2 * ms) {
    const id = await addVisiblePost(side, audience)
    const requests = requestsAfter(known).filter((request) => request !== undefined)
    known = id
    const burst = await measureCpu(side, () =>
      load.sendRequest<HttpLoadResult>({
        ...{ port: side.server.port, requests, connections, ms, amount: requests.length },
      } satisfies LoadJob),
    )
    latenciesMs.push(...(burst.result.latenciesMs ?? []))
    seconds += burst.result.seconds
    bytes = burst.result.bytes
    serverUs += burst.serverUs
    databaseUs += burst.databaseUs
  }
  const count = latenciesMs.length
  return {
    perSecond: count / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    ...{ count, bytes, serverUs: serverUs / count, databaseUs: databaseUs / count },
  }
}

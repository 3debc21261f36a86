import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child-process.ts'
import { postText } from '../feeds/bulk-data.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import type { LoadResult } from '../load.ts'
import { quantile } from '../statistics.ts'
import type { Audience } from './data.ts'
import { connections } from './feedline-sides.ts'
import { mixRequestAt } from './mix.ts'
import { mixes } from './mix-plan.ts'
import { type HttpRequest, type LoadName, loadNames, readPagePosts, type Side } from './side.ts'

/** The result of a load, with the processor time of server and database per request, in microseconds. */
export interface ReadResult extends LoadResult {
  readonly count: number
  readonly serverUs: number
  readonly databaseUs: number
  readonly bytes: number
}

/** What a round needs. */
export interface LoadContext {
  readonly load: Child
  readonly audience: Audience
  readonly ms: number
  /** How long each side is loaded before it is measured, in milliseconds. */
  readonly warmUpMs: number
  readonly log: (line: string) => void
}

export type SideResults = Readonly<Partial<Record<LoadName, ReadResult>>>

/** The least number of requests of a load. */
const amountMin = 4 * connections
/** The number of requests of a mix, before they repeat. */
const mixLength = 1_120
/** The text of each measured post. */
const composedText = 'A post to about forty followers, as long as messages usually are here.'

/** How long a server may go on with requests whose connections are closed, in milliseconds. */
const cutOffMs = 200

let postsAdded = 0

/** Adds a post of the hub. @returns its id. @throws unless it is the first post of a reader's next page. */
async function addVisiblePost(side: Side, { readers }: Audience): Promise<string> {
  // A post that the end of a load cut off may still be written, and must not be newer.
  await sleep(cutOffMs)
  const text = postText(1_000_000 + postsAdded++)
  const id = await side.addPost(text)
  const reader = readers[postsAdded % readers.length] ?? ''
  const [first] = await readPagePosts(side, reader, 'immutable')
  if (first?.id !== id || first.text !== text)
    throw new Error(`${side.name}: the newest post of ${reader} is ${first?.id}, not ${id}`)
  return id
}

/** The mix of six pages and a post, by users at random. */
export const createMix = (side: Side, audience: Audience, seed: number): HttpRequest[] =>
  Array.from({ length: mixLength }, (_, at) =>
    mixRequestAt(side, mixes.pagesAndPosts, audience, at, seed),
  ).filter((request) => request !== undefined)

const immutablePages = ({ page }: Side, { readers }: Audience): HttpRequest[] =>
  readers.map((reader) => page(reader, 'immutable')).filter((request) => request !== undefined)

/** Loads a side with all kinds of its requests, so that its code is compiled before it is measured. */
export async function warmUp(side: Side, { load, audience, warmUpMs }: LoadContext): Promise<void> {
  const newest = await addVisiblePost(side, audience)
  const polls = side.loads.has('poll304')
    ? await side.createPolls?.(audience.readers, newest)
    : undefined
  const mix = side.loads.has('mix') ? createMix(side, audience, 0) : []
  const all = [
    { requests: immutablePages(side, audience), status: 200, share: 1 },
    { requests: polls ?? [], status: 304, share: 1 },
    { requests: mix, status: 200, share: 3 },
  ].filter(({ requests }) => requests.length > 0)
  const shares = all.reduce((sum, { share }) => sum + share, 0)
  const { port } = side.server
  for (const { requests, status, share } of all)
    await load.sendRequest<HttpLoadResult>({
      ...{ port, requests, connections, ms: (warmUpMs * share) / shares, status },
    } satisfies LoadJob)
  await side.waitUntilIdle()
}

/** Runs the loads of a side in turn, except first visits and the open loop. */
export async function measureSide(side: Side, context: LoadContext, round: number) {
  const { audience } = context
  const { readers } = audience
  const results: Partial<Record<LoadName, ReadResult>> = {}
  const measure = async (name: LoadName, work: () => Promise<ReadResult>) => {
    if (!side.loads.has(name)) return
    const result = await work()
    results[name] = result
    context.log(`${side.name}: ${loadNames[name]}, ${result.perSecond.toFixed(0)} per second`)
  }
  await measure('mix', () => measureLoad(side, context, createMix(side, audience, round)))
  const newest = await addVisiblePost(side, audience)
  await measure('changed', () =>
    measureBursts(side, context, newest, async () => immutablePages(side, audience)),
  )
  const kept = readers.map((reader) => side.page(reader, 'counts'))
  await measure('kept', () => measureKept(side, context, kept))
  await measure('unchanged', () => measureKept(side, context, immutablePages(side, audience)))
  await measure('poll304', async () => {
    const latest = await addVisiblePost(side, audience)
    return measureKept(side, context, (await side.createPolls?.(readers, latest)) ?? [], 304)
  })
  await measure('pollNews', async () => {
    const latest = await addVisiblePost(side, audience)
    const polls = async (known: string) => (await side.createPolls?.(readers, known)) ?? []
    return measureBursts(side, context, latest, polls)
  })
  await measure('compose', () => measurePosts(side, context))
  return results
}

/** An answer is kept from its second request on, unless another process has just changed its versions. */
export const requestsUntilKept = 3

/** Measures answers that are kept: each request was sent several times before. */
async function measureKept(
  side: Side,
  context: LoadContext,
  requests: readonly (HttpRequest | undefined)[],
  status = 200,
): Promise<ReadResult> {
  const all = requests.filter((request) => request !== undefined)
  const job: LoadJob = { port: side.server.port, requests: all, connections, ms: 0, status }
  for (let times = 0; times < requestsUntilKept; times++)
    await context.load.sendRequest<HttpLoadResult>({ ...job, amount: all.length })
  return measureLoad(side, context, all, status)
}

/**
 * Measures one load until its last answer. The processor time includes all deliveries.
 * @param amount how many requests are sent. Default: as many as a first try of a third of `ms` expects in `ms`. A load that
 * ends by the clock would cut off sixteen requests, which costs a slow side more than a fast one.
 */
export async function measureLoad(
  side: Side,
  { load, ms }: Pick<LoadContext, 'load' | 'ms'>,
  requests: readonly HttpRequest[],
  status = 200,
  amount?: number,
): Promise<ReadResult> {
  const job: LoadJob = { port: side.server.port, requests, connections, ms, status }
  const tryOnce = async () => {
    const { perSecond } = await load.sendRequest<HttpLoadResult>({ ...job, ms: ms / 3 })
    await sleep(cutOffMs)
    await side.waitUntilIdle()
    return Math.max(Math.round((perSecond * ms) / 1_000) || 0, amountMin)
  }
  const wanted = amount ?? (await tryOnce())
  const { result, serverUs, databaseUs } = await measureCpu(side, async () => {
    const sent = await load.sendRequest<HttpLoadResult>({ ...job, amount: wanted })
    await side.waitUntilIdle()
    return sent
  })
  const { perSecond, p50Ms, p99Ms, count, bytes } = result
  return {
    ...{ perSecond, p50Ms, p99Ms, count, bytes },
    ...{ serverUs: serverUs / count, databaseUs: databaseUs / count },
  }
}

/** Runs `work`. @returns its result with the processor time of server and database, in microseconds. */
async function measureCpu<Result>(side: Side, work: () => Promise<Result>) {
  const read = () => Promise.all([side.server.readCpuTimeUs(), side.readDatabaseCpuUs()])
  const [server, database] = await read()
  const result = await work()
  const [serverAfter, databaseAfter] = await read()
  return { result, serverUs: serverAfter - server, databaseUs: databaseAfter - database }
}

/** Measures posts of users with about forty followers. @throws unless an author's own page shows the post afterwards. */
async function measurePosts(side: Side, context: LoadContext): Promise<ReadResult> {
  const { composers } = context.audience
  const { compose } = side
  if (!compose) throw new Error(`${side.name} creates no posts`)
  const requests = composers.map((author) => compose(author, composedText))
  const result = await measureLoad(side, context, requests)
  const [author = ''] = composers
  const posts = await readPagePosts(side, author, 'immutable')
  const newest = posts.find(({ author: { handle } }) => handle === author)
  if (newest?.text !== composedText)
    throw new Error(`${side.name}: ${author} does not see the own post`)
  return result
}

/**
 * Measures bursts of one request per reader. Before each burst the hub adds a post, which every reader sees first. Only
 * the bursts are measured, for `ms` milliseconds or twice as long with the posts.
 * @param requestsBefore the requests of a burst, made before its post. It gets the newest post until then.
 */
async function measureBursts(
  side: Side,
  { load, audience, ms }: LoadContext,
  newest: string,
  requestsBefore: (known: string) => Promise<readonly HttpRequest[]>,
): Promise<ReadResult> {
  const latenciesMs: number[] = []
  let [seconds, serverUs, databaseUs, bytes, known] = [0, 0, 0, 0, newest]
  const begin = performance.now()
  while (seconds * 1000 < ms && performance.now() - begin < 2 * ms) {
    const requests = await requestsBefore(known)
    known = await addVisiblePost(side, audience)
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

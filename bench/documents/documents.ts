import fc from 'fast-check'
import { createSchema } from '../../src/graphql/schema.ts'
import { arbitraryDocument } from '../../tests/support/documents.ts'
import { hostileRequests } from '../../tests/support/hostile-documents.ts'
import { buildServer } from '../feeds/build.ts'
import { type Server, startServer } from '../feeds/http.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import type { LoadRequest } from '../overload/load-process.ts'
import { createRequests } from '../overload/requests.ts'
import { openTimelines, timelineEnv, users } from '../overload/timelines.ts'

/** The key of the tokens. */
const secret = 'the secret of the documents benchmark'
/** How often each document is sent in a round, each time as a text that the server has not seen. */
const repeats = 8
/** The number of generated documents. */
const generatedCounts = [150, 20] as const
/** The most processor time of a document, in pages. */
const pagesMax = 5

/** A request, and its processor time in plain timeline pages. */
interface Measured {
  readonly name: string
  readonly pages: number
}

/**
 * Measures the processor time of hostile and of generated documents of an anonymous client, valid
 * and invalid ones, in pages: the time of a signed-in timeline page of 20 posts in the same round.
 * Prints the worst.
 */
export async function benchmarkDocuments(options: BenchOptions) {
  const { log, print, rounds } = options
  await using timelines = await openTimelines(log)
  const { database, posts } = timelines
  const [page] = await createRequests(users.slice(0, 1), posts, secret)
  if (!page) throw new Error('the first request reads a page')
  await using server = await startServer(
    '../overload/production-server.ts',
    {
      ...timelineEnv,
      NODE_ENV: 'production',
      AUTH_JWT_SECRET: secret,
      PAGE_CACHE_MB: '0',
      RATE_LIMIT_COST: '0',
      RATE_LIMIT_MUTATIONS: '0',
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: database.db.databaseName,
      PORT: '0',
      DRAIN_SECONDS: '0',
      FEEDLINE_BUILT: await buildServer(),
    },
    { port: true },
  )
  const shape = { depthMax: 4, widthMax: 8, wrongPercent: 2 }
  const generated = fc.sample(
    arbitraryDocument(createSchema(), shape),
    sizeOf(options, ...generatedCounts),
  )
  const requests = [
    ...hostileRequests,
    ...generated.map((query) => ({ name: query.slice(0, 100), query, variables: {} })),
  ]
  for (let n = 0; n < 500; n++) await send(server, page)
  const measured = new Map<string, number[]>()
  for (let round = 1; round <= rounds; round++) {
    const pageUs = await timeOf(server, 100, () => page)
    log(`round ${round} of ${rounds}: a page takes ${pageUs.toFixed(0)} µs of processor time`)
    for (const { name, query, variables } of requests) {
      const us = await timeOf(server, repeats, (n) => {
        const text = `${query} #${round} ${n}`
        const headers = { 'content-type': 'application/json' }
        return { headers, body: JSON.stringify({ query: text, variables }) }
      })
      measured.set(name, [...(measured.get(name) ?? []), us / pageUs])
    }
  }
  // Of the rounds, the quietest: other processes only add time.
  const worst: readonly Measured[] = [...measured]
    .map(([name, pages]) => ({ name, pages: Math.min(...pages) }))
    .sort((one, other) => other.pages - one.pages)
  print(`| document | processor time, pages |\n|---|---|`)
  for (const { name, pages } of worst.slice(0, 15)) print(`| ${name} | ${pages.toFixed(2)} |`)
  const above = worst.filter(({ pages }) => pages > pagesMax)
  print(`${requests.length} documents; above ${pagesMax} pages: ${above.length}`)
  // The few requests of the smallest size are those of code that Node has yet to compile.
  if (above.length > 0 && !options.isSmallest) process.exitCode = 1
  return { documents: requests.length, worst_pages: worst[0]?.pages ?? Number.NaN }
}

/**
 * The processor time of the server for each of some requests that are sent one after another, in
 * microseconds.
 */
async function timeOf(server: Server, count: number, requestOf: (n: number) => LoadRequest) {
  const before = await server.readCpuTimeUs()
  for (let n = 0; n < count; n++) await send(server, requestOf(n))
  return ((await server.readCpuTimeUs()) - before) / count
}

async function send({ port }: Server, { headers, body }: LoadRequest): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body })
  await answer.arrayBuffer()
}

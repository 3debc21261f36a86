import autocannon, { type Client, type Options, type Request, type Result } from 'autocannon'
import { handleRequests } from '../child-process.ts'
import type { LoadResult } from '../load.ts'
import { quantile } from '../statistics.ts'

/** One load: HTTP requests that are sent in turn over keep-alive connections, each after the last answer. */
export interface LoadJob {
  readonly port: number
  readonly requests: readonly Pick<Request, 'headers' | 'body'>[]
  readonly connections: number
  readonly ms: number
}

/**
 * The result of a load. The load fails if an answer is not a 200, or if its body begins with errors.
 * `bytes` is the mean size of an answer.
 */
export interface HttpLoadResult extends LoadResult {
  readonly count: number
  readonly bytes: number
}

handleRequests(async ({ port, requests, connections, ms }: LoadJob): Promise<HttpLoadResult> => {
  // The latencies of autocannon's report are whole milliseconds.
  const latenciesMs: number[] = []
  let [bytes, opened] = [0, 0]
  const begin = performance.now()
  const options: Options = {
    url: `http://127.0.0.1:${port}/graphql`,
    method: 'POST',
    connections,
    duration: ms / 1000,
    verifyBody: (body) => !String(body).startsWith('{"errors"'),
    // Each connection begins with another request.
    setupClient: (client) => {
      const first = Math.floor((opened++ * requests.length) / connections)
      client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
    },
  }
  const { non2xx, errors, mismatches } = await new Promise<Result>((resolve, reject) => {
    const load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
    load.on('response', (_: Client, _status: number, size: number, latencyMs: number) => {
      latenciesMs.push(latencyMs)
      bytes += size
    })
  })
  if (non2xx + errors + mismatches > 0)
    throw new Error(`${non2xx} answers are not 200, ${mismatches} have errors, ${errors} failed`)
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: latenciesMs.length / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    count: latenciesMs.length,
    bytes: Math.round(bytes / Math.max(1, latenciesMs.length)),
  }
})

import autocannon, { type Client, type Options, type Request, type Result } from 'autocannon'
import { handleRequests } from '../child-process.ts'
import { newIdEachTime } from '../idempotency.ts'
import type { LoadResult } from '../load.ts'
import { quantile } from '../statistics.ts'

/**
 * One load: HTTP requests that are sent in turn over keep-alive connections, each after the last
 * answer.
 */
export interface LoadJob {
  /** The port of the server, or of servers that share the connections. */
  readonly port: number | readonly number[]
  readonly requests: readonly Pick<Request, 'headers' | 'body' | 'method' | 'path'>[]
  readonly connections: number
  readonly ms: number
  /**
   * The number of requests in all, which replaces `ms`. Each connection sends its own share of
   * `requests`.
   */
  readonly amount?: number
  /** The wanted status of every answer. Default: 200. */
  readonly status?: number
  /** A part of every answer. */
  readonly answer?: string
}

/**
 * The result of a load. The load fails if an answer has another status or lacks its part, or if its
 * body begins with errors. `bytes` is the mean size of an answer. Only a load with an amount lists
 * its latencies.
 */
export interface HttpLoadResult extends LoadResult {
  readonly count: number
  readonly bytes: number
  readonly seconds: number
  readonly latenciesMs?: readonly number[] | undefined
}

handleRequests(async (job: LoadJob): Promise<HttpLoadResult> => {
  const { port, requests, connections, ms, amount, status = 200, answer = '' } = job
  // The latencies of autocannon's report are whole milliseconds.
  const latenciesMs: number[] = []
  let [bytes, opened, wrong] = [0, 0, 0]
  // autocannon ends with an interval, and it begins by preparing all requests.
  let [begin, end] = [0, 0]
  const options: Options = {
    // Its types do not know that it takes several.
    url: [port].flat().map((each) => `http://127.0.0.1:${each}/graphql`) as unknown as string,
    method: 'POST',
    connections,
    ...(amount === undefined ? { duration: ms / 1000 } : { amount }),
    sampleInt: 100,
    // In seconds. A busy machine takes longer than the standard ten.
    timeout: 60,
    // A mutation gets another clientMutationId each time it is sent.
    idReplacement: requests.some(({ body }) => `${body ?? ''}`.includes(newIdEachTime)),
    verifyBody: (body) => {
      const text = String(body)
      return !text.startsWith('{"errors"') && text.includes(answer)
    },
    // Each connection begins with another request. With an amount, autocannon gives the first ones
    // one more.
    setupClient: (client) => {
      const [share, rest] = [
        Math.floor(requests.length / connections),
        requests.length % connections,
      ]
      const first = opened * share + Math.min(opened++, rest)
      const next = opened * share + Math.min(opened, rest)
      const others = amount === undefined ? requests.slice(0, first) : []
      const own = requests.slice(first, amount === undefined ? undefined : next)
      client.setRequests([...own, ...others])
    },
  }
  const { errors, mismatches } = await new Promise<Result>((resolve, reject) => {
    const load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
    load.on('response', (_: Client, code: number, size: number, latencyMs: number) => {
      end = performance.now()
      begin ||= end - latencyMs
      if (code !== status) wrong++
      latenciesMs.push(latencyMs)
      bytes += size
    })
  })
  if (wrong + errors + mismatches > 0)
    throw new Error(
      `${wrong} answers are not ${status}, ${mismatches} have errors or another body, ${errors} failed`,
    )
  const seconds = (end - begin) / 1000
  return {
    perSecond: latenciesMs.length / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    count: latenciesMs.length,
    bytes: Math.round(bytes / Math.max(1, latenciesMs.length)),
    seconds,
    latenciesMs: amount === undefined ? undefined : latenciesMs,
  }
})

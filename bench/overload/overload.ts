import { join } from 'node:path'
import { startChild } from '../child-process.ts'
import { buildServer } from '../feeds/build.ts'
import { startServer } from '../feeds/http.ts'
import type { BenchOptions } from '../options.ts'
import { summarize } from '../statistics.ts'
import type { LoadMessage } from './load-process.ts'
import {
  connections,
  measureRound,
  multiples,
  type OverloadResult,
  type OverloadRound,
  runLoad,
} from './loads.ts'
import { measureProcessorTime } from './processor-time.ts'
import { printLoads, printProcessorTimes } from './report.ts'
import { createRequests } from './requests.ts'
import { openTimelines, timelineEnv, users } from './timelines.ts'

/** The key of the tokens. */
const secret = 'the secret of the overload benchmark'

/**
 * Measures the capacity of one production server by a closed loop, then offers it up to four times
 * as much in open loops. Then compares the processor time of a request with that in servers without
 * request log and metrics, and without tracing. Tracing is not configured in any of them.
 * @throws if an answer is neither data nor a refusal with 503 or 429.
 */
export async function benchmarkOverload(options: BenchOptions) {
  const { log, print, rounds, ms } = options
  await using timelines = await openTimelines(log)
  const { database, posts } = timelines
  const requests = await createRequests(users, posts, secret)
  const built = await buildServer()
  await using load = await startChild(join(import.meta.dirname, 'load-process.ts'))
  const start = (more: Record<string, string> = {}) =>
    startServer(
      '../overload/production-server.ts',
      {
        ...timelineEnv,
        ...more,
        NODE_ENV: 'production',
        ADMIN_PORT: '0',
        AUTH_JWT_SECRET: secret,
        RATE_LIMIT_COST: '0',
        RATE_LIMIT_MUTATIONS: '0',
        MONGODB_URI: database.uri,
        MONGODB_DATABASE: database.db.databaseName,
        PORT: '0',
        DRAIN_SECONDS: '0',
        FEEDLINE_BUILT: built,
      },
      { port: true },
    )
  await using server = await start()
  await load.sendRequest({ port: server.port, requests } satisfies LoadMessage)
  log('warm-up')
  await runLoad(load, { connections, ms })
  const measured: OverloadRound[] = []
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`)
    measured.push(await measureRound(load, ms, log))
  }
  await using whole = await start()
  await using unobserved = await start({ WITHOUT: 'observation' })
  await using untraced = await start({ WITHOUT: 'tracing' })
  const servers = { whole, 'without log and metrics': unobserved, 'without tracing': untraced }
  const times = await measureProcessorTime(load, servers, requests, options)
  printLoads(print, measured)
  printProcessorTimes(print, times)
  const overheadOver = (name: keyof typeof servers) =>
    summarize(times.map((us) => us.whole / us[name])).median
  const median = (of: (round: OverloadRound) => number) => summarize(measured.map(of)).median
  const worst = (of: (load: OverloadResult) => number) =>
    median(({ loads }) => Math.max(...loads.map(of).filter((value) => !Number.isNaN(value))))
  const highest = (of: (load: OverloadResult) => number) =>
    median(({ loads }) => of(loads.at(-1) as OverloadResult))
  return {
    capacity_per_second: median(({ capacity }) => capacity),
    goodput_4x_vs_peak: median(({ capacity, loads }) => {
      const goodputs = loads.map(({ goodput }) => goodput)
      return (goodputs.at(-1) ?? 0) / Math.max(capacity, ...goodputs)
    }),
    refused_share_4x: highest(({ refusedShare }) => refusedShare),
    refusal_p99_ms: worst(({ refused }) => refused.p99Ms),
    load_late_p99_ms: worst(({ lateP99Ms }) => lateP99Ms),
    recovery_seconds: worst(({ recoverySeconds }) => recoverySeconds),
    accepted_p99_ms: Object.fromEntries(
      multiples.map((multiple, at) => [
        `${multiple}x`,
        median(({ loads }) => loads[at]?.accepted.p99Ms ?? Number.NaN),
      ]),
    ),
    observability_cpu_overhead: overheadOver('without log and metrics'),
    tracing_cpu_overhead: overheadOver('without tracing'),
  }
}

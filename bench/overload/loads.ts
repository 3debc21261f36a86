import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child-process.ts'
import { quantile } from '../statistics.ts'
import type { LoadMessage, LoadResult } from './load-process.ts'

/** The open loops, in multiples of the capacity. */
export const multiples = [0.5, 1, 2, 4] as const
/** The connections of the closed loop that measures the capacity. */
export const connections = 32
/** The time between two loads, in milliseconds. */
const pauseMs = 200

/** The result of an open loop. */
export interface OverloadResult {
  /** Requests and answers with data during the load, per second. */
  readonly offered: number
  readonly goodput: number
  readonly refusedShare: number
  readonly accepted: { readonly p50Ms: number; readonly p99Ms: number }
  readonly refused: { readonly p50Ms: number; readonly p99Ms: number }
  /** The time from the end of the load until requests are answered as at half the capacity. */
  readonly recoverySeconds: number
  /**
   * By how much the load process itself sent 99 of 100 requests too late at most. Latencies include
   * it.
   */
  readonly lateP99Ms: number
}

/** One round: the capacity of the server in requests per second, then each load. */
export interface OverloadRound {
  readonly capacity: number
  readonly loads: readonly OverloadResult[]
}

/**
 * Measures the capacity by a closed loop, then the open loops. Each takes about `ms` milliseconds.
 */
export async function measureRound(
  load: Child,
  ms: number,
  log: (line: string) => void,
): Promise<OverloadRound> {
  const closed = await runLoad(load, { connections, ms })
  const capacity = closed.acceptedInTime / closed.seconds
  let wantedMs = 2 * quantile(closed.acceptedMs, 0.99)
  log(`capacity ${capacity.toFixed(0)} requests/s`)
  const loads: OverloadResult[] = []
  for (const multiple of multiples) {
    const offered = multiple * capacity
    const result = await runLoad(load, { perSecond: offered, ms, wantedMs })
    const summary = summarizeLoad(offered, result)
    if (loads.length === 0) wantedMs = 2 * summary.accepted.p99Ms
    log(
      `${multiple}x: goodput ${summary.goodput.toFixed(0)}/s, ` +
        `accepted p99 ${summary.accepted.p99Ms.toFixed(0)} ms, ` +
        `${(100 * summary.refusedShare).toFixed(0)} % refused, p99 ${summary.refused.p99Ms.toFixed(1)} ms, ` +
        `recovered in ${summary.recoverySeconds.toFixed(2)} s, ` +
        `sent up to ${summary.lateP99Ms.toFixed(1)} ms late`,
    )
    loads.push(summary)
    await sleep(pauseMs)
  }
  return { capacity, loads }
}

function summarizeLoad(
  offered: number,
  { acceptedMs, acceptedInTime, refusedMs, seconds, recoverySeconds, lateP99Ms }: LoadResult,
): OverloadResult {
  const quantiles = (latenciesMs: readonly number[]) => ({
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  })
  return {
    offered,
    goodput: acceptedInTime / seconds,
    refusedShare: refusedMs.length / (refusedMs.length + acceptedMs.length),
    accepted: quantiles(acceptedMs),
    refused: quantiles(refusedMs),
    recoverySeconds,
    lateP99Ms,
  }
}

/** Runs a load. @throws if an answer is neither data nor a refusal. */
export async function runLoad(
  load: Child,
  message: Exclude<LoadMessage, { requests: unknown }>,
): Promise<LoadResult> {
  const result = await load.sendRequest<LoadResult>(message)
  if (result.failed === 0) return result
  throw new Error(`${result.failed} requests failed: ${result.problems.join('; ')}`)
}

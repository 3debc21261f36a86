import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from './statistics.ts'

/**
 * The throughput of a load, in calls per second, and the latencies of its calls, in milliseconds.
 */
export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Runs a closed loop for about `ms` milliseconds: each client repeats `call` as soon as its last
 * call has returned. `call` gets the number of the client and the number of the call, both from 0.
 */
export async function runClosedLoop(
  clients: number,
  ms: number,
  call: (client: number, at: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let calls = 0
  const begin = performance.now()
  const runClient = async (client: number) => {
    while (performance.now() - begin < ms) {
      const start = performance.now()
      await call(client, calls++)
      latenciesMs.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)))
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: latenciesMs.length / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

/**
 * The result of an open loop. A latency counts from the time at which the call was due, even if the
 * call began later.
 */
export interface OpenLoopResult extends LoadResult {
  readonly failed: number
}

/**
 * Runs an open loop for about `ms` milliseconds: it begins `perSecond` calls per second, even if
 * earlier calls have not returned. Then it waits for all calls.
 */
export async function runOpenLoop(
  perSecond: number,
  ms: number,
  call: (at: number) => Promise<unknown>,
): Promise<OpenLoopResult> {
  const total = Math.round((perSecond * ms) / 1000)
  const latenciesMs: number[] = []
  const calls: Promise<unknown>[] = []
  let failed = 0
  const begin = performance.now()
  const dueAt = (at: number) => begin + (at * 1000) / perSecond
  while (calls.length < total) {
    while (calls.length < total && dueAt(calls.length) <= performance.now()) {
      const due = dueAt(calls.length)
      const recordLatency = () => latenciesMs.push(performance.now() - due)
      calls.push(
        call(calls.length).then(recordLatency, () => {
          failed++
          recordLatency()
        }),
      )
    }
    await sleep(1)
  }
  await Promise.all(calls)
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: total / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    failed,
  }
}

import { setTimeout as sleep } from 'node:timers/promises'

/** What a load gave: how many calls a second, and how long each took, in milliseconds. */
export interface Load {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Runs `call` from so many clients, each as soon as its last one returned, for about `ms` milliseconds. */
export async function drive(
  clients: number,
  ms: number,
  call: (client: number, at: number) => Promise<unknown>,
): Promise<Load> {
  const took: number[] = []
  let calls = 0
  const begin = performance.now()
  const client = async (number: number) => {
    while (performance.now() - begin < ms) {
      const start = performance.now()
      await call(number, calls++)
      took.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: took.length / seconds,
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
  }
}

/** What an open load gave. Latencies count from the moment at which a call was due, also when it began later. */
export interface OpenLoad extends Load {
  readonly failed: number
}

/** Begins `perSecond` calls a second for about `ms` milliseconds, whether or not earlier ones returned, and waits for all. */
export async function driveOpen(
  perSecond: number,
  ms: number,
  call: (at: number) => Promise<unknown>,
): Promise<OpenLoad> {
  const total = Math.round((perSecond * ms) / 1000)
  const took: number[] = []
  const calls: Promise<unknown>[] = []
  let failed = 0
  const begin = performance.now()
  const dueAt = (at: number) => begin + (at * 1000) / perSecond
  while (calls.length < total) {
    while (calls.length < total && dueAt(calls.length) <= performance.now()) {
      const due = dueAt(calls.length)
      const returned = () => took.push(performance.now() - due)
      calls.push(
        call(calls.length).then(returned, () => {
          failed++
          returned()
        }),
      )
    }
    await sleep(1)
  }
  await Promise.all(calls)
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: total / seconds,
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    failed,
  }
}

/** The value below which the share `q` of `values` lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

/** Median, least and most of what several rounds gave. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** What several rounds gave. */
export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values),
})

/** A spread as `median (min–max)`. */
export const showSpread = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { handleRequests } from '../child-process.ts'
import { newIdEachTime } from '../idempotency.ts'
import { quantile } from '../statistics.ts'

/** A request to /graphql. */
export interface LoadRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What the load process does next. */
export type LoadMessage =
  | { readonly requests: readonly LoadRequest[]; readonly port: number }
  /** A closed loop: each connection sends a request as soon as its last one is answered. */
  | { readonly connections: number; readonly ms: number }
  /**
   * An open loop: requests begin at this rate, even if earlier ones are not answered. At its end,
   * probes follow until ten in a row are answered within `wantedMs`.
   */
  | { readonly perSecond: number; readonly ms: number; readonly wantedMs: number }

/**
 * Answered requests. A latency counts from the time at which the request was due, in milliseconds.
 */
export interface LoadResult {
  readonly seconds: number
  /** Latencies of the answers with data. */
  readonly acceptedMs: readonly number[]
  /** How many of the answers with data came before the load ended. */
  readonly acceptedInTime: number
  /** Latencies of the answers with status 503 or 429. */
  readonly refusedMs: readonly number[]
  /** The other answers and the failures, at most ten of them. */
  readonly problems: readonly string[]
  readonly failed: number
  /** By how much the load process sent 99 of 100 requests too late at most, in milliseconds. */
  readonly lateP99Ms: number
  /** The time from the end of an open loop until requests are answered in time, in seconds. */
  readonly recoverySeconds: number
}

type Outcome = { readonly status: number; readonly problem?: string }

let pool: Pool | undefined
let requests: readonly LoadRequest[] = []
let sent = 0

handleRequests(async (message: LoadMessage) => {
  if ('requests' in message) {
    requests = message.requests
    await pool?.close()
    // As many connections as open requests: a client of an open loop does not wait for another
    // client.
    pool = new Pool(`http://127.0.0.1:${message.port}`, { connections: null, pipelining: 1 })
    return {}
  }
  if ('connections' in message) return runClosedLoop(message.connections, message.ms)
  return runOpenLoop(message.perSecond, message.ms, message.wantedMs)
})

class Recorder {
  private readonly beginMs = performance.now()
  private readonly acceptedMs: number[] = []
  private readonly refusedMs: number[] = []
  private readonly problems: string[] = []
  private readonly lateMs: number[] = []
  private failed = 0
  private acceptedInTime = 0

  constructor(private readonly ms: number) {}

  /** Sends a request that was due at `dueMs`, and records its outcome. */
  async send(dueMs: number): Promise<void> {
    this.lateMs.push(performance.now() - dueMs)
    this.record(await send(), dueMs)
  }

  private record({ status, problem }: Outcome, dueMs: number): void {
    const now = performance.now()
    if (problem === undefined && status === 200) {
      this.acceptedMs.push(now - dueMs)
      if (now - this.beginMs <= this.ms) this.acceptedInTime++
    } else if (problem === undefined) {
      this.refusedMs.push(now - dueMs)
    } else {
      this.failed++
      if (this.problems.length < 10) this.problems.push(problem)
    }
  }

  finish(recoverySeconds = 0): LoadResult {
    const { acceptedMs, refusedMs, problems, failed, acceptedInTime } = this
    return {
      ...{ seconds: this.ms / 1000, acceptedMs, refusedMs, problems, failed, acceptedInTime },
      ...{ lateP99Ms: quantile(this.lateMs, 0.99), recoverySeconds },
    }
  }
}

async function runClosedLoop(connections: number, ms: number): Promise<LoadResult> {
  const recorder = new Recorder(ms)
  const endMs = performance.now() + ms
  const runConnection = async () => {
    while (performance.now() < endMs) {
      await recorder.send(performance.now())
    }
  }
  await Promise.all(Array.from({ length: connections }, runConnection))
  return recorder.finish()
}

async function runOpenLoop(perSecond: number, ms: number, wantedMs: number): Promise<LoadResult> {
  const recorder = new Recorder(ms)
  const total = Math.round((perSecond * ms) / 1000)
  const beginMs = performance.now()
  const open: Promise<void>[] = []
  for (let at = 0; at < total; at++) {
    const dueMs = beginMs + (at * 1000) / perSecond
    while (performance.now() < dueMs) await sleep(1)
    open.push(recorder.send(dueMs))
  }
  const recoverySeconds = await measureRecovery(wantedMs)
  await Promise.all(open)
  return recorder.finish(recoverySeconds)
}

/**
 * The probes that must be answered in time, and the time between two probes and for all of them, in
 * milliseconds.
 */
const [goodProbes, probeMs, recoveryMsMax] = [10, 20, 60_000]

/** The time until the first of ten consecutive probes that are answered in time, in seconds. */
async function measureRecovery(wantedMs: number): Promise<number> {
  const beginMs = performance.now()
  let good = 0
  let firstGoodMs = beginMs
  while (performance.now() - beginMs < recoveryMsMax) {
    const startMs = performance.now()
    const { status, problem } = await send()
    const isGood =
      status === 200 && problem === undefined && performance.now() - startMs <= wantedMs
    if (isGood && good === 0) firstGoodMs = startMs
    good = isGood ? good + 1 : 0
    if (good === goodProbes) return (firstGoodMs - beginMs) / 1000
    await sleep(probeMs)
  }
  return recoveryMsMax / 1000
}

async function send(): Promise<Outcome> {
  const request = requests[sent++ % requests.length]
  if (!pool || !request) throw new Error('the requests come first')
  try {
    const { statusCode: status, body } = await pool.request({
      path: '/graphql',
      method: 'POST',
      headers: request.headers,
      body: request.body.replace(newIdEachTime, () => randomUUID()),
    })
    const text = await body.text()
    if (status === 503 || status === 429) return { status }
    if (status === 200 && !text.startsWith('{"errors"')) return { status }
    return { status, problem: `${status} ${text.slice(0, 300)}` }
  } catch (error) {
    return { status: 0, problem: `${error}` }
  }
}

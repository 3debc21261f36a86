import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '../bench/child-process.ts'
import type { LoadMessage, LoadResult } from '../bench/overload/load-process.ts'
import { createRequests } from '../bench/overload/requests.ts'
import { openTimelines, timelineEnv, users } from '../bench/overload/timelines.ts'
import { quantile } from '../bench/statistics.ts'
import type { Cleanup } from '../faults/cleanup.ts'
import { secret } from '../tests/attacks/attack.ts'
import { Attackers } from './attackers.ts'
import { type MemoryReport, MemorySamples, samplesMin } from './memory-samples.ts'
import { startServer } from './server.ts'

/**
 * The honest requests a second, and how long they are sent without and with attackers in turn, in
 * milliseconds.
 */
const [perSecond, quietMs, attackMs] = [20, 5_000, 15_000]
/** By how much attackers may slow down honest requests. */
const latencyRatioMax = 3

/** What the bounds of a run are meant for. */
const needs = `a run needs two idle cores, and ${Math.ceil(samplesMin / 60)} minutes for its memory to be judged`

/** The result of a run. */
export interface SoakReport {
  readonly seed: number
  /** Latencies of honest requests without and with attackers, in milliseconds. */
  readonly honest: Readonly<Record<'quiet' | 'attacked', HonestResult>>
  readonly honest_p99_ratio: number
  readonly memory: Omit<MemoryReport, 'problems'>
  readonly attacks: Readonly<Record<string, number>>
  readonly problems: readonly string[]
}

interface HonestResult {
  readonly answered: number
  readonly refused: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** Attacks one production process for `minutes`, while honest viewers read, post and like. */
export async function runSoak(
  { minutes, seed }: { readonly minutes: number; readonly seed: number },
  cleanup: Cleanup,
  log: (line: string) => void,
): Promise<SoakReport> {
  const [loadBefore = 0] = loadavg()
  const { database, posts, ...timelines } = await openTimelines(log)
  cleanup.add(async () => timelines[Symbol.asyncDispose]())
  const server = await startServer(
    {
      ...timelineEnv,
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: database.db.databaseName,
      DRAIN_SECONDS: '0',
      RATE_LIMIT_MUTATIONS: '0',
    },
    cleanup,
  )
  const load = await startChild(join(import.meta.dirname, '../bench/overload/load-process.ts'))
  cleanup.add(async () => load[Symbol.asyncDispose]())
  const requests = await createRequests(users, posts, secret)
  await load.sendRequest({ port: server.port, requests } satisfies LoadMessage)
  const memory = new MemorySamples(() => server.readMemory())
  cleanup.add(() => memory.stop())
  const attackers = new Attackers(server.port, seed)
  const honest = { quiet: new Honest(), attacked: new Honest() }
  log(needs)
  log('warm-up')
  await sendHonest(load, quietMs)
  const cycles = Math.max(1, Math.round((minutes * 60_000) / (quietMs + attackMs)))
  memory.start()
  for (let cycle = 1; cycle <= cycles; cycle++) {
    honest.quiet.add(await sendHonest(load, quietMs))
    attackers.start(cycle)
    honest.attacked.add(await sendHonest(load, attackMs))
    await attackers.stop()
    const [quiet, attacked] = [honest.quiet.summarize(), honest.attacked.summarize()]
    log(
      `cycle ${cycle} of ${cycles}: honest p99 ${quiet.p99_ms} ms, under attack ` +
        `${attacked.p99_ms} ms; ${memory.lastMegabytes.toFixed(0)} MB`,
    )
  }
  memory.stop()
  const [quiet, attacked] = [honest.quiet.summarize(), honest.attacked.summarize()]
  const { problems: leaks, ...floors } = memory.report()
  const report = {
    seed,
    honest: { quiet, attacked },
    honest_p99_ratio: attacked.p99_ms / quiet.p99_ms,
    memory: floors,
    attacks: Object.fromEntries(attackers.counts),
  }
  const exitCode = await server.stop()
  const problems = [
    ...attackers.problems,
    ...honest.quiet.problems,
    ...honest.attacked.problems,
    ...(report.honest_p99_ratio <= latencyRatioMax
      ? []
      : [`the honest p99 is more than ${latencyRatioMax} times that without attackers`]),
    ...leaks,
    ...(exitCode === 0 ? [] : [`the server exited with ${exitCode}`]),
  ]
  const conditions = `${needs}; the load of this machine was ${loadBefore.toFixed(1)} on ${availableParallelism()} cores before it`
  return { ...report, problems: problems.length > 0 ? [...problems, conditions] : [] }
}

const sendHonest = (load: Child, ms: number) =>
  load.sendRequest<LoadResult>({ perSecond, ms, wantedMs: Number.MAX_SAFE_INTEGER })

/** The answers to honest requests. */
class Honest {
  /** Answers that are neither data nor refusals, at most ten for each load. */
  readonly problems: string[] = []
  private readonly acceptedMs: number[] = []
  private refused = 0

  add({ acceptedMs, refusedMs, problems }: LoadResult): void {
    this.acceptedMs.push(...acceptedMs)
    this.refused += refusedMs.length
    this.problems.push(...problems)
  }

  summarize(): HonestResult {
    const at = (q: number) => Math.round(quantile(this.acceptedMs, q) * 10) / 10
    const { length: answered } = this.acceptedMs
    return { answered, refused: this.refused, p50_ms: at(0.5), p99_ms: at(0.99) }
  }
}

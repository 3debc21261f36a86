import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Arrival, type ArrivalPlan, choicesOf, scheduleArrivals } from './arrivals.ts'
import type { Ask } from './client.ts'
import { type GeneratorHealth, HealthMonitor } from './health.ts'
import { followUpName, operations, type Turn, type World } from './operations.ts'
import type { OperationName } from './plan.ts'
import { Recorder, type RequestName, type StepRecord } from './recorder.ts'

/** What a load needs. */
export interface LoadParts {
  readonly plan: ArrivalPlan
  readonly world: World
  readonly ask: Ask
  /** The most requests that are open at once. */
  readonly outstandingMax: number
  /** The load ends after a step in which more than one of 100 requests took longer or failed, in milliseconds. */
  readonly untilP99Ms: number | undefined
  readonly onProgress: (arrivals: number) => void
  /** Ends the arrivals. */
  readonly signal: AbortSignal
}

/** What became of a load. */
export interface LoadOutcome {
  readonly recorder: Recorder
  readonly health: Pick<GeneratorHealth, 'cpuShare' | 'eventLoopDelayP99Ms'>
  /** The number of steps that kept the bound, if there is one. */
  readonly stepsWithin: number | undefined
  readonly isInterrupted: boolean
}

/** How long an interrupted load waits for open requests, in milliseconds. */
const interruptedMsMax = 2_000
/** How many requests that are late may begin before answers are received. */
const burstMax = 64

/**
 * Sends each request when it is due, whether or not those before it are answered (an open loop). Ends when the plan ends,
 * the bound is passed or the signal comes, after the answers of all open requests.
 */
export async function runLoad(parts: LoadParts): Promise<LoadOutcome> {
  return new Load(parts).run()
}

class Load {
  private readonly recorder: Recorder
  private readonly open = new Set<Promise<void>>()
  private beginMs = 0
  private begun = 0
  private failure: { readonly error: unknown } | undefined

  constructor(private readonly parts: LoadParts) {
    this.recorder = new Recorder(parts.plan.steps, parts.untilP99Ms)
  }

  async run(): Promise<LoadOutcome> {
    const { recorder, parts } = this
    let health = new HealthMonitor()
    this.beginMs = performance.now()
    let last: StepRecord | undefined
    let stepsWithin = parts.untilP99Ms === undefined ? undefined : 0
    for (const arrival of scheduleArrivals(parts.plan)) {
      const step = recorder.steps[arrival.step] as StepRecord
      const isNext = step !== last
      await this.waitUntil(arrival.dueMs)
      if (parts.signal.aborted || this.failure) break
      if (isNext && last?.step.isWarmUp) {
        health[Symbol.dispose]()
        health = new HealthMonitor()
      }
      if (isNext && last && !last.step.isWarmUp && stepsWithin !== undefined) {
        if (!this.keptBound(last)) break
        stepsWithin++
      }
      last = step
      this.dispatch(arrival, step)
    }
    const shown = health.read()
    health[Symbol.dispose]()
    await this.settle()
    if (this.failure) throw this.failure.error
    const isInterrupted = parts.signal.aborted
    const isLastStep = last === recorder.steps.at(-1)
    if (stepsWithin !== undefined && last && isLastStep && !isInterrupted && this.keptBound(last)) {
      stepsWithin++
    }
    recorder.slots.close()
    return { recorder, health: shown, stepsWithin, isInterrupted }
  }

  private keptBound(step: StepRecord): boolean {
    return step.isWithin(this.parts.untilP99Ms ?? Number.POSITIVE_INFINITY, performance.now())
  }

  private elapsedMs(): number {
    return performance.now() - this.beginMs
  }

  private async waitUntil(dueMs: number): Promise<void> {
    if (++this.begun % burstMax === 0) await nextTurn()
    for (let ms = dueMs - this.elapsedMs(); ms > 0; ms = dueMs - this.elapsedMs()) {
      const signal = this.parts.signal
      if (signal.aborted) return
      await sleep(ms, undefined, { signal }).catch(() => {})
    }
  }

  private dispatch({ index, operation, user, dueMs }: Arrival, step: StepRecord): void {
    const { recorder, parts } = this
    const { world, plan, outstandingMax } = parts
    recorder.arrive(step, dueMs)
    if (index % 32 === 0) parts.onProgress(index)
    if (this.open.size >= outstandingMax) {
      recorder.drop(step, this.elapsedMs())
      return
    }
    let isSent = false
    const asked = this.measured(step, operation, () => this.beginMs + dueMs)
    const ask: Ask = (request) => {
      isSent = true
      return asked(request)
    }
    const askMore = this.measured(step, followUpName, () => performance.now())
    const turn = { world, index, user, random: choicesOf(plan.seed, index), ask, askMore }
    const work = this.perform(operation, turn).then(() => {
      if (!isSent) recorder.drop(step, this.elapsedMs())
      this.open.delete(work)
    })
    this.open.add(work)
  }

  private async perform(operation: OperationName, turn: Turn): Promise<void> {
    try {
      await operations[operation].perform(turn)
    } catch (error) {
      this.failure ??= { error }
    }
  }

  private measured(step: StepRecord, name: RequestName, dueMs: () => number): Ask {
    return async (request) => {
      const sent = this.recorder.begin(step, name, dueMs())
      const answer = await this.parts.ask<never>(request)
      this.recorder.end(sent, answer, this.elapsedMs())
      return answer
    }
  }

  /** Waits for the open requests: each ends within its own time. After an interruption, only shortly. */
  private async settle(): Promise<void> {
    const all = Promise.all(this.open)
    if (!this.parts.signal.aborted) return void (await all)
    await Promise.race([all, sleep(interruptedMsMax)])
  }
}

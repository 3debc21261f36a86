import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Ask, requestMsMax } from './client.ts'
import { HealthMonitor } from './health.ts'
import { followUpName, operations, type World } from './operations.ts'
import { type Arrival, type ArrivalPlan, choicesOf, scheduleArrivals } from './plan.ts'
import { Recorder, type RequestName, type StepRecord } from './recorder.ts'

/** What a load needs. */
export interface LoadParts {
  readonly plan: ArrivalPlan
  readonly world: World
  readonly ask: Ask
  /** The most requests that are open at once. */
  readonly outstandingMax: number
  /**
   * The load ends after a step in which more than one of 100 requests took longer or failed, in
   * milliseconds.
   */
  readonly untilP99Ms: number | undefined
  readonly onProgress: (arrivals: number) => void
  /** Ends the arrivals. */
  readonly signal: AbortSignal
}

/** What became of a load. */
export interface LoadOutcome {
  readonly recorder: Recorder
  /** The highest rate that kept the bound, 0 if none did. Undefined without a bound. */
  readonly rateWithin: number | undefined
  readonly isInterrupted: boolean
}

/** How long an interrupted load waits for open requests, in milliseconds. */
const interruptedMsMax = 2_000
/** How many requests that are late may begin before answers are received. */
const burstMax = 64

/**
 * Sends each request when it is due, whether or not those before it are answered (an open loop).
 * With a bound, each step begins when the requests of the step before it are answered or late. Ends
 * when the plan ends, the bound is passed or the signal comes, after the answers of all open
 * requests.
 */
export async function runLoad(parts: LoadParts): Promise<LoadOutcome> {
  return new Load(parts).run()
}

class Load {
  private readonly recorder: Recorder
  private readonly open = new Set<Promise<void>>()
  /** When the run began, without the pauses between steps. */
  private beginMs = performance.now()
  private begun = 0
  private failure: { readonly error: unknown } | undefined
  /** The step of the last arrival, and the health of the generator since it began. */
  private current: { readonly step: StepRecord; readonly health: HealthMonitor } | undefined
  private rateWithin = 0
  private isBoundPassed = false

  constructor(private readonly parts: LoadParts) {
    this.recorder = new Recorder(parts.plan.steps, parts.untilP99Ms)
  }

  async run(): Promise<LoadOutcome> {
    const { recorder, parts } = this
    for (const arrival of scheduleArrivals(parts.plan)) {
      const step = recorder.steps[arrival.step] as StepRecord
      if (step !== this.current?.step) {
        await this.endStep()
        if (this.isBoundPassed) break
        this.current = { step, health: new HealthMonitor() }
      }
      await this.waitUntil(arrival.dueMs)
      if (parts.signal.aborted || this.failure) break
      this.dispatch(arrival, step)
    }
    await this.endStep()
    await this.answers(parts.signal.aborted ? interruptedMsMax : requestMsMax)
    if (this.failure) throw this.failure.error
    const rateWithin = parts.untilP99Ms === undefined ? undefined : this.rateWithin
    return { recorder, rateWithin, isInterrupted: parts.signal.aborted }
  }

  /** Ends the step of the last arrival, and judges it by the bound. */
  private async endStep(): Promise<void> {
    if (!this.current) return
    const { step, health } = this.current
    const { untilP99Ms, signal } = this.parts
    const endMs = step.beginMs + 1000 * step.step.seconds
    if (!this.failure) await this.waitUntil(endMs)
    this.current = undefined
    step.health = health.read()
    health[Symbol.dispose]()
    step.seconds = Math.min(step.seconds, Math.max(0, this.elapsedMs() - step.beginMs) / 1000)
    if (untilP99Ms === undefined || step.step.isWarmUp || step.arrivals === 0) return
    await this.answers(untilP99Ms, signal)
    if (signal.aborted) return
    this.isBoundPassed = !step.isWithinBound()
    if (!this.isBoundPassed) this.rateWithin = Math.max(this.rateWithin, step.step.perSecond)
    this.beginMs = performance.now() - endMs
  }

  private elapsedMs(): number {
    return performance.now() - this.beginMs
  }

  private async waitUntil(dueMs: number): Promise<void> {
    if (++this.begun % burstMax === 0) await nextTurn()
    const { signal } = this.parts
    for (let ms = dueMs - this.elapsedMs(); ms > 0; ms = dueMs - this.elapsedMs()) {
      if (signal.aborted) return
      await sleep(ms, undefined, { signal }).catch(() => {})
    }
  }

  private dispatch({ index, operation, user, dueMs }: Arrival, step: StepRecord): void {
    const { parts } = this
    const { world, plan, outstandingMax } = parts
    step.arrivals++
    if (index % 32 === 0) parts.onProgress(index)
    if (this.open.size >= outstandingMax) {
      step.dropped++
      return
    }
    let isSent = false
    const dueAtMs = this.beginMs + dueMs
    const asked = this.measured(step, operation, () => dueAtMs)
    const ask: Ask = (request) => {
      isSent = true
      return asked(request)
    }
    const askMore = this.measured(step, followUpName, () => performance.now())
    const turn = { world, index, user, random: choicesOf(plan.seed, index), ask, askMore }
    const work = operations[operation](turn)
      .catch((error: unknown) => {
        this.failure ??= { error }
      })
      .then(() => {
        if (!isSent) step.skipped++
        this.open.delete(work)
      })
    this.open.add(work)
  }

  private measured(step: StepRecord, name: RequestName, dueMs: () => number): Ask {
    return async (request) => {
      const sent = this.recorder.begin(step, name, dueMs())
      const answer = await this.parts.ask<never>(request)
      this.recorder.end(sent, answer)
      return answer
    }
  }

  /** Waits for the open requests, at most so long. @param signal ends the wait. */
  private async answers(msMax: number, signal?: AbortSignal): Promise<void> {
    const late = sleep(msMax, undefined, { ref: false, ...(signal && { signal }) })
    await Promise.race([Promise.all(this.open), late.catch(() => {})])
  }
}

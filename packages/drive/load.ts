import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Arrival, type ArrivalPlan, choicesOf, scheduleArrivals } from './arrivals.ts'
import type { Ask } from './client.ts'
import { HealthMonitor } from './health.ts'
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
  /**
   * The load ends when it is known that more than one of 100 requests of a step took longer or failed, in milliseconds.
   * Later steps count for nothing.
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
  /** The step of the last arrival, and the health of the generator since it began. */
  private current: { readonly step: StepRecord; readonly health: HealthMonitor } | undefined
  /** The number of the step that is judged next. */
  private judged = 0
  private rateWithin = 0
  private isBoundPassed = false

  constructor(private readonly parts: LoadParts) {
    this.recorder = new Recorder(parts.plan.steps, parts.untilP99Ms)
  }

  async run(): Promise<LoadOutcome> {
    const { recorder, parts } = this
    this.beginMs = performance.now()
    for (const arrival of scheduleArrivals(parts.plan)) {
      await this.waitUntil(arrival.dueMs)
      if (parts.signal.aborted) recorder.endAt(this.elapsedMs())
      this.judgeSteps(this.elapsedMs())
      if (parts.signal.aborted || this.failure || this.isBoundPassed) break
      const step = recorder.steps[arrival.step] as StepRecord
      if (step !== this.current?.step) this.beginStep(step)
      this.dispatch(arrival, step)
    }
    this.endStep()
    await this.settle()
    if (this.failure) throw this.failure.error
    const isInterrupted = parts.signal.aborted
    if (!isInterrupted) this.judgeSteps(Number.POSITIVE_INFINITY)
    recorder.slots.close()
    const rateWithin = parts.untilP99Ms === undefined ? undefined : this.rateWithin
    return { recorder, rateWithin, isInterrupted }
  }

  private beginStep(step: StepRecord): void {
    this.endStep()
    this.current = { step, health: new HealthMonitor() }
  }

  private endStep(): void {
    if (!this.current) return
    const { step, health } = this.current
    step.health = health.read()
    health[Symbol.dispose]()
  }

  /**
   * Judges each step that has ended as soon as no answer can change the verdict. Until then arrivals of the next step
   * go on.
   * @param elapsedMs the time since the begin of the run.
   */
  private judgeSteps(elapsedMs: number): void {
    const { recorder, parts } = this
    const boundMs = parts.untilP99Ms
    if (boundMs === undefined || this.isBoundPassed) return
    const nowMs = performance.now()
    for (; this.judged < recorder.steps.length; this.judged++) {
      const step = recorder.steps[this.judged] as StepRecord
      if (step.step.isWarmUp) continue
      const isOver = elapsedMs >= step.endMs + (step.open.size === 0 ? 0 : boundMs)
      if (!isOver || !step.isDecided(boundMs, nowMs)) return
      if (step.arrivals === 0) continue
      if (!step.isWithin(boundMs, nowMs)) {
        this.isBoundPassed = true
        recorder.endAfter(step)
        return
      }
      this.rateWithin = Math.max(this.rateWithin, step.step.perSecond)
    }
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
      if (!isSent) step.skipped++
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

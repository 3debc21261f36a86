import { type Answer, isAnswered } from './client.ts'
import type { GeneratorHealth } from './health.ts'
import { Latencies } from './latencies.ts'
import { followUpName } from './operations.ts'
import type { OperationName, Step } from './plan.ts'

/** What is counted apart: each operation, and what follows from polls. */
export type RequestName = OperationName | typeof followUpName

/** The requests of one name in one step, or of all. */
export class Tally {
  sent = 0
  ok = 0
  /** How many of `ok` said that nothing had changed. */
  unchanged = 0
  readonly errors = new Map<string, number>()
  readonly latencies = new Latencies()

  add(other: Tally): this {
    this.sent += other.sent
    this.ok += other.ok
    this.unchanged += other.unchanged
    for (const [code, count] of other.errors) this.addError(code, count)
    this.latencies.add(other.latencies)
    return this
  }

  addError(code: string, count = 1): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + count)
  }

  get failed(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0)
  }
}

/** What was measured in one step. A request belongs to the step in which it was due. */
export class StepRecord {
  arrivals = 0
  /** Arrivals that sent nothing, because too many requests were open. */
  dropped = 0
  /** Arrivals that sent nothing, because there was no post to like, or each poller was polling. */
  skipped = 0
  /** How long arrivals came. */
  seconds: number
  /** How much the generator used in the step. */
  health: Pick<GeneratorHealth, 'cpuShare' | 'eventLoopDelayP99Ms'> = {
    cpuShare: 0,
    eventLoopDelayP99Ms: 0,
  }
  /** By how much arrivals were sent later than due. */
  readonly lateness = new Latencies()
  /** Requests that failed, or were answered later than the bound of the run. */
  overBound = 0
  readonly tallies = new Map<RequestName, Tally>()

  /** @param beginMs when the step is planned to begin, from the begin of the run. */
  constructor(
    readonly step: Step,
    readonly beginMs: number,
  ) {
    this.seconds = step.seconds
  }

  tallyOf(name: RequestName): Tally {
    const tally = this.tallies.get(name) ?? new Tally()
    this.tallies.set(name, tally)
    return tally
  }

  /** All requests of the step. */
  total(): Tally {
    return [...this.tallies.values()].reduce((total, tally) => total.add(tally), new Tally())
  }

  /** Whether at least 99 of 100 requests were answered within the bound. An open or dropped one was not. */
  isWithinBound(): boolean {
    const { sent, ok, failed } = this.total()
    const late = this.overBound + (sent - ok - failed) + this.dropped
    return late * 100 <= sent + this.dropped
  }
}

/** A request that is not answered yet. */
interface Sent {
  readonly step: StepRecord
  readonly name: RequestName
  /** When it was due, on the clock of `performance.now`. */
  readonly dueMs: number
}

/** The most slots of a run. */
const slotsMax = 600

/** What happened in a short time of the run. */
export interface TimeSlot {
  /** The begin, in seconds from the end of the warm-up. */
  readonly atSeconds: number
  /** Arrivals, answers to them, failed requests and dropped arrivals of this time. */
  offered: number
  ok: number
  failed: number
  dropped: number
  /** Median and p99 of the answers of this time. Absent without answers. */
  latency?: { readonly p50Ms: number; readonly p99Ms: number }
}

/** Records every request of a run, in bounded memory. */
export class Recorder {
  readonly steps: readonly StepRecord[]
  /** What happened over time, in slots of a second or more: at most 600, and some for late answers. */
  readonly slots: TimeSlot[] = []
  readonly slotSeconds: number
  /** The latencies of the newest slot. */
  private readonly latencies = new Latencies()
  private measuredFromMs: number | undefined

  /** @param boundMs the bound that 99 of 100 requests should keep, if there is one. */
  constructor(
    steps: readonly Step[],
    private readonly boundMs: number | undefined,
  ) {
    let beginMs = 0
    this.steps = steps.map((step) => {
      const record = new StepRecord(step, beginMs)
      beginMs += 1000 * step.seconds
      return record
    })
    this.slotSeconds = Math.max(1, Math.ceil(beginMs / 1000 / slotsMax))
  }

  arrive(step: StepRecord): void {
    step.arrivals++
    this.countInSlot(step, 'offered')
  }

  /** Counts an arrival that found too many open requests. */
  drop(step: StepRecord): void {
    step.dropped++
    this.countInSlot(step, 'dropped')
  }

  begin(step: StepRecord, name: RequestName, dueMs: number): Sent {
    step.tallyOf(name).sent++
    // What follows from an answer is due when it is sent.
    if (name !== followUpName) step.lateness.record(performance.now() - dueMs)
    return { step, name, dueMs }
  }

  end({ step, name, dueMs }: Sent, answer: Answer<unknown>): void {
    const tally = step.tallyOf(name)
    const ms = performance.now() - dueMs
    const isOk = isAnswered(answer)
    if (isOk) {
      tally.ok++
      if (answer.code === 'NOT_MODIFIED') tally.unchanged++
      tally.latencies.record(ms)
      if (name !== followUpName) this.countInSlot(step, 'ok')
      if (!step.step.isWarmUp) this.latencies.record(ms)
    } else {
      tally.addError(answer.code)
      this.countInSlot(step, 'failed')
    }
    if (this.boundMs !== undefined && (!isOk || ms > this.boundMs)) step.overBound++
  }

  /** The steps that had arrivals, without the warm-up. */
  get measured(): readonly StepRecord[] {
    return this.steps.filter(({ step, arrivals }) => !step.isWarmUp && arrivals > 0)
  }

  /** The requests of all measured steps by name. */
  totals(): Map<RequestName, Tally> {
    const totals = new Map<RequestName, Tally>()
    for (const { tallies } of this.measured) {
      for (const [name, tally] of tallies) {
        totals.set(name, (totals.get(name) ?? new Tally()).add(tally))
      }
    }
    return totals
  }

  /** Counts in the slot of now. The warm-up has none. */
  private countInSlot({ step }: StepRecord, what: 'offered' | 'ok' | 'failed' | 'dropped'): void {
    if (step.isWarmUp) return
    const nowMs = performance.now()
    this.measuredFromMs ??= nowMs
    const place = Math.floor((nowMs - this.measuredFromMs) / 1000 / this.slotSeconds)
    while (this.slots.length <= place) {
      this.closeSlot()
      const atSeconds = this.slots.length * this.slotSeconds
      this.slots.push({ atSeconds, offered: 0, ok: 0, failed: 0, dropped: 0 })
    }
    const slot = this.slots[place] as TimeSlot
    slot[what]++
  }

  /** Ends the newest slot. */
  closeSlot(): void {
    const slot = this.slots.at(-1)
    if (slot && this.latencies.count > 0) {
      slot.latency = {
        p50Ms: this.latencies.percentile(50),
        p99Ms: this.latencies.percentile(99),
      }
    }
    this.latencies.reset()
  }
}

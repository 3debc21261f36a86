import { type Answer, isAnswered } from './client.ts'
import type { GeneratorHealth } from './health.ts'
import { Latencies } from './latencies.ts'
import { followUpName } from './operations.ts'
import type { OperationName, Step } from './plan.ts'
import { type TimeSlot, TimeSlots } from './time-slots.ts'

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

  add(other: Tally): void {
    this.sent += other.sent
    this.ok += other.ok
    this.unchanged += other.unchanged
    for (const [code, count] of other.errors) addCount(this.errors, code, count)
    this.latencies.add(other.latencies)
  }

  get failed(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0)
  }
}

/** A request that is not answered yet. */
export interface Sent {
  readonly step: StepRecord
  readonly name: RequestName
  /** When it was due, on the clock of `performance.now`. */
  readonly dueMs: number
}

/** What was measured in one step. A request belongs to the step in which it was due. */
export class StepRecord {
  arrivals = 0
  /** Arrivals that sent nothing, because too many requests were open. */
  dropped = 0
  /** Arrivals that sent nothing, because there was no post to like, or each poller was polling. */
  skipped = 0
  /** How much the generator used in the step. */
  health: StepHealth = { cpuShare: 0, eventLoopDelayP99Ms: 0 }
  /** By how much arrivals were sent later than due. */
  readonly lateness = new Latencies()
  /** Requests that failed, or were answered later than the bound of the run. */
  private overBound = 0
  readonly tallies = new Map<RequestName, Tally>()
  readonly open = new Set<Sent>()

  /** @param beginMs the time since the begin of the run. */
  constructor(
    readonly step: Step,
    readonly beginMs: number,
  ) {}

  get endMs(): number {
    return this.beginMs + 1000 * this.step.seconds
  }

  tallyOf(name: RequestName): Tally {
    const tally = this.tallies.get(name) ?? new Tally()
    this.tallies.set(name, tally)
    return tally
  }

  /** All requests of the step, of one name or of all. */
  total(): Tally {
    const total = new Tally()
    for (const tally of this.tallies.values()) total.add(tally)
    return total
  }

  countOverBound(): void {
    this.overBound++
  }

  /** Whether each request is answered, or open for longer than the bound. */
  isDecided(boundMs: number, nowMs: number): boolean {
    return this.open.size === this.countOverdue(boundMs, nowMs)
  }

  /**
   * Whether at least 99 of 100 requests were answered within the bound. A request that is open for longer was not, and
   * neither was a dropped one.
   */
  isWithin(boundMs: number, nowMs: number): boolean {
    const late = this.overBound + this.countOverdue(boundMs, nowMs) + this.dropped
    return late * 100 <= this.total().sent + this.dropped
  }

  private countOverdue(boundMs: number, nowMs: number): number {
    return [...this.open].filter(({ dueMs }) => nowMs - dueMs > boundMs).length
  }
}

/** What is known of the generator's health apart from its arrivals. */
export type StepHealth = Pick<GeneratorHealth, 'cpuShare' | 'eventLoopDelayP99Ms'>

/** Records every request of a run, in bounded memory. */
export class Recorder {
  readonly steps: readonly StepRecord[]
  readonly slots: TimeSlots
  /** When the arrivals ended early. */
  private endMs = Number.POSITIVE_INFINITY
  /** How many steps count. */
  private stepCount: number

  /** @param boundMs the bound that 99 of 100 requests should keep, if there is one. */
  constructor(
    steps: readonly Step[],
    private readonly boundMs: number | undefined,
  ) {
    let beginMs = 0
    this.steps = steps.map((step) => {
      const record = new StepRecord(step, beginMs)
      beginMs = record.endMs
      return record
    })
    this.stepCount = steps.length
    const seconds = steps.map((step) => (step.isWarmUp ? 0 : step.seconds))
    this.slots = new TimeSlots(seconds.reduce((sum, each) => sum + each, 0))
  }

  /** @param atMs the time since the begin of the run. */
  arrive(step: StepRecord, atMs: number): void {
    step.arrivals++
    const slot = this.slotOf(step, atMs)
    if (slot) slot.offered++
  }

  /** Counts an arrival that found too many open requests. */
  drop(step: StepRecord, atMs: number): void {
    step.dropped++
    const slot = this.slotOf(step, atMs)
    if (slot) slot.dropped++
  }

  /** Notes that the arrivals ended early. @param atMs the time since the begin of the run. */
  endAt(atMs: number): void {
    this.endMs = atMs
  }

  /** Leaves the steps after one out of every result. */
  endAfter(step: StepRecord): void {
    this.stepCount = this.steps.indexOf(step) + 1
  }

  /** How long a step took, in seconds. */
  secondsOf({ step, beginMs, endMs }: StepRecord): number {
    return endMs <= this.endMs ? step.seconds : Math.max(0, this.endMs - beginMs) / 1000
  }

  /** The slot of a time. The warm-up has none. */
  private slotOf({ step }: StepRecord, atMs: number): TimeSlot | undefined {
    if (step.isWarmUp) return undefined
    const warmUpMs = this.steps[0]?.step.isWarmUp ? this.steps[0].endMs : 0
    return this.slots.at(atMs - warmUpMs)
  }

  begin(step: StepRecord, name: RequestName, dueMs: number): Sent {
    const sent = { step, name, dueMs }
    step.tallyOf(name).sent++
    step.open.add(sent)
    // What follows from an answer is due when it is sent.
    if (name !== followUpName) step.lateness.record(performance.now() - dueMs)
    return sent
  }

  /** @param atMs the time since the begin of the run. */
  end(sent: Sent, answer: Answer<unknown>, atMs: number): void {
    const { step, name, dueMs } = sent
    const tally = step.tallyOf(name)
    const slot = this.slotOf(step, atMs)
    const ms = performance.now() - dueMs
    step.open.delete(sent)
    const isOk = isAnswered(answer)
    if (isOk) {
      tally.ok++
      if (answer.code === 'NOT_MODIFIED') tally.unchanged++
      tally.latencies.record(ms)
      if (slot) {
        if (name !== followUpName) slot.ok++
        this.slots.recordLatency(name, ms)
      }
    } else {
      addCount(tally.errors, answer.code)
      if (slot) slot.failed++
    }
    if (this.boundMs !== undefined && (!isOk || ms > this.boundMs)) step.countOverBound()
  }

  /** The steps that count: without the warm-up, and without those that had not begun when the run ended. */
  get measured(): readonly StepRecord[] {
    return this.steps
      .slice(0, this.stepCount)
      .filter(({ step, arrivals }) => !step.isWarmUp && arrivals > 0)
  }

  /** The requests of all measured steps by name. */
  totals(): Map<RequestName, Tally> {
    const totals = new Map<RequestName, Tally>()
    for (const { tallies } of this.measured) {
      for (const [name, tally] of tallies) {
        const total = totals.get(name) ?? new Tally()
        total.add(tally)
        totals.set(name, total)
      }
    }
    return totals
  }
}

const addCount = (counts: Map<string, number>, key: string, by = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by)

import { type Answer, isAnswered } from './client.ts'
import { Latencies } from './latencies.ts'
import type { followUpName } from './operations.ts'
import type { OperationName, Step } from './plan.ts'
import { TimeSlots } from './time-slots.ts'

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
  /** Requests that failed, or were answered later than the bound of the run. */
  private overBound = 0
  readonly tallies = new Map<RequestName, Tally>()
  readonly open = new Set<Sent>()

  constructor(readonly step: Step) {}

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

  /**
   * Whether at least 99 of 100 requests were answered within the bound. A request that is open for longer was not, and
   * neither was a dropped one.
   */
  isWithin(boundMs: number, nowMs: number): boolean {
    const overdue = [...this.open].filter(({ dueMs }) => nowMs - dueMs > boundMs).length
    const total = this.total().sent + this.dropped
    return (this.overBound + overdue + this.dropped) * 100 <= total
  }
}

/** Records every request of a run, in bounded memory. */
export class Recorder {
  readonly steps: readonly StepRecord[]
  readonly slots: TimeSlots
  /** By how much requests were sent later than due. */
  readonly lateness = new Latencies()

  /** @param boundMs the bound that 99 of 100 requests should keep, if there is one. */
  constructor(
    steps: readonly Step[],
    private readonly boundMs: number | undefined,
  ) {
    this.steps = steps.map((step) => new StepRecord(step))
    this.slots = new TimeSlots(steps.reduce((sum, { seconds }) => sum + seconds, 0))
  }

  /** @param atMs the time since the begin of the run. */
  arrive(step: StepRecord, atMs: number): void {
    step.arrivals++
    this.slots.at(atMs).offered++
  }

  drop(step: StepRecord, atMs: number): void {
    step.dropped++
    this.slots.at(atMs).dropped++
  }

  begin(step: StepRecord, name: RequestName, dueMs: number): Sent {
    const sent = { step, name, dueMs }
    step.tallyOf(name).sent++
    step.open.add(sent)
    if (!step.step.isWarmUp) this.lateness.record(performance.now() - dueMs)
    return sent
  }

  /** @param atMs the time since the begin of the run. */
  end(sent: Sent, answer: Answer<unknown>, atMs: number): void {
    const { step, name, dueMs } = sent
    const tally = step.tallyOf(name)
    const slot = this.slots.at(atMs)
    const ms = performance.now() - dueMs
    step.open.delete(sent)
    const isOk = isAnswered(answer)
    if (isOk) {
      tally.ok++
      if (answer.code === 'NOT_MODIFIED') tally.unchanged++
      tally.latencies.record(ms)
      slot.ok++
      this.slots.recordLatency(name, ms)
    } else {
      addCount(tally.errors, answer.code)
      slot.failed++
    }
    if (this.boundMs !== undefined && (!isOk || ms > this.boundMs)) step.countOverBound()
  }

  /** The steps that count: without the warm-up, and without those that had not begun when the run ended. */
  get measured(): readonly StepRecord[] {
    return this.steps.filter(({ step, arrivals }) => !step.isWarmUp && arrivals > 0)
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

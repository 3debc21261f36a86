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

  /**
   * Whether at least 99 of 100 requests were answered within the bound. An open or dropped one was
   * not.
   */
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

/** Records every request of a run, in bounded memory. */
export class Recorder {
  readonly steps: readonly StepRecord[]

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
    } else tally.addError(answer.code)
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
}

import { randomAt } from '../../src/imports/random.ts'
import { type Mix, type OperationName, operationNames, type Spacing, type Step } from './plan.ts'

/** A request that is due, whatever became of those before it. */
export interface Arrival {
  /** The number of the arrival in the run, from 0. Seeds the choices of its operation. */
  readonly index: number
  /** The number of its step. */
  readonly step: number
  /** When it is due, in milliseconds from the begin of the run. */
  readonly dueMs: number
  readonly operation: OperationName
  /** The number of the acting user. */
  readonly user: number
}

/** What decides the arrivals of a run. Equal plans have equal arrivals. */
export interface ArrivalPlan {
  readonly steps: readonly Step[]
  readonly spacing: Spacing
  readonly mix: Mix
  readonly users: number
  readonly seed: number
}

/** The streams of random numbers. Choices of operations use the streams from `choice` on. */
const streams = { gap: 0, operation: 1, user: 2, choice: 3 } as const

/** Lists the arrivals of a run in order of time. Memory does not grow with their number. */
export function* scheduleArrivals(plan: ArrivalPlan): Generator<Arrival> {
  const { steps, spacing, mix, users, seed } = plan
  const drawOperation = operationDrawer(mix)
  let index = 0
  let beginMs = 0
  for (const [step, { perSecond, seconds }] of steps.entries()) {
    const endMs = beginMs + seconds * 1000
    const gapMs = () => {
      const factor = spacing === 'constant' ? 1 : -Math.log(1 - randomAt(seed, index, streams.gap))
      return (factor * 1000) / perSecond
    }
    // The first of equal gaps begins the step.
    let dueMs = beginMs + (spacing === 'constant' ? 0 : gapMs())
    while (dueMs < endMs) {
      const operation = drawOperation(randomAt(seed, index, streams.operation))
      const user = Math.floor(randomAt(seed, index, streams.user) * users)
      yield { index, step, dueMs, operation, user }
      index++
      dueMs += gapMs()
    }
    beginMs = endMs
  }
}

/** The random numbers of one arrival: the nth call returns the nth number, at least 0 and below 1. */
export function choicesOf(seed: number, index: number): () => number {
  let stream: number = streams.choice
  return () => randomAt(seed, index, stream++)
}

function operationDrawer(mix: Mix): (random: number) => OperationName {
  const weighted = operationNames.filter((name) => mix[name] > 0)
  const total = weighted.reduce((sum, name) => sum + mix[name], 0)
  return (random) => {
    let left = random * total
    for (const name of weighted) {
      left -= mix[name]
      if (left < 0) return name
    }
    return weighted.at(-1) as OperationName
  }
}

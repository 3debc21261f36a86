import { randomAt } from './random.ts'

/** What a simulated user does. `operations.ts` says how. */
export const operationNames = ['home', 'profile', 'compose', 'follow', 'like', 'poll'] as const
export type OperationName = (typeof operationNames)[number]

/** The weight of each operation, at least 0. */
export type Mix = Readonly<Record<OperationName, number>>

/** The weights of a run whose operator names none. */
export const defaultMix: Mix = { home: 60, profile: 15, compose: 5, follow: 2, like: 8, poll: 10 }

/** How arrivals are spaced: by exponential gaps, as independent users arrive, or by equal ones. */
export const spacings = ['poisson', 'constant'] as const
export type Spacing = (typeof spacings)[number]

/** What a run does, by the names of the options. */
export interface DriveSettings {
  /** The addresses of the processes, which get requests in turn. */
  readonly url: readonly URL[]
  readonly users: number
  readonly prefix: string
  readonly follows: number
  readonly posts: number
  /** Arrivals per second of each step. */
  readonly rate: readonly number[]
  /** The seconds of a step, and of the warm-up. */
  readonly step: number
  readonly warmup: number
  readonly mix: Mix
  readonly arrivals: Spacing
  /** In milliseconds. */
  readonly untilP99?: number
  readonly sample: number
  readonly seed: number
}

/** A time in which arrivals have one rate. */
export interface Step {
  readonly perSecond: number
  readonly seconds: number
  /** The step is left out of every result. */
  readonly isWarmUp: boolean
}

/** The highest rate, the most steps, weights of an operation, and arrivals of a run. */
export const [perSecondMax, stepsMax, weightMax, arrivalsMax] = [20_000, 100, 1_000, 10_000_000]

const ratePattern = /^(\d{1,6})(?:\.\.(\d{1,6})\/(\d{1,3}))?$/
const rateForm = `must be a rate per second from 1 to ${perSecondMax}, such as 50, or a ramp such as 50..500/6 with 2 to ${stepsMax} steps`

/**
 * Reads a rate, `50`, or a ramp of equal differences, `50..500/6`.
 * @returns the rates of the steps, in requests per second.
 * @throws {RangeError} that says what is wrong.
 */
export function parseRates(text: string): number[] {
  const [, from = '', to = from, steps = '1'] = ratePattern.exec(text) ?? []
  const [first, last, count] = [Number(from), Number(to), Number(steps)]
  const isRamp = text.includes('..')
  const isValid =
    from !== '' &&
    [first, last].every((rate) => rate >= 1 && rate <= perSecondMax) &&
    (isRamp ? count >= 2 && count <= stepsMax : true)
  if (!isValid) throw new RangeError(rateForm)
  return Array.from({ length: count }, (_, at) =>
    count === 1 ? first : first + ((last - first) * at) / (count - 1),
  )
}

/**
 * Reads weights such as `home=60,poll=30`. An operation that is not named has the weight 0.
 * @throws {RangeError} that says what is wrong.
 */
export function parseMix(text: string): Mix {
  const weights = new Map<string, number>()
  for (const part of text.split(',')) {
    const [, name = '', weight = ''] = /^([a-z]+)=(\d{1,4})$/.exec(part.trim()) ?? []
    const isName = (operationNames as readonly string[]).includes(name)
    if (!isName || Number(weight) > weightMax || weights.has(name)) {
      throw new RangeError(
        `must be weights from 0 to ${weightMax} of ${operationNames.join(', ')}, each once, such as home=60,poll=30`,
      )
    }
    weights.set(name, Number(weight))
  }
  if ([...weights.values()].every((weight) => weight === 0)) {
    throw new RangeError('must have a weight above 0')
  }
  return Object.fromEntries(operationNames.map((name) => [name, weights.get(name) ?? 0])) as Mix
}

/** Plans the steps: the warm-up at the first rate, if it has a length, then each rate. */
export function planSteps(
  rates: readonly number[],
  stepSeconds: number,
  warmUpSeconds: number,
): Step[] {
  const measured = rates.map((perSecond) => ({ perSecond, seconds: stepSeconds, isWarmUp: false }))
  const [first] = measured
  return first && warmUpSeconds > 0
    ? [{ ...first, seconds: warmUpSeconds, isWarmUp: true }, ...measured]
    : measured
}

/** The number of arrivals that the steps plan. */
export const plannedArrivals = (steps: readonly Step[]): number =>
  Math.round(steps.reduce((sum, { perSecond, seconds }) => sum + perSecond * seconds, 0))

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
      const operation = drawOperation(mix, randomAt(seed, index, streams.operation))
      const user = Math.floor(randomAt(seed, index, streams.user) * users)
      yield { index, step, dueMs, operation, user }
      index++
      dueMs += gapMs()
    }
    beginMs = endMs
  }
}

/**
 * The random numbers of one arrival: the nth call returns the nth number, at least 0 and below 1.
 */
export function choicesOf(seed: number, index: number): () => number {
  let stream: number = streams.choice
  return () => randomAt(seed, index, stream++)
}

function drawOperation(mix: Mix, random: number): OperationName {
  const weighted = operationNames.filter((name) => mix[name] > 0)
  let left = random * weighted.reduce((sum, name) => sum + mix[name], 0)
  const drawn = weighted.find((name) => {
    left -= mix[name]
    return left < 0
  })
  return drawn ?? (weighted.at(-1) as OperationName)
}

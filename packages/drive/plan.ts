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
  const mix = Object.fromEntries(operationNames.map((name) => [name, 0])) as Record<
    OperationName,
    number
  >
  const named = new Set<string>()
  for (const part of text.split(',')) {
    const [, name = '', weight = ''] = /^([a-z]+)=(\d{1,4})$/.exec(part.trim()) ?? []
    if (!isOperation(name) || Number(weight) > weightMax || named.has(name)) {
      throw new RangeError(
        `must be weights from 0 to ${weightMax} of ${operationNames.join(', ')}, each once, such as home=60,poll=30`,
      )
    }
    named.add(name)
    mix[name] = Number(weight)
  }
  if (operationNames.every((name) => mix[name] === 0)) {
    throw new RangeError('must have a weight above 0')
  }
  return mix
}

const isOperation = (name: string): name is OperationName =>
  (operationNames as readonly string[]).includes(name)

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

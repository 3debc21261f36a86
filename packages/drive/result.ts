import { findLimits, type GeneratorHealth } from './health.ts'
import type { Percentiles } from './latencies.ts'
import type { LoadOutcome } from './load.ts'
import { followUpName } from './operations.ts'
import { type DriveSettings, operationNames } from './plan.ts'
import { type RequestName, type StepRecord, Tally } from './recorder.ts'
import type { VerificationResult } from './verification.ts'

/** The requests of one name. */
export interface RequestResult {
  readonly sent: number
  readonly ok: number
  /** How many of `ok` were answers 304. */
  readonly unchanged: number
  readonly errors: Readonly<Record<string, number>>
  /**
   * Latencies of the answers in `ok`, from the time at which each request was due. Absent without
   * answers.
   */
  readonly latency?: Percentiles
}

/** One rate of a run. */
export interface StepResult {
  readonly perSecond: number
  readonly seconds: number
  readonly arrivals: number
  readonly dropped: number
  readonly skipped: number
  readonly sent: number
  readonly ok: number
  readonly failed: number
  /** Arrivals that were answered with data, per second. What follows from polls does not count. */
  readonly achievedPerSecond: number
  readonly latency?: Percentiles
  readonly generator: GeneratorHealth
}

/** The measured part of a result. */
export interface LoadResult {
  readonly interrupted: boolean
  readonly steps: readonly StepResult[]
  /** The highest rate that kept `untilP99`, 0 if none did. Absent without the bound. */
  readonly highestRateWithin?: number
  readonly operations: Readonly<Record<string, RequestResult>>
  readonly total: RequestResult
  /** The worst value of all steps. */
  readonly generator: GeneratorHealth
  /**
   * Why a step measured the generator instead of the deployment, with its rate. Empty if the run is
   * valid.
   */
  readonly limits: readonly string[]
}

/** The result of a run. */
export interface DriveResult extends LoadResult {
  readonly settings: DriveSettings
  readonly versions: { readonly feedline: string; readonly node: string }
  readonly startedAt: string
  readonly acknowledged: {
    readonly posts: number
    readonly follows: number
    readonly likes: number
  }
  /** Absent if the run was interrupted, or the deployment did not answer. */
  readonly verification?: VerificationResult
  /** Why there is no verification. */
  readonly unverified?: string
}

/**
 * The exit code of a run. 1: something is wrong or could not be verified, or no request was
 * answered. 2: the generator was at its limit.
 */
export function exitCodeOf(
  result: Pick<DriveResult, 'verification' | 'limits' | 'total'>,
): 0 | 1 | 2 {
  const { verification, limits, total } = result
  const isVerified = verification?.differences === 0 && verification.unverified === 0
  if (!isVerified || total.ok === 0) return 1
  return limits.length > 0 ? 2 : 0
}

const requestNames: readonly RequestName[] = [...operationNames, followUpName]

/** Summarizes a load without its warm-up. */
export function summarizeLoad(outcome: LoadOutcome): LoadResult {
  const { recorder, rateWithin, isInterrupted } = outcome
  const totals = recorder.totals()
  const steps = recorder.measured.map(summarizeStep)
  const worst = (name: keyof GeneratorHealth) =>
    Math.max(0, ...steps.map(({ generator }) => generator[name]))
  return {
    interrupted: isInterrupted,
    steps,
    ...(rateWithin === undefined ? {} : { highestRateWithin: rateWithin }),
    operations: Object.fromEntries(
      requestNames.flatMap((name) => {
        const tally = totals.get(name)
        return tally ? [[name, summarize(tally)]] : []
      }),
    ),
    total: summarize([...totals.values()].reduce((sum, each) => sum.add(each), new Tally())),
    generator: {
      cpuShare: worst('cpuShare'),
      eventLoopDelayP99Ms: worst('eventLoopDelayP99Ms'),
      lateP99Ms: worst('lateP99Ms'),
      droppedShare: worst('droppedShare'),
    },
    limits: steps.flatMap(({ perSecond, generator }) => {
      const reasons = findLimits(generator).join(', ')
      return reasons === '' ? [] : [`at ${Number(perSecond.toFixed(1))}/s ${reasons}`]
    }),
  }
}

function summarizeStep(record: StepRecord): StepResult {
  const { step, seconds, arrivals, dropped, skipped, health, lateness } = record
  const { sent, ok, failed, latencies } = record.total()
  const latency = latencies.summarize()
  const followUps = record.tallies.get(followUpName)?.ok ?? 0
  return {
    perSecond: step.perSecond,
    seconds,
    arrivals,
    dropped,
    skipped,
    sent,
    ok,
    failed,
    achievedPerSecond: seconds === 0 ? 0 : (ok - followUps) / seconds,
    ...(latency && { latency }),
    generator: {
      ...health,
      lateP99Ms: lateness.percentile(99),
      droppedShare: arrivals === 0 ? 0 : dropped / arrivals,
    },
  }
}

function summarize({ sent, ok, unchanged, errors, latencies }: Tally): RequestResult {
  const latency = latencies.summarize()
  return { sent, ok, unchanged, errors: Object.fromEntries(errors), ...(latency && { latency }) }
}

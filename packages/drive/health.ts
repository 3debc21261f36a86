import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How well the load generator itself did. */
export interface GeneratorHealth {
  /** Processor time per second: 1 is a core. */
  readonly cpuShare: number
  /** By how much the event loop was late, for 99 of 100 samples, in milliseconds. */
  readonly eventLoopDelayP99Ms: number
  /**
   * By how much 99 of 100 requests were sent later than due, in milliseconds. Latencies include it.
   */
  readonly lateP99Ms: number
  /** The share of arrivals that sent nothing, because too many requests were open. */
  readonly droppedShare: number
}

/** Beyond these bounds, a run measures the generator. */
export const healthBounds: GeneratorHealth = {
  cpuShare: 0.85,
  eventLoopDelayP99Ms: 25,
  lateP99Ms: 25,
  droppedShare: 0.01,
}

const resolutionMs = 5

/** Measures this process from now on. */
export class HealthMonitor implements Disposable {
  private readonly delay = monitorEventLoopDelay({ resolution: resolutionMs })
  private readonly cpu = process.cpuUsage()
  private readonly beganMs = performance.now()

  constructor() {
    this.delay.enable()
  }

  /** The share of a core that this process has used, and the delay of its event loop. */
  read(): Pick<GeneratorHealth, 'cpuShare' | 'eventLoopDelayP99Ms'> {
    const { user, system } = process.cpuUsage(this.cpu)
    const delayMs = this.delay.percentile(99) / 1e6 - resolutionMs
    return {
      cpuShare: (user + system) / 1000 / Math.max(performance.now() - this.beganMs, 1),
      eventLoopDelayP99Ms: Math.max(0, delayMs),
    }
  }

  [Symbol.dispose](): void {
    this.delay.disable()
  }
}

/** Why a run measured its generator instead of the deployment. Empty if it did not. */
export function findLimits(health: GeneratorHealth): string[] {
  const { cpuShare, eventLoopDelayP99Ms, lateP99Ms, droppedShare } = health
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const limits: readonly (readonly [keyof GeneratorHealth, string])[] = [
    ['cpuShare', `it used ${percent(cpuShare)} of a core`],
    ['eventLoopDelayP99Ms', `its event loop was ${ms(eventLoopDelayP99Ms)} late (p99)`],
    ['lateP99Ms', `it sent requests ${ms(lateP99Ms)} late (p99)`],
    ['droppedShare', `it dropped ${percent(droppedShare)} of the arrivals`],
  ]
  return limits.flatMap(([name, reason]) => (health[name] > healthBounds[name] ? [reason] : []))
}

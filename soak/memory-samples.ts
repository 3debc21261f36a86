import type { ServerMemory } from './server.ts'

/** By how much the floor of the last third may be above that of the middle third. */
const floorRatioMax = 1.05
/** The samples of a run that can be judged: each third has many collections of garbage. */
export const samplesMin = 300

/** What is judged of the memory of a process. */
export interface MemoryReport {
  /** The least resident memory in each third of the run, in megabytes. */
  readonly resident_floor_mb: readonly number[]
  /** The same of what objects and buffers use. */
  readonly used_floor_mb: readonly number[]
  readonly problems: readonly string[]
}

/** Samples of the memory of a process, one a second. */
export class MemorySamples {
  private readonly samples: ServerMemory[] = []
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly read: () => Promise<ServerMemory>) {}

  start(): void {
    const sample = () =>
      this.read().then(
        (memory) => this.samples.push(memory),
        // A process that stops answers no more.
        () => {},
      )
    this.timer = setInterval(sample, 1_000)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  get lastMegabytes(): number {
    return (this.samples.at(-1)?.residentBytes ?? 0) / 1e6
  }

  report(): MemoryReport {
    return judgeMemory(this.samples)
  }
}

/**
 * Judges the memory of a run by its floors. Memory rises until garbage is collected, and where it
 * stands at one moment, or on average, says more about the last collection than about the process.
 * A leak raises what is left after each of them.
 */
export function judgeMemory(samples: readonly ServerMemory[]): MemoryReport {
  const floorsOf = (key: keyof ServerMemory) => {
    const size = samples.length / 3
    return [0, 1, 2].map((third) => {
      const part = samples.slice(Math.round(third * size), Math.round((third + 1) * size))
      return Math.round(Math.min(...part.map((sample) => sample[key])) / 1e5) / 10
    })
  }
  const floors = { resident: floorsOf('residentBytes'), used: floorsOf('usedBytes') }
  const isLong = samples.length >= samplesMin
  const problems = Object.entries(floors).flatMap(([name, [, middle = 0, last = 0]]) =>
    isLong && last > floorRatioMax * middle
      ? `the floor of the ${name} memory grew from ${middle} to ${last} MB in the last third`
      : [],
  )
  return { resident_floor_mb: floors.resident, used_floor_mb: floors.used, problems }
}

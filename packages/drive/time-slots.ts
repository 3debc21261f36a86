import { Latencies } from './latencies.ts'

/** The most slots of a run. */
const slotsMax = 600

/** What happened in a short time of the run. */
export interface TimeSlot {
  /** The begin, in seconds from that of the run. */
  readonly atSeconds: number
  /** Arrivals, answers to them, failed requests and dropped arrivals of this time. */
  offered: number
  ok: number
  failed: number
  dropped: number
  /** Median and p99 of the answers of this time by name, in milliseconds. */
  readonly latencies: Record<string, { readonly p50Ms: number; readonly p99Ms: number }>
}

/** What happened over time, in slots of a second or more: at most 600, and some for late answers. */
export class TimeSlots {
  readonly slotSeconds: number
  readonly all: TimeSlot[] = []
  private readonly current = new Map<string, Latencies>()

  /** @param seconds how long the run is planned to take. */
  constructor(seconds: number) {
    this.slotSeconds = Math.max(1, Math.ceil(seconds / slotsMax))
  }

  /** The slot of a time, in milliseconds from the begin of the run. Earlier slots take no more latencies. */
  at(ms: number): TimeSlot {
    const place = Math.max(0, Math.floor(ms / 1000 / this.slotSeconds))
    while (this.all.length <= place) this.addSlot()
    return this.all[place] as TimeSlot
  }

  /** Adds a latency to the newest slot. */
  recordLatency(name: string, ms: number): void {
    const latencies = this.current.get(name) ?? new Latencies()
    this.current.set(name, latencies)
    latencies.record(ms)
  }

  /** Ends the newest slot. */
  close(): void {
    const last = this.all.at(-1)
    for (const [name, latencies] of this.current) {
      if (last && latencies.count > 0) {
        const [p50Ms, p99Ms] = [latencies.percentile(50), latencies.percentile(99)]
        last.latencies[name] = { p50Ms, p99Ms }
      }
      latencies.reset()
    }
  }

  private addSlot(): void {
    this.close()
    const atSeconds = this.all.length * this.slotSeconds
    this.all.push({ atSeconds, offered: 0, ok: 0, failed: 0, dropped: 0, latencies: {} })
  }
}

import type { MongoClient } from 'mongodb'
import { clockSkewMaxMs } from '../lib/ids.ts'

export { clockSkewMaxMs }

/**
 * The longest round trip of a usable measurement, in milliseconds. Half of a round trip is
 * uncertain.
 */
const roundTripMsMax = 1_000
const startSamples = 3
const startTriesMax = 10
const intervalMs = 5_000

/** One measurement of the database's clock. */
interface Sample {
  /** The database's time, in milliseconds since 1970, minus this process's monotonic clock. */
  readonly offsetMs: number
  readonly roundTripMs: number
}

/** Receives a warning for the operator, in one sentence. */
export type Warn = (sentence: string) => void

/**
 * The database's clock, extrapolated with the monotonic clock of this process. So a wrong or
 * stepping clock of this host changes no id, date or wait. All processes of a database agree to
 * within half a round trip. It sends three to ten commands at the start, and one every 5 s. After a
 * failed measurement, the extrapolation continues.
 */
export class DatabaseClock implements Disposable {
  private readonly timer: NodeJS.Timeout
  private measuring = false
  private isHostSkewed = false

  private constructor(
    private readonly client: MongoClient,
    private readonly warn: Warn,
    private offsetMs: number,
  ) {
    this.reportHost()
    this.timer = setInterval(() => void this.adjust(), intervalMs).unref()
  }

  /**
   * Measures the database's clock, now and every 5 s until it is disposed.
   * @throws {Error} one sentence, if the database does not report its time, or takes longer than 1
   *   s.
   */
  static async start(client: MongoClient, warn: Warn): Promise<DatabaseClock> {
    const samples: Sample[] = []
    let failure: unknown
    for (let tries = 0; tries < startTriesMax && samples.length < startSamples; tries++) {
      try {
        const sample = await measure(client)
        if (sample.roundTripMs <= roundTripMsMax) samples.push(sample)
      } catch (error) {
        failure = error
        break
      }
    }
    const [best] = samples.sort((one, other) => one.roundTripMs - other.roundTripMs)
    if (!best) {
      const why =
        failure instanceof Error ? failure.message : 'the server takes longer than 1 s to answer'
      throw new Error(`The clock of the database cannot be read: ${why}.`, { cause: failure })
    }
    return new DatabaseClock(client, warn, best.offsetMs)
  }

  /** The database's time in whole milliseconds since 1970. Sends no command. */
  readonly now = (): number => Math.floor(performance.now() + this.offsetMs)

  /**
   * How far this host's wall clock is ahead of the database's clock, in seconds. Negative if it is
   * behind.
   */
  skewSeconds(): number {
    return (Date.now() - this.now()) / 1000
  }

  /**
   * Measures once and corrects the extrapolation if the measurement proves it wrong. Never throws.
   * One command. It reports a difference above {@link clockSkewMaxMs}: the database's clock
   * stepped, another member became the primary, or this process was suspended.
   */
  async adjust(): Promise<void> {
    if (this.measuring) return
    this.measuring = true
    try {
      const { offsetMs, roundTripMs } = await measure(this.client)
      const differenceMs = offsetMs - this.offsetMs
      if (roundTripMs > roundTripMsMax || Math.abs(differenceMs) <= roundTripMs / 2 + 1) return
      this.offsetMs = offsetMs
      if (Math.abs(differenceMs) > clockSkewMaxMs) {
        this.warn(
          `The clock of the database moved by ${seconds(differenceMs)} s more than the elapsed time. New ids follow the clock of the database.`,
        )
      }
    } catch {
      // The next measurement may succeed. Until then, the extrapolation continues.
    } finally {
      this.measuring = false
      this.reportHost()
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }

  /** Reports the host's clock once each time it passes the bound. */
  private reportHost(): void {
    const skewMs = this.skewSeconds() * 1000
    const isSkewed = Math.abs(skewMs) > clockSkewMaxMs
    if (isSkewed && !this.isHostSkewed) {
      this.warn(
        `The clock of this host is ${seconds(Math.abs(skewMs))} s ${skewMs > 0 ? 'ahead of' : 'behind'} the clock of the database. Feedline uses the clock of the database. Check the time synchronisation of this host.`,
      )
    }
    this.isHostSkewed = isSkewed
  }
}

async function measure(client: MongoClient): Promise<Sample> {
  const sentAt = performance.now()
  const { localTime } = await client.db('admin').command({ hello: 1, maxTimeMS: roundTripMsMax })
  const roundTripMs = performance.now() - sentAt
  if (!(localTime instanceof Date)) throw new Error('the server did not report its time')
  return { offsetMs: localTime.getTime() - (sentAt + roundTripMs / 2), roundTripMs }
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)

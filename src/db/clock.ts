import type { MongoClient } from 'mongodb'
import { clockSkewMaxMs } from '../lib/ids.ts'

export { clockSkewMaxMs }

/** A measurement with a longer round trip, in milliseconds, says too little: half of it is uncertain. */
const roundTripMsMax = 1_000
const startSamples = 3
const startTriesMax = 10
const intervalMs = 5_000

/** One look at the database's clock. */
interface Sample {
  /** The database's time, in milliseconds since 1970, minus this process's monotonic clock. */
  readonly offsetMs: number
  readonly roundTripMs: number
}

/** Told what an operator should know, in one sentence. */
export type Warn = (sentence: string) => void

/**
 * The database's clock, extrapolated on the monotonic clock of this process: neither a wrong nor a stepping clock of
 * this host reaches an id, a date or a wait. All processes of a database agree on it to within half a round trip.
 * Measured when it starts, by a few commands, and every 5 s, by one; a measurement that fails leaves the extrapolation.
 */
export class DatabaseClock implements Disposable {
  private readonly timer: NodeJS.Timeout
  private measuring = false
  private hostIsOff = false

  private constructor(
    private readonly client: MongoClient,
    private readonly warn: Warn,
    private offsetMs: number,
  ) {
    this.reportHost()
    this.timer = setInterval(() => void this.adjust(), intervalMs).unref()
  }

  /**
   * Measures the database's clock and keeps measuring it until disposed of.
   * @throws {Error} one sentence, when the database does not tell its time, or takes longer than 1 s to.
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

  /** By how many seconds this host's clock on the wall is ahead of the database's; negative: behind it. */
  skewSeconds(): number {
    return (Date.now() - this.now()) / 1000
  }

  /**
   * Measures once and corrects the extrapolation where the measurement proves it wrong. Never throws. One command.
   * A difference above {@link clockSkewMaxMs} is reported: the database's clock stepped, or another member with another
   * clock became the primary, or this process was suspended.
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
      // The next measurement may succeed; until then the extrapolation holds.
    } finally {
      this.measuring = false
      this.reportHost()
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }

  /** Once each time that the host's clock passes the bound. */
  private reportHost(): void {
    const skewMs = this.skewSeconds() * 1000
    const isOff = Math.abs(skewMs) > clockSkewMaxMs
    if (isOff && !this.hostIsOff) {
      this.warn(
        `The clock of this host is ${seconds(Math.abs(skewMs))} s ${skewMs > 0 ? 'ahead of' : 'behind'} the clock of the database. Feedline uses the clock of the database. Check the time synchronisation of this host.`,
      )
    }
    this.hostIsOff = isOff
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

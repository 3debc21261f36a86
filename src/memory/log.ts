import { setTimeout as sleep } from 'node:timers/promises'
import { ChangeStream } from '../db/change-stream.ts'
import type { Db, Timestamp } from '../db/mongo.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Log as ProcessLog } from '../log.ts'
import { logDrops, logEvents, tickSeconds } from '../metrics/log.ts'
import {
  changeOf,
  eventStages,
  type Followed,
  type Follower,
  type StreamEvent,
} from './followed.ts'

/** The time between two rounds, in milliseconds. */
const roundMs = 100

/** The rounds between two ticks without requests. They bound what a request has to wait for. */
const restRounds = 5

/** How many rounds a request waits at most. */
const waitRoundsMax = 10

/**
 * How many rounds a tick or an opening may take. A frozen primary answers no command, and so ends
 * none.
 */
const tickRoundsMax = 30

/** The pause before the stream is opened again, in milliseconds. */
const backoff = { baseMs: 50, capMs: 2_000 }

const notCurrent = Promise.resolve(false)

/** Requests that wait for one tick. */
interface Waiting {
  readonly isCurrent: Promise<boolean>
  readonly resolve: (isCurrent: boolean) => void
  rounds: number
}

/**
 * The log that keeps memory true: it follows the changes of a database by one change stream, and
 * applies them.
 *
 * Requests that come while a tick runs share the next one, because the tick that runs may have
 * looked before they came. When anything is in doubt (an error, another primary, a tick of more
 * than 3 s, 20,000 changes that were not read), it drops everything and follows the changes from
 * now on.
 */
export class Log {
  private readonly stages
  private readonly closing = new AbortController()
  private follower: Follower | undefined
  private processLog: ProcessLog | undefined
  private timer: NodeJS.Timeout | undefined
  private hasEnded: Promise<void> | undefined
  private drops = 0

  /** The stream, once everything before now has been read from it. */
  private stream: ChangeStream | undefined
  private running: Waiting | undefined
  private next: Waiting | undefined
  /** Whether requests have given up waiting for the tick that runs. */
  private isLate = false
  private isAtRest = false
  private wake: () => void = () => {}
  /** Ends the tick or opening that runs. */
  private giveUp: (reason: Error) => void = () => {}
  private roundsOfStep = 0

  constructor(
    private readonly db: Db,
    followed: readonly Followed[],
  ) {
    this.stages = eventStages(followed)
  }

  /** Opens the stream in the background, again and again until it succeeds or the log is closed. */
  start(follower: Follower, log: ProcessLog): void {
    this.follower = follower
    this.processLog = log
    this.timer = setInterval(() => this.beginRound(), roundMs).unref()
    this.hasEnded = this.follow()
  }

  /** Drops everything, and frees what the server keeps. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    this.closing.abort()
    this.giveUp(new Error('the log was closed'))
    this.wake()
    await this.hasEnded
  }

  /**
   * Waits for a tick that begins after the call. The wait is shared, and usually sends one or two
   * commands.
   * @returns true: every write that was acknowledged before the call, in any process, has been
   *   applied. False: the log is not open, or 1 s was not enough; read the database, and keep
   *   nothing.
   */
  isCurrent(): Promise<boolean> {
    if (!this.stream || this.isLate) return notCurrent
    this.next ??= newWaiting()
    if (this.isAtRest) this.wake()
    return this.next.isCurrent
  }

  /**
   * The number of times that everything was dropped. A fill that began in another epoch is not
   * kept.
   */
  get epoch(): number {
    return this.drops
  }

  /** The cluster time for which a fill waits. Undefined while the log is not current. */
  get position(): Timestamp | undefined {
    return this.stream?.position
  }

  /** Follows one stream after the other. */
  private async follow(): Promise<void> {
    const { signal } = this.closing
    for (let failures = 0; !signal.aborted; ) {
      try {
        const stream = await this.open()
        try {
          await this.limit(this.tick(stream))
          this.stream = stream
          failures = 0
          this.processLog?.info('memory follows the database')
          while (!signal.aborted) await this.runTick(stream)
        } finally {
          this.drop()
          const closed = stream.close()
          // A frozen primary would delay the next stream.
          if (signal.aborted) await closed
        }
      } catch (err) {
        failures++
        if (signal.aborted) return
        if (failures === 1) this.processLog?.warn({ err }, 'memory does not follow the database')
      }
      await sleep(backoffMs(failures, backoff), undefined, { ref: false, signal }).catch(() => {})
    }
  }

  private async open(): Promise<ChangeStream> {
    const opening = ChangeStream.open(this.db, this.stages)
    try {
      return await this.limit(opening)
    } catch (error) {
      opening.then(
        (stream) => stream.close(),
        () => {},
      )
      throw error
    }
  }

  /** Runs the next tick, once a request waits for it or a round begins. */
  private async runTick(stream: ChangeStream): Promise<void> {
    if (!this.next) await this.rest()
    // Requests that arrive at the same moment share the tick.
    await new Promise((resolve) => setImmediate(resolve))
    this.running = this.next
    this.next = undefined
    await this.limit(this.tick(stream))
    this.isLate = false
    this.running?.resolve(true)
    this.running = undefined
  }

  private async tick(stream: ChangeStream): Promise<void> {
    const observe = tickSeconds.startTimer()
    await stream.readAll((events) => {
      for (const event of events) this.follower?.apply(changeOf(event as StreamEvent))
      logEvents.inc(events.length)
    })
    observe()
  }

  private rest(): Promise<void> {
    return new Promise((resolve) => {
      this.isAtRest = true
      this.wake = () => {
        this.isAtRest = false
        resolve()
      }
    })
  }

  /** The outcome of `step`, which must not take more than 30 rounds. */
  private limit<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.roundsOfStep = 0
      this.giveUp = reject
      step.then(resolve, reject)
    })
  }

  /**
   * Counts rounds, because a process that was suspended or blocked for some seconds is not late.
   */
  private beginRound(): void {
    if (this.roundsOfStep++ > tickRoundsMax) this.giveUp(new Error('the database does not answer'))
    for (const waiting of [this.running, this.next]) {
      if (!waiting || ++waiting.rounds <= waitRoundsMax) continue
      this.isLate = true
      waiting.resolve(false)
    }
    if (this.isAtRest && this.roundsOfStep % restRounds === 0) this.wake()
  }

  private drop(): void {
    this.stream = undefined
    this.drops++
    logDrops.inc()
    this.running?.resolve(false)
    this.next?.resolve(false)
    this.running = undefined
    this.next = undefined
    this.isLate = false
    this.follower?.drop()
  }
}

function newWaiting(): Waiting {
  let resolve: (isCurrent: boolean) => void = () => {}
  const isCurrent = new Promise<boolean>((settle) => {
    resolve = settle
  })
  return { isCurrent, resolve, rounds: 0 }
}

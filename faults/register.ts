/**
 * A write to a register, from the time at which it was sent to the time of its answer, in
 * milliseconds.
 */
export interface Write {
  readonly startMs: number
  /**
   * When the write was acknowledged. Without acknowledgement, the latest time at which it may take
   * effect.
   */
  endMs: number
  readonly value: boolean
  acknowledged: boolean
}

/**
 * How long after its last attempt a mutation without an answer may still take effect, in
 * milliseconds.
 */
const lateMsMax = 60_000

/**
 * The possible values of a boolean, for example whether an edge exists, given all writes to it. A
 * write takes effect at one time between its start and its end. A write without acknowledgement may
 * have no effect.
 */
export class Register {
  private writes: Write[] = [
    {
      startMs: Number.NEGATIVE_INFINITY,
      endMs: Number.NEGATIVE_INFINITY,
      value: false,
      acknowledged: true,
    },
  ]

  /**
   * Begins a write at `startMs`. {@link acknowledgeWrite}, {@link abandonWrite} or
   * {@link discardWrite} ends it.
   */
  beginWrite(value: boolean, startMs: number): Write {
    const write = { startMs, endMs: Number.POSITIVE_INFINITY, value, acknowledged: false }
    this.writes.push(write)
    return write
  }

  /** Ends a write that took effect before `endMs`. */
  acknowledgeWrite(write: Write, endMs: number): void {
    write.acknowledged = true
    write.endMs = endMs
  }

  /** Ends a write without an answer until `endMs`. It may have taken effect, or may do so later. */
  abandonWrite(write: Write, endMs: number): void {
    write.endMs = endMs + lateMsMax
  }

  /** Ends a write that has no effect. */
  discardWrite(write: Write): void {
    this.writes = this.writes.filter((other) => other !== write)
  }

  /** The only possible value from `fromMs` to `toMs`. Undefined if both values are possible. */
  certainValue(fromMs: number, toMs: number): boolean | undefined {
    const values = this.possibleValues(fromMs, toMs)
    return values.size === 1 ? values.has(true) : undefined
  }

  /** The values that the register may have at some time from `fromMs` to `toMs`. */
  possibleValues(fromMs: number, toMs: number): ReadonlySet<boolean> {
    const ended = this.writes.filter(({ acknowledged, endMs }) => acknowledged && endMs <= fromMs)
    const latestStartMs = Math.max(...ended.map(({ startMs }) => startMs))
    const effective = this.writes.filter(
      ({ startMs, endMs }) => startMs <= toMs && endMs >= latestStartMs,
    )
    return new Set(effective.map(({ value }) => value))
  }

  /** Replaces all writes by a value that was found at rest. */
  resetTo(value: boolean, atMs: number): void {
    this.writes = [{ startMs: atMs, endMs: atMs, value, acknowledged: true }]
  }

  /** When the last acknowledged write ended. 0 if there is no such write. */
  get lastAcknowledgedMs(): number {
    const ends = this.writes.filter(({ acknowledged }) => acknowledged).map(({ endMs }) => endMs)
    return Math.max(...ends, 0)
  }
}

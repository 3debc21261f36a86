/** A write that sets a register, from the moment it was sent until its answer arrived. */
export interface Write {
  readonly startMs: number
  /** When it was acknowledged. Until then, and for an unknown outcome: the last moment at which it may take effect. */
  endMs: number
  readonly value: boolean
  acknowledged: boolean
}

/** How long after its last attempt a mutation without an answer may still take effect. */
const lateMsMax = 60_000

/**
 * Whether something exists, for example an edge, as its writes allow it.
 * A write takes effect at one moment between its start and its end, or never if it was not acknowledged.
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

  /** A write that begins at `startMs`; {@link acknowledge}, {@link giveUp} or {@link refuse} ends it. */
  begin(value: boolean, startMs: number): Write {
    const write = { startMs, endMs: Number.POSITIVE_INFINITY, value, acknowledged: false }
    this.writes.push(write)
    return write
  }

  /** The write took effect before `endMs`. */
  acknowledge(write: Write, endMs: number): void {
    write.acknowledged = true
    write.endMs = endMs
  }

  /** No answer arrived until `endMs`: the write may have taken effect, or may soon. */
  giveUp(write: Write, endMs: number): void {
    write.endMs = endMs + lateMsMax
  }

  /** The write had and will have no effect. */
  refuse(write: Write): void {
    this.writes = this.writes.filter((one) => one !== write)
  }

  /** The one value that the register has at every moment from `fromMs` to `toMs`; undefined when more are possible. */
  certain(fromMs: number, toMs: number): boolean | undefined {
    const values = this.possible(fromMs, toMs)
    return values.size === 1 ? values.has(true) : undefined
  }

  /** The values that the register may have at some moment from `fromMs` to `toMs`. */
  possible(fromMs: number, toMs: number): ReadonlySet<boolean> {
    const done = this.writes.filter(({ acknowledged, endMs }) => acknowledged && endMs <= fromMs)
    const latestStartMs = Math.max(...done.map(({ startMs }) => startMs))
    const visible = this.writes.filter(
      ({ startMs, endMs }) => startMs <= toMs && endMs >= latestStartMs,
    )
    return new Set(visible.map(({ value }) => value))
  }

  /** Replaces every write by what was found at rest. */
  settle(value: boolean, atMs: number): void {
    this.writes = [{ startMs: atMs, endMs: atMs, value, acknowledged: true }]
  }

  /** When the last acknowledged write was answered. */
  get lastMs(): number {
    const ends = this.writes.filter(({ acknowledged }) => acknowledged).map(({ endMs }) => endMs)
    return Math.max(...ends, 0)
  }
}

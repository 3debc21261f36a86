import { electionMs } from './cluster.ts'
import type { Answer } from './graphql.ts'
import type { FaultKind } from './options.ts'

/** The kinds of violations that the report counts. */
export const violationKinds = [
  'lost',
  'twice',
  'drift',
  'wrongTimelines',
  'falsePending',
  'internalErrors',
  'skewedIds',
  'unfinishedJobs',
] as const
export type ViolationKind = (typeof violationKinds)[number]

/** One violation of a guarantee. */
export interface Violation {
  readonly kind: ViolationKind
  /** The time since the start of the run, in milliseconds. */
  readonly atMs: number
  /** The last fault that began before the violation. */
  readonly fault: FaultKind
  readonly detail: string
}

/** A fault with its times on the monotonic clock, in milliseconds. */
export interface FaultWindow {
  readonly kind: FaultKind
  readonly detail: string
  readonly startMs: number
  /** When the fault was healed. Undefined while it lasts. */
  healedMs: number | undefined
}

/** The measurements under one kind of fault. */
export interface Tally {
  faults: number
  acknowledged: number
  longestStallMs: number
  slowestOperationMs: number
}

/** Whether a kind of fault holds requests for longer than others: it closes no connection. */
export const holdsRequests = (kind: FaultKind): boolean =>
  kind.startsWith('partition') || kind.startsWith('stop-')

/** Faults during which an old primary may still answer after the election of a new primary. */
const twoPrimaries: ReadonlySet<FaultKind> = new Set([
  'partition',
  'partition-with-clients',
  'stop-primary',
])
/** The maximum number of violations of one kind that are stored with details. */
const detailsMax = 200

/**
 * Records the faults, acknowledgements, requests and violations of a run.
 * All times are of the monotonic clock, in milliseconds.
 */
export class Journal {
  readonly startMs = performance.now()
  readonly faultWindows: FaultWindow[] = []
  readonly violations: Violation[] = []
  readonly counts = new Map<string, number>()
  readonly codes = new Map<string, number>()
  /** The number of errors by code and message. */
  readonly messages = new Map<string, number>()
  readonly tallies = new Map<FaultKind, Tally>()
  /** The errors in the logs of the processes. */
  logs: readonly string[] = []
  /** The number of pages read during faults plus the number of whole timelines read at rest. */
  timelines = 0
  private lastAcknowledgedMs = this.startMs

  /** Records the start of a fault. @returns its window, for the time at which it is healed. */
  startFault(kind: FaultKind, detail: string): FaultWindow {
    const window: FaultWindow = { kind, detail, startMs: performance.now(), healedMs: undefined }
    this.faultWindows.push(window)
    this.tallyAt(window.startMs).faults++
    return window
  }

  /** The last fault that began before `ms`. */
  faultAt(ms: number): FaultKind {
    return this.faultWindows.findLast(({ startMs }) => startMs <= ms)?.kind ?? 'none'
  }

  /**
   * The time of the oldest state that a read that began at `ms` may show: an old primary may have
   * answered it.
   */
  oldestStateMs(ms: number): number {
    const window = this.faultWindows.findLast(
      ({ kind, startMs, healedMs = Number.POSITIVE_INFINITY }) =>
        twoPrimaries.has(kind) && startMs <= ms && ms <= healedMs + electionMs,
    )
    return window?.startMs ?? ms
  }

  /**
   * Restarts the measurement of stalls. Called when clients start, so that a pause of the clients
   * is not a stall.
   */
  resetStallClock(): void {
    this.lastAcknowledgedMs = performance.now()
  }

  /** Records an acknowledged mutation, for the longest time without an acknowledgement. */
  recordAcknowledgement(atMs: number): void {
    const tally = this.tallyAt(atMs)
    tally.acknowledged++
    tally.longestStallMs = Math.max(tally.longestStallMs, atMs - this.lastAcknowledgedMs)
    this.lastAcknowledgedMs = atMs
  }

  /**
   * Records an HTTP request. It belongs to the fault under which it began if this fault holds
   * requests, otherwise to the fault under which it ended.
   */
  recordRequest(startMs: number, endMs: number, { code, message }: Answer): void {
    const tally = this.tallyAt(holdsRequests(this.faultAt(startMs)) ? startMs : endMs)
    tally.slowestOperationMs = Math.max(tally.slowestOperationMs, endMs - startMs)
    if (code === undefined) return
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
    this.messages.set(`${code}: ${message}`, (this.messages.get(`${code}: ${message}`) ?? 0) + 1)
  }

  /** Records a violation. It belongs to the last fault that began before `atMs`. */
  recordViolation(kind: ViolationKind, atMs: number, detail: string): void {
    const fault = this.faultAt(atMs)
    for (const key of [kind, `${kind} ${fault}`])
      this.counts.set(key, this.countViolations(key) + 1)
    if (this.countViolations(kind) > detailsMax) return
    this.violations.push({ kind, fault, detail, atMs: Math.round(atMs - this.startMs) })
  }

  /** The number of violations of a kind, in the whole run or under one kind of fault. */
  countViolations(kind: string, fault?: FaultKind): number {
    return this.counts.get(fault === undefined ? kind : `${kind} ${fault}`) ?? 0
  }

  private tallyAt(ms: number): Tally {
    const kind = this.faultAt(ms)
    let tally = this.tallies.get(kind)
    if (!tally) {
      tally = { faults: 0, acknowledged: 0, longestStallMs: 0, slowestOperationMs: 0 }
      this.tallies.set(kind, tally)
    }
    return tally
  }
}

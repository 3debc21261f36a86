import { electionMs } from './cluster.ts'
import type { Answer } from './graphql.ts'
import type { FaultKind } from './options.ts'

/** What can be wrong, as the report counts it. */
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

/** One thing that must not be. */
export interface Violation {
  readonly kind: ViolationKind
  /** When, in milliseconds since the start of the run. */
  readonly atMs: number
  /** The last fault that began before. */
  readonly fault: FaultKind
  readonly detail: string
}

/** A fault that was caused, on the monotonic clock. */
export interface FaultWindow {
  readonly kind: FaultKind
  readonly detail: string
  readonly startMs: number
  /** When everything was back; undefined while it lasts. */
  healedMs: number | undefined
}

/** What is measured under one kind of fault. */
export interface Tally {
  faults: number
  acknowledged: number
  longestStallMs: number
  slowestOperationMs: number
}

/** Faults that hold requests for longer than others: nothing is closed while they last. */
export const isSlow = (kind: FaultKind): boolean =>
  kind.startsWith('partition') || kind.startsWith('stop-')

/** Faults during which an old primary may answer for a moment while the others have a new one. */
const twoPrimaries: ReadonlySet<FaultKind> = new Set([
  'partition',
  'partition-with-clients',
  'stop-primary',
])
/** Of each kind of violation, so many are kept with their details. */
const detailsMax = 200

/** What happened in a run: faults, acknowledgements, requests and violations. All times are of the monotonic clock. */
export class Journal {
  readonly startMs = performance.now()
  /** Stored entries that no reader sees, as the last check found them. */
  leftovers = 0
  readonly windows: FaultWindow[] = []
  readonly violations: Violation[] = []
  readonly counts = new Map<string, number>()
  readonly codes = new Map<string, number>()
  /** How often clients met each message. */
  readonly messages = new Map<string, number>()
  readonly tallies = new Map<FaultKind, Tally>()
  /** Errors that the processes logged. */
  logs: readonly string[] = []
  /** How many pages were read during faults, and timelines walked at rest. */
  timelines = 0
  private lastAcknowledgedMs = this.startMs

  beginFault(kind: FaultKind, detail: string): FaultWindow {
    const window: FaultWindow = { kind, detail, startMs: performance.now(), healedMs: undefined }
    this.windows.push(window)
    this.tallyAt(window.startMs).faults++
    return window
  }

  /** The last fault that began before `ms`. */
  faultAt(ms: number): FaultKind {
    return this.windows.findLast(({ startMs }) => startMs <= ms)?.kind ?? 'none'
  }

  /** Since when a read that began at `ms` may show the state of the database: an old primary may have answered it. */
  staleSince(ms: number): number {
    const window = this.windows.findLast(
      ({ kind, startMs, healedMs = Number.POSITIVE_INFINITY }) =>
        twoPrimaries.has(kind) && startMs <= ms && ms <= healedMs + electionMs,
    )
    return window?.startMs ?? ms
  }

  /** Clients begin or go on: what lies between is no stall. */
  resume(): void {
    this.lastAcknowledgedMs = performance.now()
  }

  acknowledge(atMs: number): void {
    const tally = this.tallyAt(atMs)
    tally.acknowledged++
    tally.longestStallMs = Math.max(tally.longestStallMs, atMs - this.lastAcknowledgedMs)
    this.lastAcknowledgedMs = atMs
  }

  /** One HTTP request of a client. It belongs to the fault it ended under, or to a slow one that it began under. */
  request(startMs: number, endMs: number, { code, message }: Answer): void {
    const tally = this.tallyAt(isSlow(this.faultAt(startMs)) ? startMs : endMs)
    tally.slowestOperationMs = Math.max(tally.slowestOperationMs, endMs - startMs)
    if (code === undefined) return
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
    this.messages.set(`${code}: ${message}`, (this.messages.get(`${code}: ${message}`) ?? 0) + 1)
  }

  violate(kind: ViolationKind, atMs: number, detail: string): void {
    const fault = this.faultAt(atMs)
    for (const key of [kind, `${kind} ${fault}`]) this.counts.set(key, this.count(key) + 1)
    if (this.count(kind) > detailsMax) return
    this.violations.push({ kind, fault, detail, atMs: Math.round(atMs - this.startMs) })
  }

  /** How often a kind of violation was found, under one kind of fault if given. */
  count(kind: string, fault?: FaultKind): number {
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

import type { Finding } from './invariant.ts'

/** The most findings that a report holds. */
const rowsMax = 100

/** A finding, and whether the run has repaired it. */
export type ReportedFinding = Finding & { readonly repaired?: true }

/** The numbers of a run so far, and its first findings. Bounded in size. */
export class Report {
  readonly checked = { users: 0, edges: 0, posts: 0, engagements: 0, readers: 0, timelines: 0 }
  /** All findings. */
  differences = 0
  /** Findings that the run has repaired. */
  repaired = 0
  /** Findings that only a person can decide. */
  unrepairable = 0
  /** Violations that a waiting job repairs. They are no findings. */
  inFlight = 0
  /** The number of findings by law and kind. */
  readonly byKind: Record<string, number> = {}
  private readonly left: ReportedFinding[] = []
  private readonly done: ReportedFinding[] = []

  /** @param max the most findings that the report holds of those that are left, and of those that were repaired. */
  constructor(private readonly max = rowsMax) {}

  /** Findings that `reconcile` repairs, or another run of it. */
  get remaining(): number {
    return this.differences - this.repaired - this.unrepairable
  }

  /** The first findings, those first that were not repaired. */
  get sample(): readonly ReportedFinding[] {
    return [...this.left, ...this.done].slice(0, this.max)
  }

  add(finding: Finding, isRepaired = false): void {
    const kind = `${finding.law} ${finding.kind}`
    this.byKind[kind] = (this.byKind[kind] ?? 0) + 1
    this.differences++
    if (isRepaired) this.repaired++
    else if (finding.unrepairable !== undefined) this.unrepairable++
    const rows = isRepaired ? this.done : this.left
    if (rows.length < this.max) rows.push(isRepaired ? { ...finding, repaired: true } : finding)
  }

  /** The report as one JSON object. */
  toJSON(): object {
    const { checked, differences, repaired, remaining, unrepairable, inFlight, byKind, sample } =
      this
    return { checked, differences, repaired, remaining, unrepairable, inFlight, byKind, sample }
  }
}

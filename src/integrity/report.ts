/** The name of an invariant in reports, errors and `docs/reference/integrity.md`, and its law. */
export interface InvariantId {
  /** The name of its file in `invariants`. */
  readonly name: string
  readonly law: 'L1' | 'L2' | 'L3' | 'L4' | 'L6'
}

/** The expected and the stored state of a subject. */
interface Discrepancy {
  /** The violated part of the invariant. `docs/reference/integrity.md` lists all kinds. */
  readonly kind: string
  /** The user, post, pair or timeline that violates it. */
  readonly subject: string
  readonly expected: string | number
  readonly found: string | number
  /** Why `reconcile` does not repair it. Absent: `reconcile` repairs it. */
  readonly unrepairable?: string
}

/** A discrepancy as `verify` and `reconcile` report it. */
export interface Finding extends Discrepancy {
  readonly law: InvariantId['law']
  /** The name of the violated invariant. */
  readonly invariant: string
}

/** Reports a discrepancy under the law and the name of its invariant. */
export const findingOf = ({ name, law }: InvariantId, discrepancy: Discrepancy): Finding => ({
  ...{ law, invariant: name },
  ...discrepancy,
})

/** The part of a finding about missing data while a malformed document may be what is missing. */
export const uncertain = {
  unrepairable:
    'A document with a finding of the kind shape may be what is missing. Correct it first.',
}

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

  /**
   * @param max the most findings that the report holds of those that are left, and of those that
   *   were repaired.
   */
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

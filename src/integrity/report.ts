import type { Collections, RepairDoc } from '../db/collections.ts'
import type { Finding } from './invariant.ts'
import { type Difference, sizeOf } from './ledger.ts'

/** A user or post whose counters were off. */
export interface Drifted extends Pick<RepairDoc, 'kind' | 'by' | 'counted' | 'size'> {
  readonly id: string
  /** How many of its edges were repaired in the same run. */
  readonly mended: number
}

/** Rows of each list in a report. */
export const rowsMax = 100
/** Handles whose repaired edges are counted. */
const handlesMax = 100_000

/** Collects what a run found, bounded in size. */
export class Report {
  private readonly edges = new Map<string, number>()
  private readonly unrepairable: Finding[] = []
  private drifted: Drifted[] = []

  /** How many edges of a user this process has repaired. */
  readonly edgesRepairedOf = (handle: string): number => this.edges.get(handle) ?? 0

  /** Findings that cannot be repaired: the first 100. */
  get reported(): readonly Finding[] {
    return this.unrepairable
  }

  addEdge(handles: readonly string[]): void {
    for (const handle of handles) {
      if (this.edges.size < handlesMax) this.edges.set(handle, this.edgesRepairedOf(handle) + 1)
    }
  }

  addUnrepairable(finding: Finding): void {
    if (this.unrepairable.length < rowsMax) this.unrepairable.push(finding)
  }

  addDifference({ kind, id, by, counted }: Difference): void {
    const mended = this.edgesRepairedOf(id)
    this.drifted.push({ kind, id, by, counted, size: sizeOf({ by }), mended })
    if (this.drifted.length >= 2 * rowsMax) this.drifted = largest(this.drifted)
  }

  /**
   * The users and posts that were off the most: at most 100, the largest difference first.
   * @param run whose record is read, since an earlier process may have repaired some. Undefined: this process alone.
   */
  async worst(
    repairs: Collections['repairs'],
    run: string | undefined,
  ): Promise<readonly Drifted[]> {
    if (run === undefined) return largest(this.drifted)
    const found = await repairs.find({ '_id.run': run }).sort({ size: -1 }).limit(rowsMax).toArray()
    return found.map(({ _id, kind, by, counted, size, mended = 0 }) => {
      return { id: _id.id, kind, by, counted, size, mended }
    })
  }
}

const largest = (some: readonly Drifted[]) =>
  [...some].sort((a, b) => b.size - a.size).slice(0, rowsMax)

import type { Collections, RepairDoc } from '../db/collections.ts'
import type { Finding } from './invariant.ts'
import { type Difference, largestOf } from './ledger.ts'

/** A user or post whose counters have drifted, as reports and the collection `repairs` show it. */
export interface Drifted extends Pick<RepairDoc, 'kind' | 'counted' | 'size'> {
  /** The number that was added to each counter, or would be. */
  readonly delta: RepairDoc['delta']
  readonly id: string
  /** The number of its edges that the same run repaired. */
  readonly repairedEdges: number
}

/** The most rows of each list in a report. */
export const rowsMax = 100
/** The most handles whose repaired edges are counted. */
const handlesMax = 100_000

/** Collects the findings and differences of a run, bounded in size. */
export class Report {
  private readonly edges = new Map<string, number>()
  private readonly unrepairable: Finding[] = []
  private drifted: Drifted[] = []

  /** The number of edges of a user that this process has repaired. */
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

  addDifference({ kind, id, delta, counted }: Difference): void {
    const repairedEdges = this.edgesRepairedOf(id)
    this.drifted.push({ kind, id, delta, counted, size: largestOf(delta), repairedEdges })
    if (this.drifted.length >= 2 * rowsMax) this.drifted = largestFirst(this.drifted)
  }

  /**
   * The users and posts with the largest differences: at most 100, the largest first. One command.
   * @param run the run whose record is read: an earlier process may have repaired some. Undefined: reads this report.
   */
  async largest(
    repairs: Collections['repairs'],
    run: string | undefined,
  ): Promise<readonly Drifted[]> {
    if (run === undefined) return largestFirst(this.drifted)
    const found = await repairs.find({ '_id.run': run }).sort({ size: -1 }).limit(rowsMax).toArray()
    return found.map(({ _id, kind, delta, counted, size, repairedEdges = 0 }) => {
      return { id: _id.id, kind, delta, counted, size, repairedEdges }
    })
  }
}

const largestFirst = (some: readonly Drifted[]) =>
  [...some].sort((a, b) => b.size - a.size).slice(0, rowsMax)

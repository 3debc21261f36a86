import { Registry } from 'prom-client'

/**
 * All metrics of this process. A metric is declared once, in a file of this folder, and registers
 * itself here.
 */
export const registry = new Registry()

/** Upper bounds of durations, in seconds: from an indexed read to the longest command. */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Keeps labels that clients or stored data choose within a bounded set. */
export class BoundedNames {
  private readonly names = new Set<string>()

  /**
   * @param namesMax the first names keep their own label, as long as they have at most `lengthMax`
   *   characters.
   */
  constructor(
    private readonly namesMax: number,
    private readonly lengthMax: number,
  ) {}

  /** Whether a name has a label of its own. */
  has(name: string): boolean {
    return this.names.has(name)
  }

  /** @returns the name, or "other" for a name beyond the bounds. */
  labelOf(name: string): string {
    if (this.names.has(name)) return name
    if (name.length > this.lengthMax || this.names.size >= this.namesMax) return 'other'
    this.names.add(name)
    return name
  }
}

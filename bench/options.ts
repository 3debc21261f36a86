/** How a benchmark is run. */
export interface BenchOptions {
  /** How often everything is measured side by side. */
  readonly rounds: number
  /** How long each load lasts, in milliseconds. */
  readonly ms: number
  /** How popular the most popular post is. */
  readonly likes: number
  /** Tells what is going on. */
  readonly say: (line: string) => void
  /** Prints a line of the result. */
  readonly show: (line: string) => void
}

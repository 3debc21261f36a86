/** How a benchmark is run. */
export interface BenchOptions {
  /** How often everything is measured side by side. */
  readonly rounds: number
  /** How long each load lasts, in milliseconds. */
  readonly ms: number
  /** How popular the most popular post is. */
  readonly likes: number
  /** How many people a generated graph has. */
  readonly people: number
  /** An edge list to run on instead of Reed98, friendships both ways. */
  readonly graph?: string | undefined
  /** The rate at which the open loop begins, in operations a second. */
  readonly rate: number
  /** Where plots are written. */
  readonly plots: string
  /** Tells what is going on. */
  readonly say: (line: string) => void
  /** Prints a line of the result. */
  readonly show: (line: string) => void
}

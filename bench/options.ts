/** The options of a benchmark. */
export interface BenchOptions {
  /** The number of rounds. Each round measures all implementations in turn. */
  readonly rounds: number
  /** Whether the contents have the smallest size at which each step runs. */
  readonly isSmallest: boolean
  /** How long each load lasts, in milliseconds. */
  readonly ms: number
  /** How long each side is loaded before it is measured, in milliseconds. */
  readonly warmUpMs: number
  /**
   * How long the mixed load lasts after which `reads` reads the memory of a server, in
   * milliseconds.
   */
  readonly memoryMs: number
  /** The number of likes of the most popular post. */
  readonly likes: number
  /** The number of users in a generated graph, without the followers of its celebrity. */
  readonly userCount: number
  /**
   * The path of an edge list that replaces Reed98. Each edge becomes a follow in both directions.
   */
  readonly graph?: string | undefined
  /** The first rate of the open loop, in operations per second. */
  readonly rate: number
  /**
   * The sides of `scale`, the graphs of `capacity` or the strategies of `reads` that run, by name.
   * Empty: all of them, or the default strategy.
   */
  readonly sides: readonly string[]
  /** The rows of `reads`, or groups of them, that run, by name. Empty: all of them. */
  readonly rows: readonly string[]
  /** The folder for plots. */
  readonly plots: string
  /** Logs a line about the progress. */
  readonly log: (line: string) => void
  /** Prints a line of the result. */
  readonly print: (line: string) => void
}

/**
 * The size of contents: the standard one, or with `--smallest` one at which each step still runs.
 */
export const sizeOf = (
  { isSmallest }: Pick<BenchOptions, 'isSmallest'>,
  standard: number,
  smallest: number,
): number => (isSmallest ? smallest : standard)

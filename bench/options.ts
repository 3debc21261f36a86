/** The options of a benchmark. */
export interface BenchOptions {
  /** The number of rounds. Each round measures all implementations in turn. */
  readonly rounds: number
  /** How long each load lasts, in milliseconds. */
  readonly ms: number
  /** The number of likes of the most popular post. */
  readonly likes: number
  /** The number of users in a generated graph, without the followers of its celebrity. */
  readonly userCount: number
  /** The path of an edge list that replaces Reed98. Each edge becomes a follow in both directions. */
  readonly graph?: string | undefined
  /** The numbers of connections of the HTTP loads. The first one is that of all loads, the others repeat a few. */
  readonly connections: readonly number[]
  /** The first rate of the open loop, in operations per second. */
  readonly rate: number
  /** The sides of `scale`, or the graphs of `capacity`, that run, by name. Empty: all of them. */
  readonly sides: readonly string[]
  /** The folder for plots. */
  readonly plots: string
  /** Logs a line about the progress. */
  readonly log: (line: string) => void
  /** Prints a line of the result. */
  readonly print: (line: string) => void
}

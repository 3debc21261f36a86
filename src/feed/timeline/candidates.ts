import type { UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import type { Registration } from '../registry/registry.ts'
import type { FeedStrategyName } from '../strategies/list.ts'
import type { Entry, FeedStrategy } from '../strategies/strategy.ts'

/** The strategies that clients of this process can request, by name. */
export type FeedStrategies = Partial<Readonly<Record<FeedStrategyName, FeedStrategy>>> & {
  readonly FANOUT_ON_READ: FeedStrategy
}

/** The timeline whose candidates are read. */
export interface CandidatesQuery {
  readonly strategy: FeedStrategyName
  readonly registration: Registration | undefined
  readonly reader: UserId
  readonly group: string | undefined
  readonly range: Range
}

/**
 * Number of reads of stored entries for one page. Each read doubles the number of entries. So a page skips up to seven
 * pages of hidden entries, mostly of muted authors. Then FANOUT_ON_READ continues, which leaves these authors out.
 * The price of a timeline contains these reads.
 */
const storedRoundsMax = 3

/** The first step of a page: the entries of a strategy, and then of FANOUT_ON_READ if the strategy has no more. */
export class CandidateReader {
  /** Authors whose posts the page does not show. */
  readonly excludedAuthors = new Set<UserId>()
  /** The strategy that proposed the last entries. */
  servedBy: FeedStrategyName
  /** Whether stored entries decide a part of the range. */
  isStored = false
  private rounds = 0

  constructor(
    private readonly strategies: FeedStrategies,
    private readonly query: CandidatesQuery,
  ) {
    this.servedBy = query.strategy
  }

  /**
   * Reads the next entries of the range, at most `limit`. Fewer mean that the range ends.
   * @param last the entry after which the proposal continues. Undefined at the start of the range.
   */
  async readNext(last: Entry | undefined, limit: number): Promise<readonly Entry[]> {
    const rest = past(this.query.range, last, limit)
    if (++this.rounds > storedRoundsMax) this.servedBy = 'FANOUT_ON_READ'
    const { entries, complete } = await this.propose(rest)
    if (this.servedBy !== 'FANOUT_ON_READ' && (complete || entries.length > 0)) this.isStored = true
    if (complete || entries.length >= limit) return entries
    this.servedBy = 'FANOUT_ON_READ'
    const more = await this.propose(past(rest, entries.at(-1), limit - entries.length))
    return [...entries, ...more.entries]
  }

  private propose(range: Range) {
    const { reader, group, registration } = this.query
    const strategy = this.strategies[this.servedBy] ?? this.strategies.FANOUT_ON_READ
    return strategy.proposeCandidates({
      reader,
      range,
      group,
      excludedAuthors: this.excludedAuthors,
      registration,
    })
  }
}

/** The part of a range that follows an entry. */
function past(range: Range, last: Entry | undefined, limit: number): Range {
  const bound = last && (range.oldestFirst ? { newerThan: last.id } : { olderThan: last.id })
  return { ...range, ...bound, limit }
}

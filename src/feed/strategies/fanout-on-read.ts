import type { Follows } from '../../follows/follows.ts'
import { batches } from '../../lib/batch.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import type { Posts } from '../../posts/posts.ts'
import type { StrategyTexts } from './descriptor.ts'
import type { Ask, Candidates, FeedStrategy } from './strategy.ts'

/** The strategy that stores nothing, so it has texts only. */
export const fanoutOnRead = {
  name: 'FANOUT_ON_READ',
  description: 'Assembles the timeline on each read from the posts of all followees.',
  table: {
    post: 'written once',
    page: 'merged from everyone followed, 200 authors a command',
    stored: 'nothing',
  },
} as const satisfies StrategyTexts

/** The most authors for which MongoDB merges the index instead of sorting everything: 201 cost 100 times as much. */
const authorsPerQuery = 200

/**
 * Assembles the timeline when it is read (seed 1): the newest posts of everyone followed, and of the reader.
 * Reads no more than a page from each of a bounded number of authors at a time; the number of queries grows with the
 * number followed, one for 200. Every chunk after the first looks only where the page so far leaves room.
 * Materialises nothing, so it is right by construction, and the other strategies are compared with it.
 */
export class FanoutOnRead implements FeedStrategy {
  constructor(
    private readonly follows: Follows,
    private readonly posts: Posts,
  ) {}

  /** One covered command for 1,000 followees, and one for 200. */
  async candidates({
    reader,
    range,
    group,
    refused,
  }: Omit<Ask, 'registration'>): Promise<Candidates & { readonly entries: readonly PostRef[] }> {
    return {
      entries: await this.newest(this.authors(reader, group, refused), range),
      complete: true,
    }
  }

  /** What any of `authors` posted in a range, in the order it walks. One covered command for 200 of them. */
  async newest(
    authors: AsyncIterable<UserId> | Iterable<UserId>,
    range: Range,
  ): Promise<PostRef[]> {
    let page: PostRef[] = []
    for await (const some of batches(authors, authorsPerQuery)) {
      const found = await this.posts.refsByAuthors(some, narrowed(range, page))
      page = page.length === 0 ? found : merged(page, found, range)
    }
    return page
  }

  private async *authors(
    reader: UserId,
    group: string | undefined,
    refused: ReadonlySet<UserId>,
  ): AsyncGenerator<UserId> {
    if (group === undefined) yield reader
    for await (const followee of this.follows.followeesOf(reader, group)) {
      if (!refused.has(followee)) yield followee
    }
  }
}

/** The part of the range that can still change a page that is full. */
function narrowed(range: Range, page: readonly PostRef[]): Range {
  const last = page.length >= range.limit ? page.at(-1)?.id : undefined
  if (last === undefined) return range
  const bound = range.oldestFirst ? { olderThan: last } : { newerThan: last }
  return { ...range, ...bound }
}

function merged(a: readonly PostRef[], b: readonly PostRef[], range: Range): PostRef[] {
  const sign = range.oldestFirst ? 1 : -1
  return [...a, ...b].sort((x, y) => (x.id < y.id ? -sign : sign)).slice(0, range.limit)
}

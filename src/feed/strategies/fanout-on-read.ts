import type { Follows } from '../../follows/follows.ts'
import { batches } from '../../lib/batch.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import type { Posts } from '../../posts/posts.ts'
import type { Visibility } from '../../visibility/visibility.ts'
import type { Candidates, FeedStrategy, StrategyQuery, StrategyTexts } from './strategy.ts'

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

/**
 * The largest number of authors for which MongoDB merges the index without a sort. 201 authors cost 100 times as much.
 */
const authorsPerQuery = 200

/** The number of followees whose mutes and blocks one command reads. */
const restrictedMax = 1_000

/**
 * Assembles the timeline when it is read: the newest posts of all followees, and of the reader.
 * Sends one query for each 200 followees and reads at most one page from each author.
 * Each query after the first reads only the range in which its posts can still enter the page.
 * It stores nothing. The integrity checks compare the other strategies with it.
 */
export class FanoutOnRead implements FeedStrategy {
  constructor(
    private readonly follows: Follows,
    private readonly posts: Posts,
    private readonly visibilityFor: (viewer: UserId) => Visibility,
  ) {}

  /**
   * One covered command for each 1,000 followees, and one for each 200. If authors are excluded, one more for each
   * 1,000 followees: it leaves out all muted authors at once.
   */
  async proposeCandidates({
    reader,
    range,
    group,
    excludedAuthors,
  }: Omit<StrategyQuery, 'registration'>): Promise<
    Candidates & { readonly entries: readonly PostRef[] }
  > {
    return {
      entries: await this.loadPosts(this.authors(reader, group, excludedAuthors), range),
      complete: true,
    }
  }

  /** Loads the posts of `authors` in a range, in its order. One covered command for each 200 authors. */
  async loadPosts(
    authors: AsyncIterable<UserId> | Iterable<UserId>,
    range: Range,
  ): Promise<PostRef[]> {
    let page: PostRef[] = []
    for await (const batch of batches(authors, authorsPerQuery)) {
      const found = await this.posts.refsByAuthors(batch, narrowed(range, page))
      page = page.length === 0 ? found : merged(page, found, range)
    }
    return page
  }

  private async *authors(
    reader: UserId,
    group: string | undefined,
    excludedAuthors: ReadonlySet<UserId>,
  ): AsyncGenerator<UserId> {
    if (group === undefined) yield reader
    for await (const followees of batches(this.follows.followeesOf(reader, group), restrictedMax)) {
      const hidden =
        excludedAuthors.size > 0
          ? await this.visibilityFor(reader).hiddenAmong('FOLLOWEE', followees)
          : excludedAuthors
      yield* followees.filter((user) => !excludedAuthors.has(user) && !hidden.has(user))
    }
  }
}

/** The part of the range whose posts can still enter the page. */
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

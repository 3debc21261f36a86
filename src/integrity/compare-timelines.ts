import type { FeedStrategyName } from '../feed/strategies/list.ts'
import type { PostId, PostRef, TimeId, UserId } from '../lib/ids.ts'
import { pageSizeMax } from '../lib/page.ts'
import type { IntegrityServices } from './invariant.ts'

/** The most posts of one timeline that a comparison lists of each kind. */
export const postsMax = 200

/** The differences of a timeline from FANOUT_ON_READ: the newest {@link postsMax} posts of each kind. */
export interface Comparison {
  /** Posts that only FANOUT_ON_READ shows. */
  readonly missing: readonly PostRef[]
  /** Posts that FANOUT_ON_READ does not show. */
  readonly extra: readonly PostRef[]
  /** Posts that are listed after an older post, or twice. */
  readonly misplaced: readonly PostRef[]
}

/**
 * Reads a reader's timeline to its end under FANOUT_ON_READ and, in step with it, under other strategies. Holds one
 * page of each strategy.
 * @returns the differences of each strategy.
 */
export async function compareTimelines(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategies: readonly FeedStrategyName[],
): Promise<Map<FeedStrategyName, Comparison>> {
  const cursors = strategies.map(
    (name) => new StrategyCursor(name, walkTimeline(feed, reader, name)),
  )
  for await (const post of walkTimeline(feed, reader, 'FANOUT_ON_READ')) {
    await Promise.all(cursors.map((cursor) => cursor.advanceTo(post)))
  }
  await Promise.all(cursors.map((cursor) => cursor.finish()))
  return new Map(cursors.map(({ name, found }) => [name, found]))
}

/** Reads a timeline page by page. One query of the feed for each page. */
async function* walkTimeline(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategy: FeedStrategyName,
): AsyncGenerator<PostRef> {
  for (let after: TimeId | undefined; ; ) {
    const window = { limit: pageSizeMax, backward: false, after }
    const { items, hasNextPage } = await feed.timeline(reader, {
      strategy,
      window,
      projection: 'ref',
    })
    yield* items.map(({ post }) => post)
    const last = items.at(-1)?.at
    // Ends a walk whose cursor does not advance. The comparison reports its posts as misplaced.
    if (last === undefined || (after !== undefined && last >= after)) return
    if (!(await hasNextPage())) return
    after = last
  }
}

/** Compares the walk of one strategy with the posts of FANOUT_ON_READ. */
class StrategyCursor {
  private readonly kept = {
    missing: [] as PostRef[],
    extra: [] as PostRef[],
    misplaced: [] as PostRef[],
  }
  private head: PostRef | undefined
  private last: PostId | undefined

  constructor(
    readonly name: FeedStrategyName,
    private readonly posts: AsyncGenerator<PostRef>,
  ) {}

  get found(): Comparison {
    return this.kept
  }

  /** Advances to the next post of FANOUT_ON_READ. Records posts that are extra, and the post if it is missing. */
  async advanceTo(post: PostRef): Promise<void> {
    let head = await this.current()
    while (head && head.id > post.id) {
      this.record('extra', head)
      head = await this.next()
    }
    if (head?.id === post.id) this.head = undefined
    else this.record('missing', post)
  }

  /** Records all remaining posts as extra. */
  async finish(): Promise<void> {
    for (let head = await this.current(); head; head = await this.next()) this.record('extra', head)
  }

  private async current(): Promise<PostRef | undefined> {
    return this.head ?? this.next()
  }

  private async next(): Promise<PostRef | undefined> {
    for (;;) {
      const { done, value } = await this.posts.next()
      this.head = done ? undefined : value
      if (!this.head) return undefined
      if (this.last === undefined || this.head.id < this.last) break
      this.record('misplaced', this.head)
    }
    this.last = this.head.id
    return this.head
  }

  private record(kind: keyof Comparison, post: PostRef): void {
    if (this.kept[kind].length < postsMax) this.kept[kind].push(post)
  }
}

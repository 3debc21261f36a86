import type { FeedStrategyName } from '../feed/strategies/list.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import { pageSizeMax } from '../lib/page.ts'
import type { IntegrityServices } from './invariant.ts'

/** Posts of one timeline that a comparison lists of each sort. */
export const postsMax = 200

/** How a timeline differs from that of FANOUT_ON_READ: the newest {@link postsMax} posts of each sort. */
export interface Comparison {
  /** Posts that it lacks. */
  readonly missing: readonly PostRef[]
  /** Posts that it alone has. */
  readonly extra: readonly PostRef[]
  /** Posts that do not come after all newer ones, or come again. */
  readonly misplaced: readonly PostRef[]
}

/**
 * Walks a reader's timeline to its end under FANOUT_ON_READ and, in step with it, under other strategies. Holds a page
 * of each.
 * @returns the differences of each strategy.
 */
export async function compareTimelines(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategies: readonly FeedStrategyName[],
): Promise<Map<FeedStrategyName, Comparison>> {
  const cursors = strategies.map((name) => new StrategyCursor(name, walk(feed, reader, name)))
  for await (const post of walk(feed, reader, 'FANOUT_ON_READ')) {
    await Promise.all(cursors.map((cursor) => cursor.meet(post)))
  }
  await Promise.all(cursors.map((cursor) => cursor.finish()))
  return new Map(cursors.map(({ name, found }) => [name, found]))
}

/** A timeline page by page along its cursors. */
async function* walk(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategy: FeedStrategyName,
): AsyncGenerator<PostRef> {
  for (let after: PostId | undefined; ; ) {
    const window = { limit: pageSizeMax, backward: false, after }
    const { items, hasNextPage } = await feed.timeline(reader, {
      strategy,
      window,
      projection: 'ref',
    })
    yield* items
    const last = items.at(-1)?.id
    // A cursor that does not move on would make this walk endless. The comparison reports its posts as misplaced.
    if (last === undefined || (after !== undefined && last >= after)) return
    if (!(await hasNextPage())) return
    after = last
  }
}

/** A strategy's walk, next to that of FANOUT_ON_READ. */
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

  /** Goes on to a post that should come now. */
  async meet(post: PostRef): Promise<void> {
    let head = await this.current()
    while (head && head.id > post.id) {
      this.note('extra', head)
      head = await this.next()
    }
    if (head?.id === post.id) this.head = undefined
    else this.note('missing', post)
  }

  /** Nothing should come any more. */
  async finish(): Promise<void> {
    for (let head = await this.current(); head; head = await this.next()) this.note('extra', head)
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
      this.note('misplaced', this.head)
    }
    this.last = this.head.id
    return this.head
  }

  private note(what: keyof Comparison, post: PostRef): void {
    if (this.kept[what].length < postsMax) this.kept[what].push(post)
  }
}

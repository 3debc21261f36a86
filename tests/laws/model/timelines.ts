import { expect } from 'vitest'
import type { PostId, PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Window } from '../../../src/lib/page.ts'
import type { Services } from '../../../src/services.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { type Deliveries, pairOf } from './deliveries.ts'
import { type Actors, itemOf, type Model, pageOf } from './model.ts'

/** A request for a timeline, without its window. */
interface PageRequest {
  readonly reader: UserId
  readonly group?: string | undefined
  readonly content: boolean
  readonly strategy: FeedStrategyName
}

/** The posts of a timeline while one of its pages was read. */
export interface Seen {
  /** Posts that belonged to it at some time. */
  readonly ever: ReadonlySet<PostId>
  /** Posts that belonged to it all the time. */
  readonly always: ReadonlySet<PostId>
}

/** A walk to the end of a timeline. */
interface Walk extends Omit<PageRequest, 'strategy'> {
  readonly backward: boolean
  /** The sizes of its pages, repeated. */
  readonly sizes: readonly number[]
  readonly strategyOf: (page: number) => FeedStrategyName
  /** Whether to check also that items exist in the other direction. */
  readonly probed?: boolean
}

/** Compares pages with the model: law L1. */
export class Timelines {
  constructor(
    private readonly model: Model,
    private readonly actors: Actors,
    private readonly deliveries: Deliveries,
    private readonly count: (what: string) => void,
  ) {}

  /**
   * Compares one page while deliveries wait. Its posts belong to the timeline and are in order. It
   * lacks only posts whose delivery waits, and is then pending. FANOUT_ON_READ lacks no post.
   * @param seen the posts of the timeline while the page was read. Default: the posts that belong
   *   to it now.
   */
  async comparePage(
    services: Services,
    asked: PageRequest,
    window: Window,
    seen?: Seen,
  ): Promise<PageResult> {
    const { reader, group, strategy } = asked
    const { posts, pairs } = await this.deliveries.underWay()
    const found = await this.ask(services, asked, window, true)
    const { ids, pending } = found
    const all = seen ? newestFirst(seen.ever) : this.model.timeline(reader, group)
    if (strategy === 'FANOUT_ON_READ') expect(pending, `${strategy} pending`).toBe(false)
    if (!pending && !seen) {
      const expected = { ...pageOf(all, window), pending }
      expect(found, `${strategy} without anything pending`).toEqual(expected)
      return found
    }
    const { limit, backward, before } = window
    const inside = pageOf(all, { ...window, limit: Number.POSITIVE_INFINITY }).ids
    expect(ids, `${strategy} in flight`).toEqual(inside.filter((id) => ids.includes(id)))
    expect(ids.length, strategy).toBeLessThanOrEqual(limit)
    if (ids.length < limit && !before && !backward) expect(found.next, strategy).toBe(false)
    const [first, last] = [ids[0], ids.at(-1)]
    const reached = (id: PostId) =>
      ids.length < limit || (backward ? first && id < first : last && id > last)
    const missing = inside.filter((id) => reached(id) && !ids.includes(id))
    if (seen) {
      const always = missing.filter((id) => seen.always.has(id))
      if (!pending) expect(always, `${strategy} lacks a post and is not pending`).toEqual([])
      return found
    }
    const isUnderWay = (id: PostId) => posts.has(id) || pairs.has(pairOf(reader, this.authorOf(id)))
    const lost = missing.filter((id) => !isUnderWay(id))
    expect(lost, `${strategy} lacks what was delivered`).toEqual([])
    this.count(missing.length > 0 ? `${strategy} pending, posts missing` : `${strategy} pending`)
    const follows = this.model.users().filter((author) => pairs.has(pairOf(reader, author)))
    const awaited = [
      ...all.filter((id) => posts.has(id)),
      ...follows.filter((author) => this.model.shows(reader, author, group)),
    ]
    expect(awaited, `${strategy} is pending for nothing that will show`).not.toEqual([])
    return found
  }

  /**
   * Compares pages of one size to the end, as {@link comparePage}. A page that claims a next page
   * has one. The next page may be empty only if it is pending and the last: it lacks a post whose
   * delivery waits.
   */
  async compareWalk(services: Services, asked: PageRequest, limit: number, backward: boolean) {
    const isMore = ({ next, previous }: PageResult) => (backward ? previous : next) === true
    const { strategy } = asked
    let window: Window = { limit, backward }
    let page = await this.comparePage(services, asked, window)
    while (isMore(page)) {
      const cursor = backward ? page.ids[0] : page.ids.at(-1)
      window = { limit, backward, [backward ? 'before' : 'after']: cursor }
      const following = await this.comparePage(services, asked, window)
      if (following.ids.length === 0) {
        const said = [page.pending, following.pending, isMore(following)]
        expect(said, `${strategy} says more`).toEqual([false, true, false])
        this.count(`${strategy} says more, which is pending`)
      }
      page = following
    }
  }

  /** Compares every page of a walk with the model. Alternates between the processes. */
  async compareAtRest(
    processes: readonly Services[],
    { sizes, strategyOf, backward, probed = false, ...asked }: Walk,
  ): Promise<void> {
    const all = this.model.timeline(asked.reader, asked.group)
    let cursor: PostId | undefined
    for (let page = 0; ; page++) {
      const limit = sizes[page % sizes.length] ?? 1
      const window = { limit, backward, [backward ? 'before' : 'after']: cursor }
      const strategy = strategyOf(page)
      const services = processes[page % processes.length] as Services
      const found = await this.ask(services, { ...asked, strategy }, window, probed)
      const { ids, next, previous } = pageOf(all, window)
      const ahead = backward ? { previous } : { next }
      const expected = { ids, pending: false, ...(probed ? { next, previous } : ahead) }
      expect(found, `${strategy} at rest`).toEqual(expected)
      cursor = backward ? ids[0] : ids.at(-1)
      if (ids.length < limit) return
    }
  }

  private async ask(
    { feed }: Services,
    { reader, group, content, strategy }: PageRequest,
    window: Window,
    probed: boolean,
  ): Promise<PageResult> {
    const projection = content ? 'content' : 'text'
    const request = { window, group, strategy, projection, pending: true } as const
    const page = await feed.timeline(reader, request)
    this.count(`${strategy} by ${page.servedBy}`)
    for (const item of page.items) {
      const { post, ...listed } = itemOf(this.postOf(item.post.id))
      const content = { ...post, text: `by ${post.author}` }
      expect(item, strategy).toMatchObject({ ...listed, post: content })
    }
    const ids = page.items.map(({ post }) => post.id)
    return {
      ids,
      pending: page.pending,
      ...(probed || !window.backward ? { next: await page.hasNextPage() } : {}),
      ...(probed || window.backward ? { previous: await page.hasPreviousPage() } : {}),
    }
  }

  private authorOf(id: PostId): UserId {
    return this.postOf(id).author
  }

  private postOf(id: PostId): PostRef {
    return this.actors.posts.find((post) => post.id === id) as PostRef
  }
}

/** The result of a page request. */
interface PageResult {
  readonly ids: PostId[]
  readonly pending?: boolean | undefined
  readonly next?: boolean
  readonly previous?: boolean
}

const newestFirst = (ids: ReadonlySet<PostId>) => [...ids].sort().reverse()

/** What a poll answers, as docs/explanation/polling.md says. */
export interface PollAnswer {
  readonly count: number
  readonly hasMore: boolean
  readonly changed: boolean
  readonly pollCursor: string
}

/** A page of a timeline. */
export interface TimelinePage {
  readonly pollCursor?: string | null | undefined
  readonly edges: readonly { readonly node?: { readonly id: string } | null | undefined }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly endCursor?: string | null | undefined
  }
}

/** The part of a list that tells what it holds. */
export type HeldTimeline = Pick<TimelinePage, 'pollCursor' | 'edges'>

/** The first posts, or those before a poll cursor, which are new. */
export interface PageArguments {
  readonly first?: number
  readonly after?: string
  readonly last?: number
  readonly before?: string
}

type Maybe<Value> = Value | null | undefined

/** A timeline of a viewer, in the cache of a GraphQL client and on the server. */
export interface Timeline<Page extends TimelinePage> {
  /** The list in the cache, with the `pollCursor` of the page that was written last. Nothing before the first page. */
  held(): Maybe<HeldTimeline>
  poll(since: string): Promise<Maybe<PollAnswer>>
  /** Reads a page, and leaves the list in the cache as it is. */
  read(args: PageArguments): Promise<Maybe<Page>>
  /** Replaces the list by its first posts. With `before`, puts new posts on top, some of which the list may hold. */
  write(args: PageArguments, page: Page): void
}

/** The new posts that are announced. */
export interface Announcement {
  readonly count: number
  readonly hasMore: boolean
}

const nothing: Announcement = { count: 0, hasMore: false }
/** With counts and facets, a page of 100 posts costs more than a request may. */
const pageMax = 50
/** The posts that are read again after a change, at least and at most. */
const reloadMin = 20
const reloadMax = 200

const idsOf = (page: Maybe<HeldTimeline>) => page?.edges.flatMap(({ node }) => node?.id ?? []) ?? []

/**
 * Keeps a timeline up to date: announces the new posts of others, shows them when the user asks, and loads the list again
 * after a change. Posts that the app itself put on top are not announced.
 *
 * Everything known belongs to one `pollCursor` of the list in the cache. An answer that comes after the list was replaced
 * is dropped, so polls, reads and the rest of the app may overlap.
 */
export class NewsWatch<Page extends TimelinePage = TimelinePage> {
  /** The `pollCursor` of the list that the rest belongs to. */
  private base: Maybe<string>
  /** The `pollCursor` of the last poll, for the next one. */
  private since: Maybe<string>
  /** The posts on top that the app put there, and that the cursor does not cover. */
  private own = new Set<string>()
  /** The number of new posts at the last poll, with own ones. */
  private counted = 0
  private announced = nothing
  private publishing = 0
  private published = 0
  /** The posts that pages have brought, while posts are being published. */
  private brought = new Set<string>()
  private readonly listeners = new Set<() => void>()
  private readonly timeline: Timeline<Page>

  constructor(timeline: Timeline<Page>) {
    this.timeline = timeline
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly announcement = (): Announcement => (this.isCurrent(this.base) ? this.announced : nothing)

  /** Polls once. Throws what the client throws. */
  readonly poll = async (): Promise<void> => {
    const { base, since } = this.sync()
    if (!since) return
    const { published } = this
    const own = this.ownHeld().length
    const answer = await this.timeline.poll(since)
    if (!answer || !this.isCurrent(base)) return
    // Whether the answer counts a post that was published since is unknown. The next answer does.
    if (this.publishing > 0 || published !== this.published) return
    const { count, hasMore, changed, pollCursor } = answer
    // Fewer than there were: an own post may have been deleted, which a cursor that does not cover it cannot say.
    if (changed || (own > 0 && count < Math.max(own, this.counted))) return this.reload()
    if (own > 0 && count === own && !hasMore) return this.show()
    this.since = pollCursor
    this.counted = count
    this.announce({ count: hasMore ? count : count - own, hasMore })
  }

  /** Reads the new posts, and puts them on top. Throws what the client throws. */
  readonly show = async (): Promise<void> => {
    let { base, since } = this.sync()
    let missing = this.ownHeld()
    while (since) {
      const args = { last: pageMax, before: since }
      const page = await this.timeline.read(args)
      if (!page || !this.isCurrent(base)) return
      this.write(args, page)
      const added = new Set(idsOf(page))
      missing = missing.filter((id) => !added.has(id))
      base = page.pollCursor
      since = page.pageInfo.hasPreviousPage && base !== since ? base : undefined
    }
    if (missing.length > 0) await this.reload()
  }

  /**
   * Runs a mutation that creates a post, and counts the post as an own one. A page may have brought the post already: after
   * a lost answer, or before a late one.
   * @param send puts the post on top of the list, and resolves to its id.
   */
  readonly publish = async (send: () => Promise<Maybe<string>>): Promise<void> => {
    if (this.publishing === 0) this.brought = new Set(idsOf(this.timeline.held()))
    this.publishing++
    try {
      const id = await send()
      this.sync()
      if (id && !this.brought.has(id)) this.own.add(id)
    } finally {
      this.publishing--
      this.published++
    }
  }

  /** Reads as many posts as are held, and shows them all at once, so that the page does not jump. */
  private async reload(): Promise<void> {
    const { base } = this.sync()
    const known = this.ownHeld()
    const held = this.timeline.held()?.edges.length ?? 0
    const page = await this.readFirst(Math.min(reloadMax, Math.max(reloadMin, held)))
    if (!page || !this.isCurrent(base)) return
    this.write({}, page)
    // An own post that the server no longer has.
    for (const id of known) this.own.delete(id)
    // Published after the page was read.
    if (this.own.size > 0) await this.show()
  }

  private async readFirst(wanted: number): Promise<Maybe<Page>> {
    let page = await this.timeline.read({ first: Math.min(pageMax, wanted) })
    while (page?.pageInfo.hasNextPage && page.pageInfo.endCursor && page.edges.length < wanted) {
      const first = Math.min(pageMax, wanted - page.edges.length)
      const next = await this.timeline.read({ first, after: page.pageInfo.endCursor })
      if (!next || next.pageInfo.endCursor === page.pageInfo.endCursor) break
      page = { ...page, edges: [...page.edges, ...next.edges], pageInfo: next.pageInfo }
    }
    return page
  }

  private write(args: PageArguments, page: Page): void {
    this.timeline.write(args, page)
    this.base = page.pollCursor
    this.since = page.pollCursor
    this.counted = 0
    for (const id of idsOf(page)) {
      this.own.delete(id)
      this.brought.add(id)
    }
    this.announce(nothing)
  }

  /** Drops what belongs to a list that the rest of the app has replaced. */
  private sync() {
    const base = this.timeline.held()?.pollCursor
    if (base !== this.base) {
      this.base = base
      this.since = base
      this.counted = 0
      this.own.clear()
      this.announced = nothing
    }
    return { base, since: this.since }
  }

  private isCurrent(base: Maybe<string>): boolean {
    return this.timeline.held()?.pollCursor === base
  }

  /** The own posts that are still shown: a deletion in this app takes them away. */
  private ownHeld(): string[] {
    return idsOf(this.timeline.held()).filter((id) => this.own.has(id))
  }

  private announce(announced: Announcement): void {
    this.announced = announced
    for (const listener of this.listeners) listener()
  }
}

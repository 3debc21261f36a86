/** The two queries of a client that polls a timeline. */
export interface PollQueries {
  readonly timeline: (
    window: { readonly first: number } | { readonly last: number; readonly before: string },
  ) => Promise<PolledPage>
  readonly news: (since: string) => Promise<PolledNews>
}

interface PolledPage {
  /** Newest first. */
  readonly ids: readonly string[]
  readonly pollCursor: string
  readonly hasPreviousPage: boolean
  readonly hasNextPage: boolean
}

interface PolledNews {
  readonly count: number
  readonly hasMore: boolean
  readonly changed: boolean
  readonly pollCursor: string
}

/** The outcome of a poll. */
export interface Polled {
  readonly news: PolledNews
  /** The posts that the poll added. */
  readonly added: readonly string[]
}

/** A client that polls a timeline as docs/explanation/polling.md says. */
export class Poller {
  /** The posts on the screen, newest first. */
  held: readonly string[] = []
  /** The oldest post of the first page, if older posts follow it. */
  oldest: string | undefined
  private cursor = ''

  /** @param sizes the sizes of the first page and of the pages of new posts. */
  constructor(
    private readonly queries: PollQueries,
    private readonly sizes = { first: 20, last: 100 },
  ) {}

  /** Loads the first page. */
  async load(): Promise<void> {
    const page = await this.queries.timeline({ first: this.sizes.first })
    this.held = page.ids
    this.oldest = page.hasNextPage ? page.ids.at(-1) : undefined
    this.cursor = page.pollCursor
  }

  /** Asks for news. Loads the first page again if posts changed, otherwise the new posts. */
  async poll(): Promise<Polled> {
    const before = new Set(this.held)
    const news = await this.queries.news(this.cursor)
    if (news.changed) await this.load()
    else {
      this.cursor = news.pollCursor
      if (news.count > 0) await this.addNew()
    }
    return { news, added: this.held.filter((id) => !before.has(id)) }
  }

  private async addNew(): Promise<void> {
    const { last } = this.sizes
    let fresh: readonly string[] = []
    for (let isMore = true; isMore; ) {
      const page = await this.queries.timeline({ last, before: this.cursor })
      fresh = [...page.ids, ...fresh]
      this.cursor = page.pollCursor
      isMore = page.hasPreviousPage
    }
    this.held = [...fresh, ...this.held.filter((id) => !fresh.includes(id))]
  }
}

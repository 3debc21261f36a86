import { type Answer, type Ask, isAnswered } from './client.ts'
import { idsOf, type Page } from './operations.ts'

interface PolledPage {
  readonly timeline: Page & {
    readonly pollCursor: string | null
    readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
  }
}

interface PolledNews {
  readonly timelineNews: {
    readonly count: number
    readonly changed: boolean
    readonly pollCursor: string
  }
}

/** The posts of a first page, and of a page of new posts. */
const [firstPage, newPage] = [20, 100]
/** The most pages of new posts of one poll. The next poll reads on. */
const pagesMax = 20

/** A client that polls a timeline as docs/explanation/polling.md says. It polls once at a time. */
export class Poller {
  /** The posts on the screen, newest first. */
  held: readonly string[] = []
  /**
   * The oldest post of the first page, if older posts follow it. Every newer post should be held.
   */
  oldest: string | undefined
  private cursor = ''
  private etag: string | undefined

  /** @param user the number of the reader. */
  constructor(readonly user: number) {}

  /** Loads the first page. @returns whether the deployment answered. */
  async load(ask: Ask): Promise<boolean> {
    const { data } = await ask<PolledPage>({
      document: 'Timeline',
      variables: { first: firstPage },
      as: this.user,
    })
    if (!data?.timeline.pollCursor) return false
    this.held = idsOf(data.timeline)
    this.oldest = data.timeline.pageInfo.hasNextPage ? this.held.at(-1) : undefined
    this.cursor = data.timeline.pollCursor
    return true
  }

  /**
   * Asks for news. If there are any, it loads the first page again or reads the new posts.
   * @param askNews sends the question, `askPage` what follows it.
   * @returns `unchanged`, `changed`, or `failed` if a request was not answered: the poller then
   *   holds what it held.
   */
  async poll(askNews: Ask, askPage: Ask): Promise<'unchanged' | 'changed' | 'failed'> {
    const answer: Answer<PolledNews> = await askNews({
      document: 'TimelineNews',
      variables: { since: this.cursor },
      as: this.user,
      etag: this.etag,
    })
    if (!isAnswered(answer)) return 'failed'
    if (!answer.data) return 'unchanged'
    this.etag = answer.etag
    const { count, changed, pollCursor } = answer.data.timelineNews
    if (changed || count > 0) {
      const isRead = changed ? this.load(askPage) : this.addNew(askPage, pollCursor)
      return (await isRead) ? 'changed' : 'failed'
    }
    this.cursor = pollCursor
    return 'unchanged'
  }

  private async addNew(ask: Ask, since: string): Promise<boolean> {
    let fresh: readonly string[] = []
    let cursor = since
    for (let page = 0, isMore = true; isMore && page < pagesMax; page++) {
      const { data } = await ask<PolledPage>({
        document: 'TimelinePoll',
        variables: { last: newPage, before: cursor },
        as: this.user,
      })
      if (!data?.timeline.pollCursor) return false
      fresh = [...idsOf(data.timeline), ...fresh]
      cursor = data.timeline.pollCursor
      isMore = data.timeline.pageInfo.hasPreviousPage
    }
    const added = new Set(fresh)
    this.held = [...fresh, ...this.held.filter((id) => !added.has(id))]
    this.cursor = cursor
    return true
  }
}

/** The pollers of a run. The one that polled longest ago polls next. */
export class Pollers {
  private readonly idle: Poller[]

  constructor(readonly all: readonly Poller[]) {
    this.idle = [...all]
  }

  /** Runs `work` with the next poller. Does nothing if all are polling. */
  async withNext(work: (poller: Poller) => Promise<unknown>): Promise<void> {
    const poller = this.idle.shift()
    if (!poller) return
    try {
      await work(poller)
    } finally {
      this.idle.push(poller)
    }
  }
}

import { NewsWatch, type PageArguments, type TimelinePage } from '../../examples/ui/news.ts'

interface HeldPage extends TimelinePage {
  readonly edges: readonly { readonly node: { readonly id: string } }[]
}

/** The edges of posts. */
export const edgesOf = (ids: readonly string[]) => ids.map((id) => ({ node: { id } }))

/**
 * A timeline on a server, whose poll cursor names the posts that it covers, and the list that an
 * app holds of it.
 */
export class TimelineScene {
  /** Newest first. */
  posts: string[] = ['old']
  list: HeldPage | undefined
  readonly sent: string[] = []
  private held: { readonly until: Promise<void>; readonly what: RegExp } | undefined
  readonly watch = new NewsWatch<HeldPage>({
    held: () => this.list,
    poll: (since) => this.answer(`poll ${since}`, () => this.newsSince(since)),
    read: (args) => this.answer(JSON.stringify(args), () => this.page(args)),
    write: (args, page) => {
      const added = new Set(page.edges.map(({ node }) => node.id))
      const rest = args.before
        ? (this.list?.edges.filter(({ node }) => !added.has(node.id)) ?? [])
        : []
      this.list = { ...page, edges: [...page.edges, ...rest] }
    },
  })

  /** The first page, as the app reads it by itself. */
  open(size = 20): this {
    this.list = this.page({ first: size })
    return this
  }

  /** The answers to what is asked from now on are made, but come when the result is called. */
  hold(what = /./): () => Promise<void> {
    const { promise, resolve } = withResolvers()
    this.held = { until: promise, what }
    return async () => {
      this.held = undefined
      resolve()
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    }
  }

  private async answer<Answer>(asked: string, make: () => Answer): Promise<Answer> {
    this.sent.push(asked)
    const answer = make()
    if (this.held?.what.test(asked)) await this.held.until
    return answer
  }

  /** A post of the viewer in this app: the server has it, and the app puts it on top. */
  publish(id: string, answered: Promise<void> = Promise.resolve()): Promise<void> {
    if (!this.posts.includes(id)) this.posts.unshift(id)
    return this.watch.publish(async () => {
      await answered
      if (this.list && !this.shown.includes(id)) {
        this.list = { ...this.list, edges: [...edgesOf([id]), ...this.list.edges] }
      }
      return id
    })
  }

  deleteOnServer(id: string): void {
    this.posts = this.posts.filter((post) => post !== id)
  }

  get shown(): string[] {
    return this.list?.edges.map(({ node }) => node.id) ?? []
  }

  get announced(): number {
    return this.watch.announcement().count
  }

  private newsSince(since: string) {
    const covered = since.split(',')
    const count = this.posts.filter((id) => !covered.includes(id)).length
    const changed = covered.some((id) => !this.posts.includes(id))
    return { count: Math.min(count, 20), hasMore: count > 20, changed, pollCursor: since }
  }

  private page({ first = 20, after, last, before }: PageArguments): HeldPage {
    const covered = before?.split(',') ?? []
    const start = after ? this.posts.indexOf(after) + 1 : 0
    const found = before
      ? this.posts.filter((id) => !covered.includes(id))
      : this.posts.slice(start)
    const ids = before && last ? found.slice(-last) : found.slice(0, first)
    return {
      edges: edgesOf(ids),
      pollCursor: after ? null : [...ids, ...covered].join(),
      pageInfo: {
        endCursor: ids.at(-1) ?? null,
        hasNextPage: !before && start + ids.length < this.posts.length,
        hasPreviousPage: before !== undefined && ids.length < found.length,
      },
    }
  }
}

/** A promise that is resolved from outside. */
export function withResolvers() {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

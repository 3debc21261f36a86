import { shareReads } from '../../db/shared-reads.ts'
import type { EngagementSummaries } from '../../engagement/summaries.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { Post } from '../../posts/post.ts'
import type { Posts } from '../../posts/posts.ts'
import type { Entry } from '../strategies/strategy.ts'
import { renewedPost } from './kept-pages.ts'
import type { TimelineQuery } from './page.ts'
import type { KnownFacts, PageFacts, PageFactsReader } from './page-facts.ts'
import { containText } from './presentation.ts'

/** The parts that {@link EntryFacts} works with. */
export interface EntryFactsParts {
  readonly pageFacts: PageFactsReader
  readonly posts: Posts
  readonly summaries: EngagementSummaries
}

/** The second step of a page: the facts about its candidates, from the database or from the last page. */
export class EntryFacts {
  private readonly readPosts = shareReads('posts', (refs: readonly PostRef[]) =>
    this.parts.posts.byRefs([...new Map(refs.map((ref) => [ref.id, ref])).values()]),
  )

  constructor(private readonly parts: EntryFactsParts) {}

  /**
   * Loads the facts about entries. One command, or with known facts about all their authors at most three, shared.
   */
  async load(
    entries: readonly Entry[],
    refs: readonly PostRef[],
    { reader, group, projection, profiles = false, known, stamp }: TimelineQuery,
  ): Promise<PageFacts> {
    const content = projection !== 'ref' && !containText(entries, projection)
    const authors = new Set(known?.authors.authors)
    if (known && refs.every(({ author }) => authors.has(author))) {
      // Read after the candidates: they belong to the known registrations if these are still the same.
      if (await stamp?.isStill('registrations')) return this.addPosts(known, refs, content)
    }
    return this.parts.pageFacts.load(refs, { reader, group, content, profiles })
  }

  /** Known facts with those about further posts of known authors. At most two commands, shared. */
  private async addPosts(
    { authors, posts, registered }: KnownFacts,
    refs: readonly PostRef[],
    content: boolean,
  ): Promise<PageFacts> {
    const isKnown = ({ id }: PostRef) =>
      (content ? posts.get(id)?.text : posts.get(id)) !== undefined
    const missing = refs.filter((ref) => !isKnown(ref))
    const counted = content ? refs.filter(isKnown) : []
    const [read, summaries] = await Promise.all([
      missing.length > 0 ? this.readPosts(missing) : new Map<PostId, Post>(),
      this.parts.summaries.load(counted, undefined),
    ])
    const knownPost = (id: PostId): Post | PostRef | undefined => {
      const [item, summary] = [posts.get(id), summaries.get(id)]
      return content ? item && summary && renewedPost(item, summary.counts) : item
    }
    const existing = refs.flatMap(({ id }) => {
      const post = read.get(id) ?? knownPost(id)
      return post ? [[id, post] as const] : []
    })
    // The stamp of this page covers only its own authors.
    const own = [...new Set(refs.map(({ author }) => author))]
    return { ...authors, authors: own, posts: new Map(existing), registered }
  }

  /** The posts of entries. One command if an entry does not hold its author. */
  async loadRefs(entries: readonly Entry[]): Promise<PostRef[]> {
    const unknown = entries.filter(({ author }) => author === undefined).map(({ id }) => id)
    const authors =
      unknown.length > 0 ? await this.parts.posts.authorsOf(unknown) : new Map<PostId, UserId>()
    return entries.flatMap(({ id, author = authors.get(id) }) => (author ? [{ id, author }] : []))
  }
}

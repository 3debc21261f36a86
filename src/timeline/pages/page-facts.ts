import type { PostFacts } from '../../db/collections.ts'
import type { EngagementSummaries, EngagementSummary } from '../../engagement/summaries.ts'
import type { Follows } from '../../follows/follows.ts'
import type { KeptRelations, Relations } from '../../follows/kept-relations.ts'
import type { Restrictions } from '../../follows/restrictions.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import type { KeptPosts } from '../../posts/kept-posts.ts'
import { countsOf, type Post, provenPost } from '../../posts/post.ts'
import type { Posts } from '../../posts/posts.ts'
import type { KeptAccount, KeptAccounts } from '../../users/kept-accounts.ts'
import { type Facts, isShown } from '../../visibility/rules.ts'

/** The facts about the candidates of a page, from the reader's side. */
export interface PageFacts extends Facts {
  /** The authors of the candidates. */
  readonly authors: readonly UserId[]
  /** At least the authors that the reader follows. */
  readonly followed: ReadonlySet<UserId>
  readonly members: ReadonlySet<UserId> | undefined
  /** The existing posts: whole posts if content was requested. */
  readonly posts: ReadonlyMap<PostId, Post | PostFacts>
  /** The accounts of live authors that the reader follows, and the reader's. */
  readonly accounts: ReadonlyMap<UserId, KeptAccount>
  /**
   * The counts of the existing posts and the reader's own entries. Undefined if neither was
   * requested.
   */
  readonly summaries: ReadonlyMap<PostId, EngagementSummary> | undefined
  /** Whether memory was current. */
  readonly isCurrent: boolean
}

/** The facts that a page needs. */
export interface FactsRequest {
  readonly reader: UserId
  readonly group: string | undefined
  /** Whether whole posts are needed. Otherwise, posts may be known only to exist. */
  readonly content: boolean
  /** Whether the current counts are needed. Default: no. */
  readonly counts?: boolean | undefined
  /** Whether the reader's own entries are needed. Default: no. */
  readonly viewerHas?: boolean | undefined
  /** Whether the candidates are existing posts from memory that was current. Default: no. */
  readonly areKept?: boolean | undefined
}

/** The parts that {@link PageFactsReader} works with. */
export interface PageFactsParts {
  readonly follows: Pick<Follows, 'followeesAmong'>
  readonly restrictions: Pick<Restrictions, 'restrictionsFor'>
  readonly memory: ProcessMemory
  readonly keptAccounts: KeptAccounts
  readonly keptRelations: KeptRelations
  readonly keptPosts: KeptPosts
  readonly summaries: EngagementSummaries
  readonly posts: Pick<Posts, 'existing'>
}

/** The second step of a page: loads the facts that decide law L1, for all candidates together. */
export class PageFactsReader {
  constructor(private readonly parts: PageFactsParts) {}

  /**
   * Loads the facts about candidates. Call it after they were read, so that no fact is older. While
   * memory is current, none for what it holds; otherwise two for the relations of the reader, one
   * for a group, and two for accounts. One for the posts, shared, if counts or the reader's own
   * entries are needed, or a post is not in memory.
   */
  async load(refs: readonly PostRef[], request: FactsRequest): Promise<PageFacts> {
    const isCurrent = request.areKept === true || (await this.parts.memory.isCurrent())
    const authors = [...new Set(refs.map(({ author }) => author))]
    const facts = await this.loadAuthors(authors, request, isCurrent)
    const isShownAuthor = (user: UserId) => isShown('AUTHOR', request.reader, { user }, facts)
    const shown = new Set(authors.filter(isShownAuthor))
    const shownRefs = refs.filter(({ author }) => shown.has(author))
    return {
      ...facts,
      ...(await this.loadPosts(shownRefs, request, isCurrent)),
      authors,
      isCurrent,
    }
  }

  /**
   * What decides whether a reader's pages show authors, for those that the reader follows. The
   * commands of {@link load}.
   */
  async loadAuthors(
    users: readonly UserId[],
    { reader, group }: Pick<FactsRequest, 'reader' | 'group'>,
    isCurrent: boolean,
  ) {
    const { keptAccounts, follows } = this.parts
    const others = users.filter((user) => user !== reader)
    const relations = await this.loadRelations(reader, others, isCurrent)
    const followed = users.filter((user) => user === reader || relations.followees.has(user))
    const [accounts, members] = await Promise.all([
      keptAccounts.load(followed, isCurrent),
      group === undefined ? undefined : follows.followeesAmong(reader, others, group),
    ])
    return {
      live: new Map([...accounts].map(([id, { account }]) => [id, account])),
      followed: relations.followees,
      restrictions: relations.restrictions,
      members,
      accounts,
    }
  }

  /** The relations between a reader and others, and perhaps more. */
  private async loadRelations(
    reader: UserId,
    others: readonly UserId[],
    isCurrent: boolean,
  ): Promise<Pick<Relations, 'followees' | 'restrictions'>> {
    const { follows, restrictions, keptRelations } = this.parts
    const kept = isCurrent ? await keptRelations.load(reader) : undefined
    if (kept) return kept
    const [followees, restricted] = await Promise.all([
      follows.followeesAmong(reader, others),
      restrictions.restrictionsFor(reader, others),
    ])
    return { followees, restrictions: restricted }
  }

  /**
   * The existing posts of live authors. One command, shared, if anything is needed that is not in
   * memory.
   */
  private async loadPosts(
    refs: readonly PostRef[],
    { reader, content, counts, viewerHas, areKept }: FactsRequest,
    isCurrent: boolean,
  ): Promise<Pick<PageFacts, 'posts' | 'summaries'>> {
    const { keptPosts, summaries } = this.parts
    const posts = new Map<PostId, Post | PostFacts>()
    for (const ref of refs) {
      const kept = isCurrent ? keptPosts.get(ref) : undefined
      const post = kept ?? (areKept && !content ? provenPost(ref) : undefined)
      if (post) posts.set(ref.id, post)
    }
    const unknown = refs.filter(({ id }) => !posts.has(id))
    const needsAll = counts || viewerHas
    // Where nothing is kept, an index covers this.
    if (!isCurrent && !content && !needsAll)
      return { posts: await this.parts.posts.existing(unknown), summaries: undefined }
    const asked = needsAll ? refs : unknown
    using filling = keptPosts.beginFilling()
    const read = await summaries.load(asked, viewerHas ? reader : undefined, unknown)
    for (const { id } of asked) {
      const summary = read.get(id)
      const post = posts.get(id) ?? summary?.post
      if (!summary || !post) {
        posts.delete(id)
        continue
      }
      if (isWhole(post) && summary.post) filling.keep(post)
      posts.set(id, isWhole(post) ? { ...post, ...countsOf(summary.counts) } : post)
    }
    return { posts, summaries: needsAll ? read : undefined }
  }
}

const isWhole = (post: Post | PostFacts): post is Post => 'text' in post

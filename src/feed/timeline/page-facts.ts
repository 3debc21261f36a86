import { singleBatch } from '../../db/client.ts'
import type {
  Collections,
  PostDoc,
  RestrictionDoc,
  UserDoc,
  UserStatsDoc,
} from '../../db/collections.ts'
import type { Document, ObjectId } from '../../db/mongo.ts'
import { fromObjectId } from '../../db/object-id.ts'
import { idIn } from '../../db/pages.ts'
import type { StampBuilder, Stamping } from '../../db/stamps.ts'
import type { Versions } from '../../db/versions.ts'
import type { EngagementSummaries, EngagementSummary } from '../../engagement/summaries.ts'
import type { Edges } from '../../follows/edges.ts'
import type { Follows } from '../../follows/follows.ts'
import type { KeptRelations, Relations } from '../../follows/kept-relations.ts'
import type { Restrictions } from '../../follows/restrictions.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { KeptPosts } from '../../posts/kept-posts.ts'
import { contentProjection, countsOf, type Post, toPost } from '../../posts/post.ts'
import type { KeptAccount, KeptAccounts } from '../../users/kept-accounts.ts'
import { hasAccount, type User, usersIn } from '../../users/profile.ts'
import { accountsIn, type Stats, statsIn } from '../../users/stats.ts'
import { type Facts, isShown } from '../../visibility/rules.ts'
import { restrictionsIn } from '../../visibility/visibility.ts'
import type { Registered, RegistrationRow, Registry } from '../registry/registry.ts'

/** The facts about the candidates of a page, from the reader's side. */
export interface PageFacts extends Facts {
  /** The authors of the candidates. */
  readonly authors: readonly UserId[]
  /** At least the authors that the reader follows. Where a group is looked up, those in the group. */
  readonly followed: ReadonlySet<UserId>
  readonly members: ReadonlySet<UserId> | undefined
  /** The counters of live authors. Undefined if they were not read. */
  readonly stats: ReadonlyMap<UserId, Stats> | undefined
  /** The profiles of live authors. Undefined if they were not requested. */
  readonly profiles: ReadonlyMap<UserId, User> | undefined
  /** The existing posts: whole posts if content was requested, and where posts are kept. */
  readonly posts: ReadonlyMap<PostId, Post | PostRef>
  /** All relations of the reader. Undefined if there are too many, and where nothing is kept. */
  readonly relations: Relations | undefined
  /** The accounts of live authors, as they are kept. Undefined where nothing is kept. */
  readonly accounts: ReadonlyMap<UserId, KeptAccount> | undefined
  /** The counts of the existing posts and the reader's own entries, as requested. Undefined where nothing is kept. */
  readonly summaries: ReadonlyMap<PostId, EngagementSummary> | undefined
  /** The registrations at the time of this read. */
  readonly registered: Registered
}

interface Row extends RegistrationRow {
  readonly followed: UserId[]
  readonly restrictions: Pick<RestrictionDoc, 'other' | 'kind'>[]
  readonly stats: UserStatsDoc[]
  readonly users?: UserDoc[]
  readonly posts: PostDoc[]
}

/** The facts that a page needs. */
export interface FactsRequest {
  /** The users that the facts are about: at least the authors. */
  readonly users: readonly UserId[]
  readonly reader: UserId
  readonly group: string | undefined
  /**
   * Whether whole posts are needed. Otherwise, where nothing is kept, posts are only known to exist: an index covers them.
   * Where posts are kept, all of them are whole.
   */
  readonly content: boolean
  /** Whether the profiles of the authors are needed. Default: no. */
  readonly profiles?: boolean | undefined
  /** Whether the current counts are needed. With `content`, they are read anyway, if the posts are. Default: no. */
  readonly counts?: boolean | undefined
  /** Whether the reader's own entries are needed. Default: no. */
  readonly viewerHas?: boolean | undefined
  /** Takes the accounts on which the facts depend. Default: none are needed. */
  readonly stamp?: StampBuilder | undefined
  /** The relations of the reader, if an earlier round of the page has them. */
  readonly relations?: Relations | undefined
}

/** The parts that {@link PageFactsReader} works with. */
export interface PageFactsParts {
  readonly collections: Collections
  readonly edges: Edges
  readonly follows: Pick<Follows, 'followeesAmong'>
  readonly restrictions: Pick<Restrictions, 'restrictionsFor'>
  readonly registry: Pick<Registry, 'lookUp' | 'accept' | 'readUnder'>
  readonly versions: Pick<Versions, 'isOn'>
  readonly stamping: () => Stamping
  readonly keptAccounts: KeptAccounts
  readonly keptRelations: KeptRelations
  readonly keptPosts: KeptPosts
  readonly summaries: EngagementSummaries
}

/** The second step of a page: loads the facts that decide law L1, for all candidates together. */
export class PageFactsReader {
  constructor(private readonly parts: PageFactsParts) {}

  /**
   * Loads the facts about candidates: from memory where versions tell that it is current, so one command for the
   * versions, shared, and those of {@link KeptRelations} and {@link KeptAccounts}; and one for the posts, shared, if
   * counts or the reader's own entries are needed or a post is not in memory. Where nothing is kept, one command.
   * Call it after the candidates were read.
   */
  async load(refs: readonly PostRef[], request: FactsRequest): Promise<PageFacts> {
    if (await this.isKept()) return this.loadKept(refs, request)
    request.stamp?.spoil()
    return this.lookUp(refs, request)
  }

  /** Whether facts are kept in memory. The commands of {@link Versions.isOn}: mostly none. */
  async isKept(): Promise<boolean> {
    const { keptAccounts, versions } = this.parts
    return keptAccounts.isOn && versions.isOn('keptAnswers')
  }

  /**
   * What decides whether a reader's pages show authors, from memory, for those that the reader follows: one command for
   * the versions, shared, and those of {@link KeptRelations} and {@link KeptAccounts}. Call it where facts are kept.
   */
  async loadAuthors(
    users: readonly UserId[],
    { reader, group, stamp, ...earlier }: Omit<FactsRequest, 'users' | 'content'>,
  ) {
    const { keptAccounts, registry, follows } = this.parts
    const stamping = this.parts.stamping()
    await stamping.seeFacts(reader)
    const others = users.filter((user) => user !== reader)
    const whole = earlier.relations ?? (await this.parts.keptRelations.load(reader, stamping))
    const relations = whole ?? (await this.loadRelations(reader, others))
    const followed = users.filter((user) => user === reader || relations.followees.has(user))
    const people = stamp ? [...new Set([...followed, reader])] : followed
    const [accounts, members, registered] = await Promise.all([
      keptAccounts.load(people, stamping),
      group === undefined ? undefined : follows.followeesAmong(reader, others, group),
      registry.readUnder(stamping.valueOf('registrations')),
    ])
    stamp?.coverAccounts(people, accounts, stamping)
    // No version tells when its document is corrected.
    if (people.some((user) => accounts.get(user)?.profile === undefined)) stamp?.spoil()
    return {
      live: new Map([...accounts].map(([id, { account }]) => [id, account])),
      followed: relations.followees,
      restrictions: relations.restrictions,
      members,
      relations: whole,
      accounts,
      registered,
    }
  }

  private async loadKept(refs: readonly PostRef[], request: FactsRequest): Promise<PageFacts> {
    const authors = [...new Set(request.users)]
    const facts = await this.loadAuthors(authors, request)
    const { accounts } = facts
    const isShownAuthor = (user: UserId) => isShown('AUTHOR', request.reader, { user }, facts)
    const shown = new Set(authors.filter(isShownAuthor))
    const shownRefs = refs.filter(({ author }) => shown.has(author))
    const posts = await this.loadPosts(shownRefs, accounts, request)
    return { ...facts, ...posts, authors, stats: undefined, profiles: profilesIn(accounts) }
  }

  /** Those of a reader with too many relations to keep them all. Two commands. */
  private async loadRelations(reader: UserId, others: readonly UserId[]): Promise<Relations> {
    const { follows, restrictions } = this.parts
    const [followees, restricted] = await Promise.all([
      follows.followeesAmong(reader, others),
      restrictions.restrictionsFor(reader, others),
    ])
    return { followees, restrictions: restricted }
  }

  /** The existing posts of live authors. One command, shared, if anything is needed that is not in memory. */
  private async loadPosts(
    refs: readonly PostRef[],
    accounts: ReadonlyMap<UserId, KeptAccount>,
    { reader, counts, viewerHas }: FactsRequest,
  ): Promise<Pick<PageFacts, 'posts' | 'summaries'>> {
    const { keptPosts, summaries } = this.parts
    const posts = new Map<PostId, Post | PostRef>()
    for (const ref of refs) {
      const account = accounts.get(ref.author)
      const kept = account && keptPosts.get(ref, account)
      if (kept) posts.set(ref.id, kept)
    }
    const unknown = refs.filter(({ id }) => !posts.has(id))
    const needsAll = counts || viewerHas
    const asked = needsAll ? refs : unknown
    const read = await summaries.load(asked, viewerHas ? reader : undefined, unknown)
    for (const { id, author } of asked) {
      const summary = read.get(id)
      const post = posts.get(id) ?? summary?.post
      if (!summary || !post) {
        posts.delete(id)
        continue
      }
      const account = accounts.get(author)
      if (account && isWhole(post) && summary.post) keptPosts.keep(post, account)
      posts.set(id, isWhole(post) ? { ...post, ...countsOf(summary.counts) } : post)
    }
    return { posts, summaries: needsAll ? read : undefined }
  }

  /** Each part of the command names its shard. Indexes cover all but counters, registrations, profiles and content. */
  private async lookUp(
    refs: readonly PostRef[],
    { users: asked, reader, group, content, profiles }: FactsRequest,
  ): Promise<PageFacts> {
    const authors = [...new Set(asked)]
    const others = authors.filter((author) => author !== reader)
    const { collection, owner, other } = this.parts.edges.following
    const { restrictions, user_stats, users, posts } = this.parts.collections
    const part = (from: { collectionName: string }, match: Document, project?: Document) => ({
      from: from.collectionName,
      pipeline: [{ $match: match }, ...(project ? [{ $project: project }] : [])],
    })
    const inGroup = group === undefined ? {} : { groups: group }
    const follow = part(
      collection,
      { [owner]: reader, ...inGroup, [other]: { $in: others } },
      { _id: 0, [other]: 1 },
    )
    const restrict = part(
      restrictions,
      { owner: reader, other: { $in: others } },
      { _id: 0, other: 1, kind: 1 },
    )
    const exist = part(
      posts,
      { author: { $in: authors }, _id: idIn(refs.map(({ id }) => id)) },
      content ? contentProjection : { author: 1 },
    )
    const [row] = await posts.db
      .aggregate<Row>(
        [
          { $documents: [{}] },
          { $lookup: { ...follow, as: 'followed' } },
          { $lookup: { ...restrict, as: 'restrictions' } },
          { $lookup: { ...part(user_stats, { _id: { $in: authors } }), as: 'stats' } },
          ...(profiles ? [{ $lookup: { ...part(users, hasAccount(authors)), as: 'users' } }] : []),
          { $lookup: { ...exist, as: 'posts' } },
          this.parts.registry.lookUp(),
          { $set: { followed: `$followed.${other}` } },
        ],
        singleBatch,
      )
      .toArray()
    if (!row) throw new Error('the query for the facts of a page returned no row')
    const facts = factsOf(row, authors, refs)
    const members = group === undefined ? undefined : facts.followed
    return { ...facts, members, registered: this.parts.registry.accept(row) }
  }
}

const isWhole = (post: Post | PostRef): post is Post => 'text' in post

const profilesIn = (accounts: ReadonlyMap<UserId, KeptAccount>): Map<UserId, User> =>
  new Map([...accounts].flatMap(([id, { profile }]) => (profile ? [[id, profile] as const] : [])))

function factsOf(
  row: Row,
  authors: readonly UserId[],
  refs: readonly PostRef[],
): Omit<PageFacts, 'registered' | 'members'> {
  const claimed = new Map(refs.map(({ id, author }) => [id, author]))
  const posts = new Map<PostId, Post | PostRef>()
  for (const doc of row.posts) {
    const id = fromObjectId<PostId>(doc._id as ObjectId)
    const author = doc.author as UserId
    if (claimed.get(id) === author) posts.set(id, toPost(doc) ?? { id, author })
  }
  return {
    authors,
    followed: new Set(row.followed),
    restrictions: restrictionsIn(row.restrictions),
    live: accountsIn(row.stats),
    stats: statsIn(row.stats),
    profiles: row.users && usersIn(row.users),
    posts,
    relations: undefined,
    accounts: undefined,
    summaries: undefined,
  }
}

import type { PostFacts, RestrictionDoc } from '../db/collections.ts'
import type { Tx } from '../db/mongo.ts'
import { groupBy } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import {
  type FactFor,
  type Facts,
  factsFor,
  isShown,
  type Purpose,
  type RestrictionKind,
} from './rules.ts'

/** Reads one fact about a viewer and some users, for all of them together. */
type ReadFact<Fact extends keyof Facts> = (
  users: readonly UserId[],
  viewer: UserId,
) => Promise<Facts[Fact]>

/**
 * The facts that users alone decide, and how they are read: by one command each, or by the loaders
 * of a request.
 */
export interface FactReads {
  readonly live: (users: readonly UserId[]) => Promise<Facts['live']>
  readonly followed: ReadFact<'followed'>
  readonly restrictions: ReadFact<'restrictions'>
}

/** A viewer, and a user that the viewer follows or whose content the viewer sees. */
export interface Pair {
  readonly viewer: UserId
  readonly user: UserId
}

/** A viewer, and a post with which the viewer engages. */
export interface PostPair {
  readonly viewer: UserId
  readonly post: PostRef
}

/** How a transaction reads facts about many pairs: by one command each. */
export interface PairReads {
  readonly live: (users: readonly UserId[], tx: Tx) => Promise<Facts['live']>
  /** By the viewer. */
  readonly restrictions: (
    pairs: readonly Pair[],
    tx: Tx,
  ) => Promise<ReadonlyMap<UserId, Facts['restrictions']>>
}

/** How facts about posts are read, if a rule depends on them. */
export interface PostReads {
  /** The existing posts, by one command in a transaction. */
  readonly stored: (posts: readonly PostRef[], tx: Tx) => Promise<Facts['posts']>
  /** A post in memory. */
  readonly kept: (post: PostRef) => PostFacts | undefined
}

/** What a process keeps in memory of the facts that decide about a pair. */
export interface KeptReads {
  /** Whether memory holds all that was acknowledged before the call. */
  readonly isCurrent: () => Promise<boolean>
  readonly live: (users: readonly UserId[]) => Promise<Facts['live']>
  /** Undefined if the viewer has too many. */
  readonly restrictions: (viewer: UserId) => Promise<Facts['restrictions'] | undefined>
}

/** The purposes that {@link FactReads} decide. */
export type UserPurpose = {
  [P in Purpose]: FactFor<P> extends keyof FactReads ? P : never
}[Purpose]

/** The purposes that {@link FactReads} and what is known of posts decide. */
export type PostPurpose = {
  [P in Purpose]: FactFor<P> extends keyof FactReads | 'posts' ? P : never
}[Purpose]

/**
 * What each fact about users is where nothing is read, and whether it is about the viewer too: an
 * anonymous viewer has no such facts.
 */
const userFacts: {
  readonly [Fact in keyof FactReads]: { readonly none: Facts[Fact]; readonly ofViewer: boolean }
} = {
  live: { none: new Map(), ofViewer: false },
  followed: { none: new Set(), ofViewer: true },
  restrictions: { none: new Map(), ofViewer: true },
}
const isAboutUsers = (fact: keyof Facts): fact is keyof FactReads => fact in userFacts

/** The facts that decide a purpose and are about users. */
type UserFactsFor<P extends Purpose> = Pick<Facts, FactFor<P> & keyof FactReads>

/** The fact of restrictions that were read of one owner. */
export const restrictionsIn = (
  docs: readonly Pick<RestrictionDoc, 'other' | 'kind'>[],
): Map<UserId, Set<RestrictionKind>> =>
  new Map(
    [...groupBy(docs, ({ other }) => other as UserId)].map(([other, own]) => [
      other,
      new Set(own.map(({ kind }) => kind)),
    ]),
  )

/** What one viewer may see. Every list, answer and admission about users asks it. */
export class Visibility {
  /** @param viewer undefined for an anonymous request, which follows, mutes and blocks no one. */
  constructor(
    readonly viewer: UserId | undefined,
    private readonly reads: FactReads,
  ) {}

  /**
   * Loads the facts that decide a purpose, as far as they are about users, for all users together.
   * At most one read for each fact, at the same time.
   * @param read facts that the caller has, which are not read. Default: none.
   */
  async load<P extends Purpose>(
    purpose: P,
    users: readonly UserId[],
    read: Partial<Facts> = {},
  ): Promise<UserFactsFor<P>> {
    const distinct = [...new Set(users)]
    const others = this.viewer === undefined ? [] : distinct.filter((user) => user !== this.viewer)
    const needed: readonly (keyof Facts)[] = factsFor(purpose)
    const loaded = await Promise.all(
      needed
        .filter(isAboutUsers)
        .filter((fact) => !(fact in read))
        .map(async (fact) => {
          const { none, ofViewer } = userFacts[fact]
          const about = ofViewer ? others : distinct
          return [
            fact,
            about.length > 0 ? await this.reads[fact](about, this.viewer as UserId) : none,
          ] as const
        }),
    )
    return { ...read, ...Object.fromEntries(loaded) } as unknown as UserFactsFor<P>
  }

  /** The users that a purpose is forbidden for. The reads of {@link load}. */
  async hiddenAmong(purpose: UserPurpose, users: readonly UserId[]): Promise<Set<UserId>> {
    const facts = await this.load(purpose, users)
    return new Set(users.filter((user) => !isShown(purpose, this.viewer, { user }, facts)))
  }

  /**
   * The ids of the posts that a purpose is allowed for. The reads of {@link load}, for their
   * authors.
   */
  async shownAmong(purpose: PostPurpose, posts: readonly PostFacts[]): Promise<Set<PostId>> {
    const authors = posts.map(({ author }) => author)
    const known = { posts: new Map(posts.map((post) => [post.id, post])) }
    const facts = { ...(await this.load(purpose, authors)), ...known }
    const shown = posts.filter(({ id, author }) =>
      isShown(purpose, this.viewer, { user: author, post: id }, facts),
    )
    return new Set(shown.map(({ id }) => id))
  }
}

/** Whether a viewer may do something. NO_ACCOUNT: the viewer has none. */
type Admitted = 'YES' | 'NO' | 'NO_ACCOUNT'

/** What decides about the pairs of a transaction, apart from posts. */
interface PairFacts {
  /** Undefined: no rule depends on them. */
  readonly accounts: Facts['live'] | undefined
  readonly of: (viewer: UserId) => Pick<Facts, 'live' | 'restrictions'>
}

/** At most one command for each fact, whatever the number of pairs. */
async function loadPairs(
  reads: PairReads,
  tx: Tx,
  purpose: Purpose,
  pairs: readonly Pair[],
): Promise<PairFacts> {
  const people = [...new Set(pairs.flatMap(({ viewer, user }) => [viewer, user]))]
  const needed: readonly (keyof Facts)[] = factsFor(purpose)
  const accounts = needed.includes('live') ? await reads.live(people, tx) : undefined
  const others = pairs.filter(({ viewer, user }) => viewer !== user)
  const restrictions = await reads.restrictions(others, tx)
  const of = (viewer: UserId) => ({
    live: accounts ?? userFacts.live.none,
    restrictions: restrictions.get(viewer) ?? userFacts.restrictions.none,
  })
  return { accounts, of }
}

/** Decides in a transaction which users many viewers may follow. */
export class FollowAdmission {
  constructor(private readonly reads: PairReads) {}

  /**
   * Decides about each pair. At most one command for each fact, whatever the number of pairs, and
   * none without pairs. Accounts are read only if a rule depends on them.
   */
  async decide(tx: Tx, pairs: readonly Pair[]): Promise<(pair: Pair) => Admitted> {
    if (pairs.length === 0) return () => 'YES'
    const { accounts, of } = await loadPairs(this.reads, tx, 'FOLLOW', pairs)
    return ({ viewer, user }) => {
      if (accounts && !accounts.has(viewer)) return 'NO_ACCOUNT'
      return isShown('FOLLOW', viewer, { user }, of(viewer)) ? 'YES' : 'NO'
    }
  }
}

/**
 * Decides with which posts many viewers may engage: within their transaction, or before it by
 * memory.
 */
export class PostAdmission {
  constructor(
    private readonly reads: PairReads,
    private readonly kept: KeptReads,
    private readonly posts: PostReads,
  ) {}

  /**
   * For each pair, whether memory shows that the viewer may engage with the post, so that the
   * transaction need not decide it. A block or a deletion that was acknowledged before the call
   * forbids it. A later one is concurrent with the engagement: what both leave is what they leave
   * one after the other. That is not so of a follow, which a block must end. No command but those
   * of memory: a tick, and for each pair two for accounts and one for restrictions that it lacks.
   * @returns false if the viewer may not, and in doubt. {@link decide} says which. A post that is
   *   not in memory is in doubt where a rule depends on more than its author.
   */
  async admitByMemory(pairs: readonly PostPair[]): Promise<readonly boolean[]> {
    if (pairs.length === 0 || !(await this.kept.isCurrent())) return pairs.map(() => false)
    const dependsOnPosts = needsPosts()
    const admit = async ({ viewer, post }: PostPair) => {
      const { author } = post
      const [live, restrictions] = await Promise.all([
        this.kept.live([viewer, author]),
        this.kept.restrictions(viewer),
      ])
      if (!restrictions || !live.has(viewer)) return false
      const kept = dependsOnPosts ? this.posts.kept(post) : undefined
      if (dependsOnPosts && !kept) return false
      const facts = { live, restrictions, posts: new Map(kept && [[kept.id, kept]]) }
      return isShown('POST', viewer, { user: author, post: post.id }, facts)
    }
    // What cannot be read of one pair is in doubt, and says nothing about the others.
    return Promise.all(pairs.map((pair) => admit(pair).catch(() => false)))
  }

  /**
   * Decides about each pair. At most one command for each fact, whatever the number of pairs, and
   * none without pairs. Accounts and posts are read only if a rule depends on them.
   */
  async decide(tx: Tx, pairs: readonly PostPair[]): Promise<(pair: PostPair) => Admitted> {
    if (pairs.length === 0) return () => 'YES'
    const users = pairs.map(({ viewer, post }) => ({ viewer, user: post.author }))
    const { accounts, of } = await loadPairs(this.reads, tx, 'POST', users)
    const about = pairs.map(({ post }) => post)
    const posts: Facts['posts'] = needsPosts() ? await this.posts.stored(about, tx) : new Map()
    return ({ viewer, post: { id, author } }) => {
      if (accounts && !accounts.has(viewer)) return 'NO_ACCOUNT'
      const facts = { ...of(viewer), posts }
      return isShown('POST', viewer, { user: author, post: id }, facts) ? 'YES' : 'NO'
    }
  }
}

/** Whether a rule that hides posts depends on more of them than their authors. */
const needsPosts = () => (factsFor('POST') as readonly (keyof Facts)[]).includes('posts')

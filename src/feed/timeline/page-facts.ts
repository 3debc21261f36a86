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
import type { Edges } from '../../follows/edges.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import { contentProjection, type Post, toPost } from '../../posts/post.ts'
import { accountsIn, type Stats, statsIn } from '../../users/stats.ts'
import { hasAccount, type User, usersIn } from '../../users/users.ts'
import type { Facts } from '../../visibility/rules.ts'
import { restrictionsIn } from '../../visibility/visibility.ts'
import type { Registered, RegistrationRow, Registry } from '../registry/registry.ts'

/** The facts about the candidates of a page, from the reader's side. */
export interface PageFacts extends Facts {
  /** The authors of the candidates. */
  readonly authors: readonly UserId[]
  /** Of the authors. For a group, those in the group. */
  readonly followed: ReadonlySet<UserId>
  readonly members: ReadonlySet<UserId> | undefined
  /** The counters of live authors. */
  readonly stats: ReadonlyMap<UserId, Stats>
  /** The profiles of live authors. Undefined if they were not requested. */
  readonly profiles: ReadonlyMap<UserId, User> | undefined
  /** The existing posts: whole posts if content was requested. */
  readonly posts: ReadonlyMap<PostId, Post | PostRef>
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
  /** Whether whole posts are needed. Otherwise posts, which an index covers, are only known to exist. */
  readonly content: boolean
  /** Whether the profiles of the authors are needed. Default: no. */
  readonly profiles?: boolean | undefined
}

/** The second step of a page: reads the facts that decide law L1, for all candidates in one command. */
export class PageFactsReader {
  constructor(
    private readonly collections: Collections,
    private readonly edges: Edges,
    private readonly registry: Pick<Registry, 'lookUp' | 'accept'>,
  ) {}

  /**
   * Loads the facts about candidates. One command, and each of its parts names its shard. Counters and registrations are
   * read as documents, also content and profiles if they are needed. Indexes cover the rest.
   */
  async load(
    refs: readonly PostRef[],
    { users: asked, reader, group, content, profiles }: FactsRequest,
  ): Promise<PageFacts> {
    const authors = [...new Set(asked)]
    const others = authors.filter((author) => author !== reader)
    const { collection, owner, other } = this.edges.following
    const { restrictions, user_stats, users, posts } = this.collections
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
          this.registry.lookUp(),
          { $set: { followed: `$followed.${other}` } },
        ],
        singleBatch,
      )
      .toArray()
    if (!row) throw new Error('the query for the facts of a page returned no row')
    const facts = factsOf(row, authors, refs)
    const members = group === undefined ? undefined : facts.followed
    return { ...facts, members, registered: this.registry.accept(row) }
  }
}

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
  }
}

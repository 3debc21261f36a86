import { singleBatch } from '../../db/client.ts'
import type { Collections, PostDoc } from '../../db/collections.ts'
import { findAtOnce } from '../../db/find-at-once.ts'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../../db/group-commit.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import type { Edges } from '../../follows/edges.ts'
import { groupBy } from '../../lib/batch.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import { type EntryContent, toEntry } from '../entries.ts'
import type { Registered, RegistrationRow, Registry } from '../registry/registry.ts'
import type { Entry } from '../strategies/strategy.ts'
import { windowSize } from './follower-walk.ts'

/** The facts that a delivery needs after its post is committed. */
export interface DeliveryFacts {
  readonly registered: Registered
  /** Undefined if the post is deleted. */
  readonly entry: Entry | undefined
  /** The number of the author's followers. Undefined if the window does not show it. */
  readonly followers: number | undefined
  /** The first 2,000 followers after the requested id, in the order of their ids. */
  readonly window: readonly UserId[]
}

interface Asked {
  readonly post: ObjectId
  readonly author: UserId
  readonly after: string
}

interface Row {
  readonly registered: Registered
  readonly post: PostDoc[]
  readonly followers: UserId[]
}

/**
 * From this number of deliveries on, three plain reads cost less than an aggregate, whose lookups
 * run for each delivery. With 16 deliveries they take a third of the database's time.
 */
const plainReadsMin = 4
/** Number of followers that the plain reads load at most. All of them come in one answer. */
const plainFollowersMax = 2 * windowSize

/**
 * At most 32 deliveries share a read, because their first followers are in memory at the same time.
 */
const bounds: GroupCommitBounds = {
  name: 'delivery_facts',
  batchMax: 32,
  waitingMax: 20_000,
  waitMsMax: 30_000,
  lingerMs: 0,
}

/** The parts of {@link DeliveryFactsReader}. */
export interface DeliveryFactsParts {
  readonly posts: Posts
  readonly collections: Collections
  readonly edges: Edges
  /** What entries contain. */
  readonly contents: EntryContent
  readonly registry: Registry
}

/** Reads the facts with which deliveries begin. */
export class DeliveryFactsReader {
  private readonly rows: GroupCommit<Asked, Row>
  private readonly presence: GroupCommit<PostRef, boolean>

  constructor(private readonly parts: DeliveryFactsParts) {
    const readRows = (_: string, asked: readonly Asked[]) => this.readRows(asked)
    const readPresence = async (_: string, refs: readonly PostRef[]) => {
      const there = await this.parts.posts.existing(refs)
      return refs.map(({ id }) => there.has(id))
    }
    this.rows = new GroupCommit(eachKey(readRows), bounds)
    this.presence = new GroupCommit(eachKey(readPresence), { ...bounds, name: 'delivery_presence' })
  }

  /**
   * Loads the facts of one delivery. Up to three concurrent deliveries share one command. Four or
   * more that begin share three, and one more with those that continue, or have many followers.
   * Each part of a command names its shard.
   * @param after the id after which followers are read. Empty for the first followers.
   * @param upTo the last id of the followers. Default: none.
   */
  async loadFacts({ id, author }: PostRef, after: string, upTo?: string): Promise<DeliveryFacts> {
    const row = await this.rows.submit('', { post: toObjectId(id), author, after })
    const [post] = row.post
    return {
      registered: row.registered,
      entry: post && toEntry({ id, author, text: post.text }, this.parts.contents),
      followers:
        after === '' && row.followers.length < windowSize ? row.followers.length : undefined,
      window: upTo === undefined ? row.followers : row.followers.filter((one) => one <= upTo),
    }
  }

  /** Whether a post exists. Concurrent deliveries share one covered command. */
  async postExists(post: PostRef): Promise<boolean> {
    return this.presence.submit('', post)
  }

  /** Reads several first windows of followers plainly, and all else with lookups. */
  private async readRows(asked: readonly Asked[]): Promise<readonly Row[]> {
    const first = asked.filter(({ after }) => after === '')
    if (first.length < plainReadsMin) return this.lookUpRows(asked)
    const together = await this.readPlainly(first)
    const others = asked.filter((one) => !together.has(one))
    const rows = others.length > 0 ? await this.lookUpRows(others) : []
    const alone = new Map(others.map((one, at) => [one, rows[at]]))
    return asked.map((one) => (together.get(one) ?? alone.get(one)) as Row)
  }

  /**
   * @returns the rows of the deliveries whose followers are among the 4,000 that are read, all or
   *   the first 2,000.
   */
  private async readPlainly(asked: readonly Asked[]): Promise<ReadonlyMap<Asked, Row>> {
    const authors = [...new Set(asked.map(({ author }) => author))]
    const [registered, posts, edges] = await Promise.all([
      this.parts.registry.read(),
      findAtOnce(
        this.parts.collections.posts,
        { author: { $in: authors }, _id: { $in: asked.map(({ post }) => post) } },
        { hint: { _id: 1 }, projection: this.kept },
      ),
      this.parts.edges.loadFollowers(authors, plainFollowersMax),
    ])
    const postOf = new Map(posts.map((post) => [post._id.toHexString(), post]))
    const followersOf = groupBy(edges, ({ user }) => user)
    // There may be more followers of the last author, and authors after this one.
    const lastRead = edges.length < plainFollowersMax ? undefined : edges.at(-1)?.user
    return new Map(
      asked.flatMap((ref) => {
        const followers = (followersOf.get(ref.author) ?? []).map(({ follower }) => follower)
        const isRead = lastRead === undefined || ref.author < lastRead
        if (!isRead && followers.length < windowSize) return []
        const post = postOf.get(ref.post.toHexString())
        const row: Row = {
          registered,
          post: post?.author === ref.author ? [post] : [],
          followers: followers.slice(0, windowSize),
        }
        return [[ref, row] as const]
      }),
    )
  }

  private get kept() {
    return this.parts.contents === 'text' ? { author: 1, text: 1 } : { author: 1 }
  }

  private async lookUpRows(asked: readonly Asked[]): Promise<readonly Row[]> {
    const { posts } = this.parts.collections
    const { collection, owner, other } = this.parts.edges.followers
    const { kept } = this
    const rows = await posts.db
      .aggregate<Omit<Row, 'registered'> & RegistrationRow>(
        [
          { $documents: asked.map((one) => ({ $literal: one })) },
          this.parts.registry.lookUp(),
          {
            $lookup: {
              from: posts.collectionName,
              localField: 'author',
              foreignField: 'author',
              let: { post: '$post' },
              pipeline: [{ $match: { $expr: { $eq: ['$_id', '$$post'] } } }, { $project: kept }],
              as: 'post',
            },
          },
          {
            $lookup: {
              from: collection.collectionName,
              localField: 'author',
              foreignField: owner,
              let: { after: '$after' },
              pipeline: [
                { $match: { $expr: { $gt: [`$${other}`, '$$after'] } } },
                { $sort: { [other]: 1 } },
                { $limit: windowSize },
                { $project: { _id: 0, [other]: 1 } },
              ],
              as: 'followers',
            },
          },
          {
            $project: {
              strategies: 1,
              post: 1,
              followers: `$followers.${other}`,
            },
          },
        ],
        singleBatch,
      )
      .toArray()
    if (rows.length < asked.length)
      throw new Error('the query for deliveries returned too few rows')
    const [first] = rows
    if (!first) return []
    const registered = this.parts.registry.accept(first)
    return rows.map(({ post, followers }) => ({ registered, post, followers }))
  }
}

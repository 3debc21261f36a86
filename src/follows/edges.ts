import type { FollowingMode } from '../config.ts'
import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, EdgeSource, FollowEventDoc } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { Collection, Filter, ObjectId, UpdateFilter } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { type EdgeId, type IdMint, timeOf, type UserId } from '../lib/ids.ts'
import { lastEvents } from './last-events.ts'
import { clausesOf, inOrderOf, type Pair, pairKey } from './pair-lists.ts'

/** A follow. The time in the id is when it began. */
export interface FollowEdge {
  readonly id: EdgeId
  readonly follower: UserId
  readonly followee: UserId
  readonly source: EdgeSource
}

/** An edge as either of the two collections stores it. */
export interface StoredEdge {
  readonly _id: ObjectId
  readonly user: string
  readonly follower?: string
  readonly followee?: string
  readonly source: EdgeSource
  readonly groups?: string[]
}

/**
 * One direction of the graph: its collection, and the fields of the owner of a list and of the
 * other user.
 */
export interface EdgeIndex {
  readonly collection: Collection<StoredEdge>
  readonly owner: 'user' | 'follower'
  readonly other: 'user' | 'follower' | 'followee'
  /**
   * The index that tells whether an edge exists. Commands name it, so that no query plan scans a
   * long list.
   */
  readonly membership: Readonly<Record<string, 1>>
  /** The index that tells whether an edge is in a group. */
  readonly groupMembership?: Readonly<Record<string, 1>>
}

/**
 * The stored edges in both directions, with their history. The two values of FOLLOWING differ only
 * in {@link Edges.following}: a second collection, or an index in the reverse direction.
 */
export class Edges {
  /** The followers of a user. */
  readonly followers: EdgeIndex
  /** The followees of a user, with the follower's groups. */
  readonly following: EdgeIndex

  constructor(
    private readonly collections: Pick<Collections, 'followers' | 'following' | 'follow_events'>,
    private readonly mode: FollowingMode,
    private readonly mint: IdMint,
  ) {
    const followers = collections.followers as unknown as Collection<StoredEdge>
    const membership = { user: 1, follower: 1 } as const
    this.followers = { collection: followers, owner: 'user', other: 'follower', membership }
    this.following =
      mode === 'reverse-index'
        ? {
            collection: followers,
            owner: 'follower',
            other: 'user',
            membership,
            groupMembership: { follower: 1, groups: 1, user: 1 },
          }
        : {
            collection: collections.following as unknown as Collection<StoredEdge>,
            owner: 'user',
            other: 'followee',
            membership: { user: 1, followee: 1 },
            groupMembership: { user: 1, groups: 1, followee: 1 },
          }
  }

  /** The edge from `follower` to `followee`, or undefined. One command. */
  async find(tx: Tx, follower: UserId, followee: UserId): Promise<FollowEdge | undefined> {
    const doc = await this.followers.collection.findOne(
      { user: followee, follower },
      { ...requestTimeout, session: tx.session, projection: { _id: 1, source: 1 } },
    )
    return doc ? { id: fromObjectId(doc._id), follower, followee, source: doc.source } : undefined
  }

  /** The edges of pairs, by {@link pairKey}. One command. */
  async findAmong(tx: Tx, pairs: readonly Pair[]): Promise<Map<string, FollowEdge>> {
    const { collection, membership } = this.followers
    const clauses = clausesOf(pairs, { follower: 'follower', followee: 'user' })
    const docs = await collection
      .find({ $or: clauses }, { ...singleBatch, session: tx.session, hint: membership })
      .toArray()
    const edges = docs.map((doc) => toEdge(this.followers, doc))
    return new Map(edges.map((edge) => [pairKey(edge), edge]))
  }

  /**
   * The followers of several users, by user and then by follower, up to `limit` of them. One
   * covered command.
   */
  async loadFollowers(
    users: readonly UserId[],
    limit: number,
    tx?: Tx,
  ): Promise<readonly { readonly user: UserId; readonly follower: UserId }[]> {
    const { collection, membership } = this.followers
    const filter = { user: { $in: [...users] } }
    const options = {
      projection: { _id: 0, user: 1, follower: 1 },
      sort: { user: 1, follower: 1 },
      limit,
      hint: membership,
    } as const
    const docs = tx
      ? await collection.find(filter, { ...singleBatch, ...tx, ...options }).toArray()
      : await findAtOnce(collection, filter, options)
    return docs.map(({ user, follower }) => ({
      user: user as UserId,
      follower: follower as UserId,
    }))
  }

  /**
   * Inserts new edges in both directions, with their history. Four commands, five with a second
   * collection.
   */
  async insert(tx: Tx, edges: readonly FollowEdge[]): Promise<void> {
    await this.store(tx, edges)
    await this.record(tx, 'FOLLOWED', edges)
  }

  /**
   * As {@link insert}, for edges with ids from {@link newIds} in this transaction. The event that
   * begins an edge has the id of the edge. Two commands, three with a second collection.
   */
  async begin(tx: Tx, edges: readonly FollowEdge[]): Promise<void> {
    await this.store(tx, edges)
    await this.append(
      tx,
      edges.map((edge) => ({ id: edge.id, edge, type: 'FOLLOWED' as const })),
    )
  }

  /**
   * Inserts edges in both directions that the history has already, in the order of the index, which
   * takes the database a sixth less time. One command, two with a second collection.
   */
  async store({ session }: Tx, edges: readonly FollowEdge[]): Promise<void> {
    await this.collections.followers.insertMany(
      inOrderOf(edges, 'followee', 'follower').map(({ id, follower, followee, source }) => ({
        _id: toObjectId(id),
        user: followee,
        follower,
        source,
      })),
      { session },
    )
    if (this.mode === 'collection') {
      await this.collections.following.insertMany(
        inOrderOf(edges, 'follower', 'followee').map(({ id, follower, followee, source }) => ({
          _id: toObjectId(id),
          user: follower,
          followee,
          source,
        })),
        { session },
      )
    }
  }

  /**
   * Deletes edges in both directions, with their groups, and records that in the history. Three
   * commands, four with a second collection.
   */
  async remove(
    tx: Tx,
    edges: readonly FollowEdge[],
    cause?: FollowEventDoc['cause'],
  ): Promise<void> {
    await this.erase(tx, edges)
    await this.record(tx, 'UNFOLLOWED', edges, cause)
  }

  /**
   * Deletes edges in both directions, with their groups, and leaves the history. One command, two
   * with a second collection.
   */
  async erase(tx: Tx, edges: readonly FollowEdge[]): Promise<void> {
    const { session } = tx
    const pairs = (filter: (edge: FollowEdge) => object) => ({ $or: edges.map(filter) })
    await this.collections.followers.deleteMany(
      pairs(({ follower, followee }) => ({ user: followee, follower })),
      { session },
    )
    if (this.mode === 'collection') {
      await this.collections.following.deleteMany(
        pairs(({ follower, followee }) => ({ user: follower, followee })),
        { session },
      )
    }
  }

  /**
   * Sets the follower's groups of an edge. @returns false if there is no such edge. One command.
   */
  async setGroups(
    tx: Tx,
    follower: UserId,
    followee: UserId,
    groups: readonly string[],
  ): Promise<boolean> {
    const { collection, owner, other } = this.following
    const update: UpdateFilter<StoredEdge> =
      groups.length > 0 ? { $set: { groups: [...groups] } } : { $unset: { groups: '' } }
    const filter = { [owner]: follower, [other]: followee } as Filter<StoredEdge>
    return (await collection.updateOne(filter, update, { session: tx.session })).matchedCount === 1
  }

  /**
   * Records in the history that edges began (at the time of their ids) or ended (now). The id of
   * each event is above the id of its edge and above all earlier events of the pair, whatever the
   * clocks of the processes (law L3). Two commands.
   */
  async record(
    tx: Tx,
    type: FollowEventDoc['type'],
    edges: readonly FollowEdge[],
    cause?: FollowEventDoc['cause'],
  ): Promise<void> {
    const ids = await this.newIds(
      tx,
      edges.map((edge) => ({ ...edge, above: edge.id })),
    )
    const events = edges.map((edge, at) => ({ id: ids[at] as EdgeId, edge, type, cause }))
    await this.append(tx, events)
  }

  /**
   * New ids for edges or events, each above `above` and above all earlier events of its pair. One
   * covered command, which examines a key only if the clock of another process is ahead.
   */
  async newIds(tx: Tx, pairs: readonly (Pair & { readonly above?: EdgeId })[]): Promise<EdgeId[]> {
    const ids = pairs.map(({ above }) => this.mint.next<EdgeId>(above))
    const last = await lastEvents(this.collections, tx, pairs, ids)
    return pairs.map((pair, at) => {
      const [id, after] = [ids[at] as EdgeId, last.get(pairKey(pair))]
      return after === undefined || id > after ? id : this.mint.next<EdgeId>(after)
    })
  }

  private async append({ session }: Tx, events: readonly NewEvent[]): Promise<void> {
    await this.collections.follow_events.insertMany(
      events.map(({ id, edge, type, cause }) => ({
        _id: toObjectId(id),
        user: edge.follower,
        followee: edge.followee,
        type,
        source: edge.source,
        at: timeOf(type === 'FOLLOWED' ? edge.id : id),
        ...(cause ? { cause } : {}),
      })),
      { session },
    )
  }
}

interface NewEvent {
  readonly id: EdgeId
  readonly edge: FollowEdge
  readonly type: FollowEventDoc['type']
  readonly cause?: FollowEventDoc['cause'] | undefined
}

/** The edge that a document of one direction stores. */
export function toEdge(index: EdgeIndex, doc: StoredEdge): FollowEdge {
  const [owner, other] = [doc[index.owner] as UserId, doc[index.other] as UserId]
  const [follower, followee] = index.other === 'follower' ? [other, owner] : [owner, other]
  return { id: fromObjectId(doc._id), follower, followee, source: doc.source }
}

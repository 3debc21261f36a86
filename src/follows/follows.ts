import { atOnce, bounded } from '../db/client.ts'
import type { EdgeSource } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { OnceKey } from '../db/once.ts'
import { pagesByOwner } from '../db/pages.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { badInput, DomainError } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { type EdgeId, timeOf, type UserId } from '../lib/ids.ts'
import type { Page, Window } from '../lib/page.ts'
import type { UserStats } from '../users/stats.ts'
import { type Edges, type FollowEdge, type Side, type StoredEdge, toEdge } from './edges.ts'
import { checkGroups, groupsPerUserMax } from './groups.ts'
import type { FollowChange } from './outcome.ts'
import type { FollowsTogether } from './together.ts'

/** What the follow graph is stored and announced through. */
export interface FollowsParts {
  readonly edges: Edges
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly together: FollowsTogether
}

/** Which of the edges between a user and some others are asked for. */
interface AmongOptions {
  /** Only those in this group. */
  readonly group?: string | undefined
  /** Reads in this transaction. */
  readonly tx?: Tx | undefined
}

/** The follow graph (seeds 3 and 4): who follows whom, since when, from where, and in which of their groups. */
export class Follows {
  constructor(private readonly parts: FollowsParts) {}

  /**
   * Makes `actor` follow `followee`; edges, history and both counters change together (law L3).
   * One transaction of at most eleven commands, shared with those that meet it on the followee. A repeat changes nothing.
   * The followee's posts join the follower's timelines, by a job that begins at once.
   * @throws {DomainError} BAD_USER_INPUT for oneself; FORBIDDEN when either blocked the other; NOT_FOUND; UNAVAILABLE.
   */
  async follow(
    actor: UserId,
    followee: UserId,
    once?: OnceKey,
    source: EdgeSource = 'FEEDLINE',
  ): Promise<FollowChange> {
    if (actor === followee) throw badInput('input.handle', 'you cannot follow yourself')
    const { outbox, together } = this.parts
    return outbox.runInline((jobs) =>
      together.write(followee, { follower: actor, begin: source, once, jobs }),
    )
  }

  /** Ends it. One transaction of at most ten commands, shared likewise. A repeat changes nothing. */
  async unfollow(actor: UserId, followee: UserId, once?: OnceKey): Promise<FollowChange> {
    const { outbox, together } = this.parts
    return together.write(followee, { follower: actor, once, jobs: outbox })
  }

  /**
   * Puts the followee into exactly these of the actor's groups; none takes it out of all.
   * One transaction of three commands. Two of one actor collide, so that together they keep to the limit.
   * @throws {DomainError} NOT_FOUND without an account, or when `actor` does not follow `followee`; BAD_USER_INPUT.
   */
  async setGroups(
    actor: UserId,
    followee: UserId,
    names: readonly string[],
    once?: OnceKey,
  ): Promise<readonly string[]> {
    const groups = checkGroups('input.groups', names)
    const { edges, stats, transactions } = this.parts
    return transactions.run(async (tx) => {
      await stats.change(tx, new Map([[actor, { guard: 1 }]]))
      const all = new Set([...(await this.groupsOf(actor, tx)), ...groups])
      if (all.size > groupsPerUserMax) {
        throw badInput('input.groups', `you may have at most ${groupsPerUserMax} groups`)
      }
      if (!(await edges.setGroups(tx, actor, followee, groups))) {
        throw new DomainError('NOT_FOUND', `You do not follow "${followee}"`)
      }
      return groups
    }, once)
  }

  /** A page of each user's followers, newest first. One covered command. */
  async followers(
    users: readonly UserId[],
    window: Window,
  ): Promise<Map<UserId, Page<FollowEdge>>> {
    return this.pages(this.parts.edges.followers, users, window)
  }

  /** A page of whom each user follows, newest first, of one group when named. One covered command. */
  async following(
    users: readonly UserId[],
    window: Window,
    group?: string,
  ): Promise<Map<UserId, Page<FollowEdge>>> {
    return this.pages(this.parts.edges.following, users, window, group)
  }

  /** Which of `others` the follower follows now, in the group when named. One covered command on one shard. */
  async followeesAmong(
    follower: UserId,
    others: readonly UserId[],
    group?: string,
    tx?: Tx,
  ): Promise<Set<UserId>> {
    return this.among(this.parts.edges.following, follower, others, { group, tx })
  }

  /** Which of `others` follow the user now. One covered command on one shard. */
  async followersAmong(user: UserId, others: readonly UserId[]): Promise<Set<UserId>> {
    return this.among(this.parts.edges.followers, user, others)
  }

  /** Everyone the user follows now, in no order, of one group when named; holds 1,000 at a time. Covered. */
  async *followeesOf(user: UserId, group?: string): AsyncGenerator<UserId> {
    const { collection, owner, other } = this.parts.edges.following
    const cursor = collection.find(edgeFilter({ [owner]: user }, group), {
      ...bounded,
      projection: { _id: 0, [other]: 1 },
      batchSize: 1000,
    })
    for await (const doc of cursor) yield doc[other] as UserId
  }

  /**
   * The followers of a user whose handles come after `after`, in their order: the same walk whatever is added meanwhile.
   * One covered command on one shard.
   */
  async followersAfter(user: UserId, after: string, limit: number): Promise<UserId[]> {
    const { collection, membership } = this.parts.edges.followers
    const found = await collection
      .find(
        { user, follower: { $gt: after } },
        { ...atOnce, projection: { _id: 0, follower: 1 }, hint: membership },
      )
      .sort({ follower: 1 })
      .limit(limit)
      .toArray()
    return found.map(({ follower }) => follower as UserId)
  }

  /** Since when one follows the other, and in which of their groups; undefined when they do not. One command. */
  async edgeOf(
    follower: UserId,
    followee: UserId,
  ): Promise<{ since: Date; groups: readonly string[] } | undefined> {
    const { collection, owner, other, membership } = this.parts.edges.following
    const found = await collection.findOne(
      { [owner]: follower, [other]: followee } as Filter<StoredEdge>,
      { ...bounded, projection: { groups: 1 }, hint: membership },
    )
    return found
      ? { since: timeOf(fromObjectId<EdgeId>(found._id)), groups: found.groups ?? [] }
      : undefined
  }

  /** The follower's groups of each of `others` that has any. One command. */
  async groupsAmong(
    follower: UserId,
    others: readonly UserId[],
  ): Promise<Map<UserId, readonly string[]>> {
    const { collection, owner, other, membership } = this.parts.edges.following
    const found = await collection
      .find({ [owner]: follower, [other]: { $in: [...others] } } as Filter<StoredEdge>, {
        ...atOnce,
        projection: { _id: 0, [other]: 1, groups: 1 },
        hint: membership,
      })
      .toArray()
    return new Map(found.map((doc) => [doc[other] as UserId, doc.groups ?? []]))
  }

  /**
   * The names of a user's groups, sorted, at most 100. One command, whose cost grows with the edges that are in a
   * group; not `distinct`, which no transaction on a sharded collection may use.
   */
  async groupsOf(user: UserId, tx?: Tx): Promise<string[]> {
    const { collection, owner, other } = this.parts.edges.following
    const found = await collection
      .aggregate<{ _id: string }>(
        [
          { $match: { [owner]: user, groups: { $gte: '' } } },
          { $unwind: '$groups' },
          { $group: { _id: '$groups' } },
        ],
        { ...atOnce, ...tx, hint: { [owner]: 1, groups: 1, [other]: 1 } },
      )
      .toArray()
    return found.map(({ _id }) => _id).sort()
  }

  private pages(side: Side, users: readonly UserId[], window: Window, group?: string) {
    const { collection, owner, other } = side
    return pagesByOwner(
      {
        collection,
        owner,
        where: edgeFilter({}, group),
        fields: ['_id', owner, other, 'source'],
      },
      users,
      window,
      (doc) => toEdge(side, doc),
    )
  }

  private async among(
    { collection, owner, other, ...index }: Side,
    user: UserId,
    others: readonly UserId[],
    { group, tx }: AmongOptions = {},
  ): Promise<Set<UserId>> {
    const found = await collection
      .find(edgeFilter({ [owner]: user, [other]: { $in: [...others] } }, group), {
        ...atOnce,
        ...tx,
        projection: { _id: 0, [other]: 1 },
        hint: (group !== undefined && index.groupMembership) || index.membership,
      })
      .toArray()
    return new Set(found.map((doc) => doc[other] as UserId))
  }
}

const edgeFilter = (filter: object, group: string | undefined): Filter<StoredEdge> =>
  group === undefined ? filter : { ...filter, groups: group }

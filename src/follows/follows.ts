import { requestTimeout, singleBatch } from '../db/client.ts'
import { type EdgeSource, edgeSources } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { GroupCommitBounds } from '../db/group-commit.ts'
import { createIdempotencyKey, deriveId, type IdempotencyKey } from '../db/idempotency.ts'
import type { Filter } from '../db/mongo.ts'
import { fromObjectId, isObjectId } from '../db/object-id.ts'
import { rangesByOwner } from '../db/pages.ts'
import { fieldsConform } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import { SharedTransactions } from '../db/shared-transactions.ts'
import type { Tx } from '../db/transaction.ts'
import { badInput, DomainError, refusalOf } from '../errors.ts'
import { inRange } from '../jobs/ranges.ts'
import { chunks, groupBy } from '../lib/batch.ts'
import { type EdgeId, timeOf, type UserId } from '../lib/ids.ts'
import { type List, shownWithUser } from '../pages/pipeline.ts'
import { commitFollows, type FollowParts, type FollowWrite } from './commit-follows.ts'
import type { FollowChange } from './decide-follow.ts'
import { type EdgeIndex, type FollowEdge, type StoredEdge, toEdge } from './edges.ts'
import { checkGroups, groupsPerUserMax } from './groups.ts'

/** The parts that {@link Follows} works with. */
export interface FollowsParts extends FollowParts {
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

const bounds: GroupCommitBounds = {
  name: 'follows',
  batchMax: 64,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 10,
}

/**
 * Number of followees whose follows share a transaction. A post of one of them is enough to make it
 * collide.
 */
export const followeesPerTransaction = 16

/** Narrows the edges that {@link Follows.among} looks for. */
interface AmongOptions {
  /** Only edges in this group. */
  readonly group?: string | undefined
  /** The transaction to read in. */
  readonly tx?: Tx | undefined
}

/** The follow graph: follows with their start, source and groups. */
export class Follows {
  /**
   * Follows of one followee would collide on the followee's counter. Those of several followees
   * share commands.
   */
  private readonly writes: SharedTransactions<FollowWrite, FollowChange>
  private readonly loadFollowers = shareFewKeys('followers', (pairs: readonly Membership[]) =>
    readAmong(this.parts.edges.followers, pairs),
  )
  private readonly loadFollowees = shareFewKeys('followees', (pairs: readonly Membership[]) =>
    readAmong(this.parts.edges.following, pairs),
  )
  private readonly loadGroups = shareFewKeys('groups', (pairs: readonly Membership[]) =>
    this.readGroups(pairs),
  )

  constructor(private readonly parts: FollowsParts) {
    this.writes = new SharedTransactions(parts.transactions, {
      bounds,
      keysMax: followeesPerTransaction,
      now: parts.now,
      apply: (tx, writes, repairs) => commitFollows(tx, parts, writes, repairs),
      lock: (tx, followee) => parts.stats.lock(tx, [followee as UserId]),
      lockRest: (tx, writes) => parts.stats.lock(tx, [...new Set(writes.map(followerOf))]),
    })
  }

  /**
   * Makes `actor` follow `followee`. Edges, history and both counters change in one transaction
   * (law L3). A repeat changes nothing. A job adds the followee's posts to the follower's
   * timelines. Costs {@link commitFollows}, shared with concurrent follows, also of other
   * followees.
   * @throws {DomainError} BAD_USER_INPUT if both are the same user; FORBIDDEN if either blocked the
   *   other; NOT_FOUND without an account; LIMIT_EXCEEDED if `actor` follows the most users
   *   already; UNAVAILABLE.
   */
  async follow(
    actor: UserId,
    followee: UserId,
    idempotencyKey?: IdempotencyKey,
    source: EdgeSource = 'FEEDLINE',
  ): Promise<FollowChange> {
    if (actor === followee) throw badInput('input.user', 'you cannot follow yourself')
    const write = { followee, follower: actor, begin: source, idempotencyKey }
    return this.parts.outbox.runInline((jobs) => this.writes.submit(followee, { ...write, jobs }))
  }

  /**
   * Makes `actor` follow users, each as {@link follow} would: 16 share a transaction. Costs a
   * transaction of one command, and those of the follows.
   * @param followees a user that is there twice is followed by the first, and changes nothing by
   *   the next.
   * @param idempotencyKey of all of them together. A repeat returns the first result of each
   *   follow, and goes on with those that failed.
   * @returns the result of each, in order. A DomainError refuses this one alone.
   * @throws {DomainError} NOT_FOUND if `actor` has no account; CONFLICT for a key of other
   *   followees; UNAVAILABLE. Some may be followed then.
   */
  async followAll(
    actor: UserId,
    followees: readonly UserId[],
    idempotencyKey?: IdempotencyKey,
  ): Promise<readonly (FollowChange | DomainError)[]> {
    const { transactions, stats } = this.parts
    // Also keeps the key, so that no follow of another input begins under it.
    await transactions.run(async (tx) => {
      await stats.mustBeLive(tx, [actor])
      return { changed: true }
    }, idempotencyKey)
    const results = new Map<UserId, FollowChange | DomainError>()
    const follow = (followee: UserId) =>
      this.follow(actor, followee, idempotencyKey && keyOfOne(idempotencyKey, followee))
    for (const group of chunks([...new Set(followees)], followeesPerTransaction)) {
      const settled = await Promise.allSettled(group.map(follow))
      for (const [at, followee] of group.entries())
        results.set(followee, outcomeOf(settled[at] as PromiseSettledResult<FollowChange>))
    }
    return followees.map((followee, at) => {
      const result = results.get(followee) as FollowChange | DomainError
      const isFirst = followees.indexOf(followee) === at
      return isFirst || result instanceof DomainError ? result : { ...result, changed: false }
    })
  }

  /**
   * Ends a follow. A repeat changes nothing. Costs {@link commitFollows}, shared with concurrent
   * writes.
   */
  async unfollow(
    actor: UserId,
    followee: UserId,
    idempotencyKey?: IdempotencyKey,
  ): Promise<FollowChange> {
    const jobs = this.parts.outbox.tracedWriter()
    return this.writes.submit(followee, { followee, follower: actor, idempotencyKey, jobs })
  }

  /**
   * Sets the actor's groups that contain the followee. An empty list removes the followee from all
   * groups. One transaction of three commands. Two concurrent calls of one actor collide, so both
   * respect the limit of groups.
   * @throws {DomainError} NOT_FOUND without an account, or if `actor` does not follow `followee`;
   *   BAD_USER_INPUT.
   */
  async setGroups(
    actor: UserId,
    followee: UserId,
    names: readonly string[],
    idempotencyKey?: IdempotencyKey,
  ): Promise<readonly string[]> {
    const groups = checkGroups('input.groups', names)
    const { edges, stats, transactions } = this.parts
    await transactions.run(async (tx) => {
      await stats.change(tx, new Map([[actor, { guard: 1 }]]))
      const all = new Set([...(await this.groupsOf(actor, tx)), ...groups])
      if (all.size > groupsPerUserMax) {
        throw badInput('input.groups', `you may have at most ${groupsPerUserMax} groups`)
      }
      if (!(await edges.setGroups(tx, actor, followee, groups))) {
        throw new DomainError('NOT_FOUND', 'You do not follow this user')
      }
      return true
    }, idempotencyKey)
    // A repeat has the same groups.
    return groups
  }

  /** The followers of each user, newest first. A read is one covered command. */
  followers(): List<UserId, FollowEdge> {
    return listOf(this.parts.edges.followers, ({ follower }) => follower)
  }

  /**
   * The followees of each user, newest first, of one group if given. A read is one covered command.
   */
  following(group?: string): List<UserId, FollowEdge> {
    return listOf(this.parts.edges.following, ({ followee }) => followee, group)
  }

  /**
   * The users among `others` that the follower follows, in the group if given. One covered command
   * on one shard, which concurrent reads of few users share.
   */
  async followeesAmong(
    follower: UserId,
    others: readonly UserId[],
    group?: string,
    tx?: Tx,
  ): Promise<Set<UserId>> {
    return this.among(this.parts.edges.following, follower, others, { group, tx })
  }

  /**
   * The users among `others` that follow the user. One covered command, which concurrent reads of
   * few users share.
   */
  async followersAmong(user: UserId, others: readonly UserId[]): Promise<Set<UserId>> {
    return this.among(this.parts.edges.followers, user, others)
  }

  /**
   * All followees of the user, in no order, of one group if given. Holds 1,000 at a time. Covered.
   */
  async *followeesOf(user: UserId, group?: string): AsyncGenerator<UserId> {
    const { collection, owner, other } = this.parts.edges.following
    const cursor = collection.find(edgeFilter({ [owner]: user }, group), {
      ...requestTimeout,
      projection: { _id: 0, [other]: 1 },
      batchSize: 1000,
    })
    for await (const { [other]: followee } of cursor) if (isHandle(followee)) yield followee
  }

  /**
   * The followees of several users, up to `limit` of them. The users are in order, so followees of
   * the last user may be missing. One covered command.
   */
  async followeesOfAll(
    users: readonly UserId[],
    limit: number,
  ): Promise<readonly { readonly user: UserId; readonly followee: UserId }[]> {
    const { collection, owner, other, membership } = this.parts.edges.following
    const docs = await findAtOnce(
      collection,
      { [owner]: { $in: [...users] } },
      {
        projection: { _id: 0, [owner]: 1, [other]: 1 },
        sort: { [owner]: 1 },
        limit,
        // With a reverse index, the membership index begins with the followee.
        ...(owner === 'user' ? { hint: membership } : {}),
      },
    )
    return docs.flatMap(({ [owner]: user, [other]: followee }) =>
      isHandle(user) && isHandle(followee) ? [{ user, followee }] : [],
    )
  }

  /**
   * The followers of a user with ids above `after`, ordered by id: concurrent follows do not
   * disturb a walk. One covered command on one shard.
   * @param upTo the last id. Default: none.
   */
  async followersAfter(
    user: UserId,
    after: string,
    limit: number,
    upTo?: string,
  ): Promise<UserId[]> {
    const { collection, membership } = this.parts.edges.followers
    const docs = await findAtOnce(
      collection,
      { user, follower: inRange({ after, upTo }) },
      {
        projection: { _id: 0, follower: 1 },
        sort: { follower: 1 },
        limit,
        hint: membership,
      },
    )
    return docs.map(({ follower }) => follower as UserId)
  }

  /**
   * The id of the follower who is `distance` followers after the id `after`. Undefined if there are
   * fewer. One covered command on one shard, which examines `distance` keys.
   */
  async followerAt(user: UserId, after: string, distance: number): Promise<UserId | undefined> {
    const { collection, membership } = this.parts.edges.followers
    const [edge] = await collection
      .find(
        { user, follower: { $gt: after } },
        { ...singleBatch, projection: { _id: 0, follower: 1 }, hint: membership },
      )
      .sort({ follower: 1 })
      .skip(distance - 1)
      .limit(1)
      .toArray()
    return edge?.follower as UserId | undefined
  }

  /** The start and the groups of a follow, or undefined if there is none. One command. */
  async edgeOf(
    follower: UserId,
    followee: UserId,
  ): Promise<{ since: Date; groups: readonly string[] } | undefined> {
    const { collection, owner, other, membership } = this.parts.edges.following
    const edge = await collection.findOne(
      { [owner]: follower, [other]: followee } as Filter<StoredEdge>,
      { ...requestTimeout, projection: { groups: 1 }, hint: membership },
    )
    return isObjectId(edge?._id)
      ? { since: timeOf(fromObjectId<EdgeId>(edge._id)), groups: groupsIn(edge) }
      : undefined
  }

  /**
   * The follower's groups that contain each of `others`. One command, which concurrent reads of few
   * users share.
   */
  async groupsAmong(
    follower: UserId,
    others: readonly UserId[],
  ): Promise<Map<UserId, readonly string[]>> {
    const pairs = membershipsOf(follower, others)
    if (pairs.length === 0) return new Map()
    const { owner, other } = this.parts.edges.following
    const wanted = new Set<string>(others)
    const docs = await this.loadGroups(pairs)
    const own = docs.filter((doc) => doc[owner] === follower && wanted.has(String(doc[other])))
    return new Map(own.map((doc) => [doc[other] as UserId, groupsIn(doc)]))
  }

  private async readGroups(pairs: readonly Membership[]): Promise<StoredEdge[]> {
    const { collection, owner, other, membership } = this.parts.edges.following
    return collection
      .find(filterOf(pairs, owner, other) as Filter<StoredEdge>, {
        ...singleBatch,
        projection: { _id: 0, [owner]: 1, [other]: 1, groups: 1 },
        hint: membership,
      })
      .toArray()
  }

  /**
   * The names of a user's groups, sorted, at most 100. One command, which examines every edge that
   * is in a group. It is not `distinct`, which a transaction on a sharded collection may not use.
   */
  async groupsOf(user: UserId, tx?: Tx): Promise<string[]> {
    const { collection, owner, other } = this.parts.edges.following
    const docs = await collection
      .aggregate<{ _id: string }>(
        [
          { $match: { [owner]: user, groups: { $gte: '' } } },
          { $unwind: '$groups' },
          { $group: { _id: '$groups' } },
        ],
        { ...singleBatch, ...tx, hint: { [owner]: 1, groups: 1, [other]: 1 } },
      )
      .toArray()
    return docs
      .map(({ _id }) => _id)
      .filter((name) => typeof name === 'string')
      .sort()
  }

  /** @param group only edges in this group. */
  private async among(
    index: EdgeIndex,
    user: UserId,
    others: readonly UserId[],
    { group, tx }: AmongOptions = {},
  ): Promise<Set<UserId>> {
    const pairs = membershipsOf(user, others)
    if (pairs.length === 0) return new Set()
    const wanted = new Set<string>(others)
    const isShared = !tx && group === undefined
    const load = index === this.parts.edges.followers ? this.loadFollowers : this.loadFollowees
    const docs = isShared ? await load(pairs) : await readAmong(index, pairs, { group, tx })
    const { owner, other } = index
    const own = docs.filter((doc) => doc[owner] === user && wanted.has(String(doc[other])))
    return new Set(own.map((doc) => doc[other] as UserId))
  }
}

/** A user whose list it is, and another one. */
interface Membership {
  readonly user: UserId
  readonly other: UserId
}

/** The user with each of `others`. No user follows their own account. */
const membershipsOf = (user: UserId, others: readonly UserId[]): Membership[] =>
  others.flatMap((other) => (other === user ? [] : [{ user, other }]))

/** The edges of pairs, with both users. One covered command. */
async function readAmong(
  { collection, owner, other, ...index }: EdgeIndex,
  pairs: readonly Membership[],
  { group, tx }: AmongOptions = {},
): Promise<StoredEdge[]> {
  return collection
    .find(edgeFilter(filterOf(pairs, owner, other), group), {
      ...singleBatch,
      ...tx,
      projection: { _id: 0, [owner]: 1, [other]: 1 },
      hint: (group !== undefined && index.groupMembership) || index.membership,
    })
    .toArray()
}

/** A filter that finds pairs: a clause for each owner of a list. */
function filterOf(
  pairs: readonly Membership[],
  owner: EdgeIndex['owner'],
  other: EdgeIndex['other'],
): object {
  const clauses = [...groupBy(pairs, ({ user }) => user)].map(([user, own]) => ({
    [owner]: user,
    [other]: { $in: own.map((pair) => pair.other) },
  }))
  return clauses.length === 1 && clauses[0] ? clauses[0] : { $or: clauses }
}

function listOf(
  index: EdgeIndex,
  otherOf: (edge: FollowEdge) => UserId,
  group?: string,
): List<UserId, FollowEdge> {
  const { collection, owner, other } = index
  // Other edges are malformed. The index covers the condition.
  const where = edgeFilter({ source: { $in: edgeSources }, [other]: { $gte: '' } }, group)
  const fields = ['_id', owner, other, 'source'] as const
  const toItem = (doc: StoredEdge) => toEdge(index, doc)
  return {
    read: (users, range, past) =>
      rangesByOwner({ collection, owner, where, fields, toItem }, users, range, past),
    placeOf: ({ id }) => id,
    ...shownWithUser('ENTRY', otherOf),
  }
}

const outcomeOf = (follow: PromiseSettledResult<FollowChange>): FollowChange | DomainError =>
  follow.status === 'fulfilled' ? follow.value : refusalOf(follow.reason)

/** The key of one of several follows. */
function keyOfOne({ viewer, clientMutationId }: IdempotencyKey, followee: UserId) {
  const id = deriveId(clientMutationId, followee)
  return createIdempotencyKey(viewer, 'followUsers', { clientMutationId: id })
}

const followerOf = ({ follower }: FollowWrite): UserId => follower

/** The groups of an edge. Groups of another type are none. */
const groupsIn = ({ groups = [] }: StoredEdge): readonly string[] =>
  fieldsConform('following', { groups }) ? groups : []

const edgeFilter = (filter: object, group: string | undefined): Filter<StoredEdge> =>
  group === undefined ? filter : { ...filter, groups: group }

/**
 * Not a malformed value, which would be a pattern or an operator in the filter of the next command.
 */
const isHandle = (stored: unknown): stored is UserId => typeof stored === 'string'

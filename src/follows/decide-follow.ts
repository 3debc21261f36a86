import type { EdgeSource } from '../db/collections.ts'
import { DomainError } from '../errors.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type StatsChange, tooManyFollowees } from '../users/stats.ts'
import type { FollowEdge } from './edges.ts'
import { type Pair, pairKey } from './pair-lists.ts'

/** The result of a follow or unfollow. `changed` is false for a repeat. */
export interface FollowChange {
  readonly changed: boolean
  readonly edge?: FollowEdge | undefined
}

/** A request to follow or unfollow. */
export interface FollowRequest extends Pair {
  /** The source of the new edge. Undefined for an unfollow. */
  readonly begin?: EdgeSource | undefined
}

/** What the transaction has read about the pairs of some requests, each by {@link pairKey}. */
export interface FollowState {
  /** The existing edges. */
  readonly edges: ReadonlyMap<string, FollowEdge>
  /** The pairs with a block, in either direction. */
  readonly blocked: ReadonlySet<string>
  /**
   * The counters of users with an account. Undefined if not read: the update of the counters then
   * checks them.
   */
  readonly live?: ReadonlyMap<UserId, Pick<Stats, 'following'>> | undefined
  /** The most users that a user may follow. */
  readonly followeesMax: number
  /** The id for each new edge: above all earlier events of the pair. */
  readonly newIds: ReadonlyMap<string, EdgeId>
}

/**
 * Decides requests of different pairs, in order, against the state read in this transaction.
 * @returns the answer of each. A DomainError refuses this request alone.
 */
export function decideFollows<Request extends FollowRequest>(
  requests: readonly Request[],
  state: FollowState,
): ReadonlyMap<Request, FollowChange | DomainError> {
  const added = new Map<UserId, number>()
  return new Map(
    requests.map((request) => {
      const { follower } = request
      const before = added.get(follower) ?? 0
      const answer = decideFollow(request, before, state)
      if (!(answer instanceof DomainError) && answer.changed) {
        added.set(follower, before + (request.begin ? 1 : -1))
      }
      return [request, answer]
    }),
  )
}

/** @param added how many followees the requests before this one have added to the follower's. */
function decideFollow(
  { follower, followee, begin }: FollowRequest,
  added: number,
  { edges, blocked, live, followeesMax, newIds }: FollowState,
): FollowChange | DomainError {
  const key = pairKey({ follower, followee })
  const edge = edges.get(key)
  if (!begin) return edge ? { changed: true, edge } : { changed: false }
  if (edge) return { changed: false, edge }
  if (blocked.has(key)) {
    return new DomainError('FORBIDDEN', 'You cannot follow this user: a block exists between you')
  }
  if (live && !live.has(follower)) return noAccount()
  if (live && !live.has(followee)) {
    return new DomainError('NOT_FOUND', 'There is no such user')
  }
  if (live && (live.get(follower)?.following ?? 0) + added >= followeesMax) {
    return tooManyFollowees(followeesMax)
  }
  const id = newIds.get(key)
  if (!id) throw new Error(`no id was made for the edge ${key}`)
  return { changed: true, edge: { id, follower, followee, source: begin } }
}

/**
 * The changes of the counters, of followers first. A user whose changes add up to nothing has one
 * too: the write then collides with a concurrent deletion of that user.
 */
export function countersOf(
  begun: readonly FollowEdge[],
  ended: readonly FollowEdge[],
): Map<UserId, StatsChange> {
  const sums = new Map<UserId, { following: number; followers: number }>()
  const sumOf = (user: UserId) => {
    const sum = sums.get(user) ?? { following: 0, followers: 0 }
    sums.set(user, sum)
    return sum
  }
  const changed = [
    ...begun.map((edge) => ({ edge, count: 1 })),
    ...ended.map((edge) => ({ edge, count: -1 })),
  ]
  for (const { edge, count } of changed) sumOf(edge.follower).following += count
  for (const { edge, count } of changed) sumOf(edge.followee).followers += count
  return new Map(
    [...sums].map(([user, { following, followers }]) => [
      user,
      following === 0 && followers === 0
        ? { guard: 1 }
        : { ...(following !== 0 && { following }), ...(followers !== 0 && { followers }) },
    ]),
  )
}

import type { EdgeSource } from '../db/collections.ts'
import { DomainError } from '../errors.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import { noAccount, type Stats, type StatsChange, tooManyFollowees } from '../users/stats.ts'
import type { FollowEdge } from './edges.ts'

/** The result of a follow or unfollow. `changed` is false for a repeat. */
export interface FollowChange {
  readonly changed: boolean
  readonly edge?: FollowEdge | undefined
}

/** A request to follow or unfollow. */
export interface FollowRequest {
  readonly follower: UserId
  /** The source of the new edge. Undefined for an unfollow. */
  readonly begin?: EdgeSource | undefined
}

/** What the transaction has read about the followee and the followers of some requests. */
export interface FollowState {
  readonly followee: UserId
  /** The existing edges, by follower. */
  readonly edges: ReadonlyMap<UserId, FollowEdge>
  /** The followers that have a block with the followee, in either direction. */
  readonly blocked: ReadonlySet<UserId>
  /** The counters of users with an account. Undefined if not read: the update of the counters then checks them. */
  readonly live?: ReadonlyMap<UserId, Pick<Stats, 'following'>> | undefined
  /** The most users that a user may follow. */
  readonly followeesMax: number
  /** The id for each new edge, by follower: above all earlier events of the pair. */
  readonly newIds: ReadonlyMap<UserId, EdgeId>
}

/** Decides one request against the state read in this transaction. Returns a DomainError if this request, and only this one, is refused. */
export function decideFollow(
  { follower, begin }: FollowRequest,
  { followee, edges, blocked, live, followeesMax, newIds }: FollowState,
): FollowChange | DomainError {
  const edge = edges.get(follower)
  if (!begin) return edge ? { changed: true, edge } : { changed: false }
  if (edge) return { changed: false, edge }
  if (blocked.has(follower)) {
    return new DomainError(
      'FORBIDDEN',
      `You cannot follow "${followee}": a block exists between you`,
    )
  }
  if (live && !live.has(follower)) return noAccount()
  if (live && !live.has(followee)) {
    return new DomainError('NOT_FOUND', `There is no user "${followee}"`)
  }
  if (live && (live.get(follower)?.following ?? 0) >= followeesMax) {
    return tooManyFollowees(followeesMax)
  }
  const id = newIds.get(follower)
  if (!id) throw new Error(`no id was made for the edge of ${follower}`)
  return { changed: true, edge: { id, follower, followee, source: begin } }
}

/**
 * The changes of the counters. The followee's change is always there, also if it is zero: its new version of the followers
 * tells posts that they have changed, and collides with a concurrent deletion of the followee.
 */
export function countersOf(
  followee: UserId,
  begun: readonly FollowEdge[],
  ended: readonly FollowEdge[],
): Map<UserId, StatsChange> {
  const followers = begun.length - ended.length
  return new Map<UserId, StatsChange>([
    ...begun.map(({ follower }) => [follower, { following: 1 }] as const),
    ...ended.map(({ follower }) => [follower, { following: -1 }] as const),
    [followee, { followers }],
  ])
}

/** Splits requests, in order of arrival, into batches with at most one request of each follower. */
export function splitIntoBatches<Request extends FollowRequest>(
  requests: readonly Request[],
): readonly (readonly Request[])[] {
  const batches: Request[][] = []
  const had = new Map<UserId, number>()
  for (const request of requests) {
    const number = had.get(request.follower) ?? 0
    had.set(request.follower, number + 1)
    const batch = batches[number]
    if (batch) batch.push(request)
    else batches.push([request])
  }
  return batches
}

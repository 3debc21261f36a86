import type { EdgeSource } from '../db/collections.ts'
import { DomainError } from '../errors.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import { noAccount, type StatsChange } from '../users/stats.ts'
import type { FollowEdge } from './edges.ts'

/** What a repeatable write did: nothing when it had been done before. */
export interface FollowChange {
  readonly changed: boolean
  readonly edge?: FollowEdge | undefined
}

/** What one user wants of a followee: to follow, or no longer to. */
export interface FollowIntent {
  readonly follower: UserId
  /** Where the edge comes from that is to begin; undefined: it is to end. */
  readonly begin?: EdgeSource | undefined
}

/** What a transaction has read about a followee, and about those who want something of them. */
export interface Seen {
  readonly followee: UserId
  /** Who of them follows now. */
  readonly edges: ReadonlyMap<UserId, FollowEdge>
  /** From whom of them a block parts the followee. */
  readonly blocked: ReadonlySet<UserId>
  /** Who of them all has an account; undefined: nobody looked, their counters will tell. */
  readonly live?: ReadonlySet<UserId> | undefined
  /** The id of each edge that may begin: above all that the history has of the pair. */
  readonly newIds: ReadonlyMap<UserId, EdgeId>
}

/** What an intent comes to: an error refuses it alone. */
export function outcomeOf(
  { follower, begin }: FollowIntent,
  { followee, edges, blocked, live, newIds }: Seen,
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
  const id = newIds.get(follower)
  if (!id) throw new Error(`no id was made for the edge of ${follower}`)
  return { changed: true, edge: { id, follower, followee, source: begin } }
}

/**
 * The differences to the counters: the followee's own is one, the last. Where it comes to nothing it is still a write,
 * so that no deletion of the followee passes unseen.
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
    [followee, followers === 0 ? { guard: 1 } : { followers }],
  ])
}

/** Cuts intents, in order of arrival, into rounds that hold at most one of each follower: the first, then the second. */
export function roundsOf<Intent extends FollowIntent>(
  intents: readonly Intent[],
): readonly (readonly Intent[])[] {
  const rounds: Intent[][] = []
  const had = new Map<UserId, number>()
  for (const intent of intents) {
    const number = had.get(intent.follower) ?? 0
    had.set(intent.follower, number + 1)
    const round = rounds[number]
    if (round) round.push(intent)
    else rounds.push([intent])
  }
  return rounds
}

import { DomainError } from '../../src/errors.ts'
import type { JobWriter } from '../../src/jobs/outbox.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { hasBlock } from '../../src/visibility/rules.ts'
import { newKey } from '../idempotency.ts'

/** An implementation of follow and unfollow. Each resolves with whether it changed anything. */
export interface FollowImplementation {
  follow(actor: UserId, followee: UserId): Promise<boolean>
  unfollow(actor: UserId, followee: UserId): Promise<boolean>
}

/** Feedline's implementation: concurrent writes to one followee share a transaction. */
export function groupCommit({ follows }: Services): FollowImplementation {
  return {
    follow: async (actor, followee) =>
      (await follows.follow(actor, followee, newKey(actor, 'followUser'))).changed,
    unfollow: async (actor, followee) =>
      (await follows.unfollow(actor, followee, newKey(actor, 'unfollowUser'))).changed,
  }
}

/**
 * The same writes (edges, history, counters, job) with one transaction each. A write that is
 * UNAVAILABLE is retried.
 */
export function oneTransactionEach(services: Services): FollowImplementation {
  const { edges, restrictions, stats, outbox, transactions } = services
  const mint = new IdMint(Date.now)
  const source = 'FEEDLINE'
  return {
    follow: (actor, followee) => {
      const edge = { id: mint.next<EdgeId>(), follower: actor, followee, source } as const
      const follow = (jobs: JobWriter) =>
        transactions.run(async (tx) => {
          if (await edges.find(tx, actor, followee)) return false
          const restriction = (await restrictions.restrictionsFor(actor, [followee], tx)).get(
            followee,
          )
          if (hasBlock(restriction)) throw new DomainError('FORBIDDEN', 'blocked')
          await edges.insert(tx, [edge])
          const counted = new Map([
            [actor, { following: 1 }],
            [followee, { followers: 1 }],
          ])
          await stats.change(tx, counted)
          const reactions = outbox.reactionsTo('follow.created', { follower: actor, followee })
          await outbox.insert(
            tx,
            reactions.map((job) => jobs.prepare(tx, job)),
          )
          return true
        })
      return retryUnavailable(() => outbox.runInline(follow))
    },
    unfollow: (actor, followee) => {
      const unfollow = () =>
        transactions.run(async (tx) => {
          const edge = await edges.find(tx, actor, followee)
          if (!edge) return false
          await edges.remove(tx, [edge])
          const counted = new Map([
            [actor, { following: -1 }],
            [followee, { followers: -1 }],
          ])
          await stats.changeLive(tx, counted)
          await outbox.enqueue(
            tx,
            outbox.reactionsTo('follow.ended', { follower: actor, followee }),
          )
          return true
        })
      return retryUnavailable(unfollow)
    },
  }
}

/**
 * Retries a write while it is UNAVAILABLE, as a client does: write conflicts kept it from changing
 * anything.
 */
async function retryUnavailable(write: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'UNAVAILABLE') throw error
    }
  }
}

import type { Collections, FollowEventDoc } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Edges, StoredEdge } from '../follows/edges.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import { blocks } from '../follows/restrictions.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { batches } from '../lib/batch.ts'
import { type EdgeId, type IdMint, timeIdAt, timeOf, type UserId } from '../lib/ids.ts'
import { keyOf, misfits } from './history.ts'
import { lonelyEdges, type Pair, sidesOf, unlikeEdges } from './sides.ts'

/** Pairs that are mended in one transaction. */
const pairsAtOnce = 40

/** What was wrong with a pair, and what becomes of its edge. */
export interface Mended extends Pair {
  /** RESTORED: on the side, or both, where it lacked. REMOVED: from both. RECORDED: it stood without a history. */
  readonly how: 'RESTORED' | 'REMOVED' | 'RECORDED'
}

/** What mending works with. */
export interface MendParts {
  readonly collections: Pick<
    Collections,
    'users' | 'user_stats' | 'followers' | 'following' | 'follow_events'
  >
  readonly edges: Edges
  readonly restrictions: Restrictions
  readonly transactions: Transactions
  readonly outbox: Outbox
  readonly mint: IdMint
}

/** What is stored of a pair. */
interface Found extends Pair {
  readonly last: FollowEventDoc | undefined
  readonly ahead: StoredEdge | undefined
  readonly back: StoredEdge | undefined
  /** Why there is to be no edge, whatever the history says. */
  readonly impossible: 'GONE' | 'BLOCK' | undefined
}

/**
 * Makes edges what their history says (seed 3), on both sides; an edge across a block, or to somebody who is no more,
 * vanishes. Counters are left alone: the difference that remains between them and the edges is a later step's, which
 * notices that these were mended since it looked.
 */
export class Mender {
  constructor(private readonly parts: MendParts) {}

  /**
   * Mends the edges of some users that are not what their history says and, where they are few, those that are not the
   * same on both sides. Two commands that read every edge and event of theirs, two that look each edge up on the other
   * side, and for 40 suspects one transaction of at most twelve.
   * @param handles a condition on a handle.
   * @param sides whether both sides are compared: for all users, {@link mendSides} does so far faster.
   */
  async *mend(handles: object, sides: boolean, dryRun: boolean): AsyncGenerator<Mended> {
    const { collections, edges } = this.parts
    yield* this.mendAll(misfits(collections, edges, handles), dryRun)
    const { followers, following } = sidesOf(edges)
    if (!following || !sides) return
    yield* this.mendAll(lonelyEdges(followers, following, handles, 'follower'), dryRun)
    yield* this.mendAll(lonelyEdges(following, followers, handles, 'followee'), dryRun)
  }

  /**
   * Mends the edges of a stretch that are not the same on both sides; nothing under `reverse-index`.
   * Two commands, and for 40 suspects one transaction.
   */
  async *mendSides(ids: object, dryRun: boolean): AsyncGenerator<Mended> {
    const { followers, following } = sidesOf(this.parts.edges)
    if (following) yield* this.mendAll(unlikeEdges(followers, following, ids), dryRun)
  }

  /** Removes the edges of somebody who has no account, and what is told of them; those who leave are a job's. */
  clear(handle: string, dryRun: boolean): AsyncGenerator<Mended> {
    return this.mendAll(this.edgesOf(handle), dryRun)
  }

  private async *mendAll(suspects: AsyncIterable<Pair>, dryRun: boolean): AsyncGenerator<Mended> {
    for await (const some of batches(suspects, pairsAtOnce)) {
      const pairs = [...new Map(some.map((pair) => [keyOf(pair), pair])).values()]
      yield* await this.parts.transactions.run((tx) => this.mendPairs(tx, pairs, dryRun))
    }
  }

  private async *edgesOf(handle: string): AsyncGenerator<Pair> {
    const { followers, following } = this.parts.edges
    const their = { [following.owner]: handle }
    for await (const doc of following.collection.find(their)) {
      yield { follower: handle, followee: doc[following.other] ?? '' }
    }
    for await (const doc of followers.collection.find({ user: handle })) {
      yield { follower: doc.follower ?? '', followee: handle }
    }
  }

  private async mendPairs(tx: Tx, pairs: readonly Pair[], dryRun: boolean): Promise<Mended[]> {
    const all = await this.found(tx, pairs)
    const mended: Mended[] = []
    for (const pair of all) {
      const how = howToMend(pair, sidesOf(this.parts.edges).following !== undefined)
      if (!how) continue
      const { follower, followee } = pair
      mended.push({ follower, followee, how })
      if (dryRun) continue
      await this.write(tx, pair, how)
    }
    if (mended.length > 0 && !dryRun) {
      // Whoever counted these edges before must not apply what they found.
      const ends = new Set(mended.flatMap(({ follower, followee }) => [follower, followee]))
      await this.parts.collections.user_stats.updateMany(
        { _id: { $in: [...ends] } },
        { $inc: { repairs: 1 } },
        { session: tx.session },
      )
    }
    return mended
  }

  /** Those of the pairs that nobody is about to clear, with what is stored of them. Six commands at most. */
  private async found(tx: Tx, pairs: readonly Pair[]): Promise<Found[]> {
    const { collections, edges, restrictions } = this.parts
    const ends = [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))]
    const accounts = await collections.users.find({ _id: { $in: ends } }, { ...tx }).toArray()
    const known = new Map(accounts.map((user) => [user._id, user]))
    const isLeaving = (handle: string) => known.get(handle)?.deletedAt !== undefined
    const left = pairs.filter((pair) => !isLeaving(pair.follower) && !isLeaving(pair.followee))
    if (left.length === 0) return []
    const sides = sidesOf(edges)
    const inFollowers = left.map(({ follower, followee }) => ({ user: followee, follower }))
    const inFollowing = left.map(({ follower, followee }) => ({ user: follower, followee }))
    const ahead = new Map<string, StoredEdge>()
    for (const doc of await sides.followers.find({ $or: inFollowers }, { ...tx }).toArray()) {
      ahead.set(keyOf({ follower: doc.follower ?? '', followee: doc.user }), doc)
    }
    const back = new Map<string, StoredEdge>()
    for (const doc of (await sides.following?.find({ $or: inFollowing }, { ...tx }).toArray()) ??
      []) {
      back.set(keyOf({ follower: doc.user, followee: doc.followee ?? '' }), doc)
    }
    const last = new Map<string, FollowEventDoc>()
    const events = collections.follow_events.find({ $or: inFollowing }, { ...tx }).sort({ _id: 1 })
    for await (const event of events) {
      last.set(keyOf({ follower: event.user, followee: event.followee }), event)
    }
    const found: Found[] = []
    for (const pair of left) {
      const key = keyOf(pair)
      const [follower, followee] = [pair.follower as UserId, pair.followee as UserId]
      const gone = !known.has(follower) || !known.has(followee)
      const between = gone
        ? undefined
        : (await restrictions.between(follower, [followee], tx)).get(followee)
      const impossible = gone ? 'GONE' : between && blocks(between) ? 'BLOCK' : undefined
      found.push({
        ...pair,
        last: last.get(key),
        ahead: ahead.get(key),
        back: back.get(key),
        impossible,
      })
    }
    return found
  }

  private async write(tx: Tx, pair: Found, how: Mended['how']): Promise<void> {
    const { edges, outbox } = this.parts
    const edge = this.edgeToBe(pair)
    const { follower, followee } = edge
    if (how === 'RECORDED') return edges.record(tx, 'FOLLOWED', [edge])
    const groups = pair.back?.groups ?? pair.ahead?.groups
    await edges.erase(tx, [edge])
    if (how === 'RESTORED') {
      await edges.store(tx, [edge])
      if (groups) await edges.setGroups(tx, follower, followee, groups)
      await outbox.append(tx, 'follow.created', { follower, followee })
      return
    }
    if (pair.impossible === 'GONE') {
      await this.parts.collections.follow_events.deleteMany(
        { user: follower, followee },
        { session: tx.session },
      )
      return
    }
    if (pair.last?.type === 'FOLLOWED') await edges.record(tx, 'UNFOLLOWED', [edge], 'BLOCK')
    await outbox.append(tx, 'follow.ended', { follower, followee })
  }

  /** The edge as one of the sides has it, or as the history tells of it. */
  private edgeToBe({ follower, followee, ahead, back, last }: Found) {
    const stored = ahead ?? back
    const fresh = this.parts.mint.next<EdgeId>()
    const since = (last?.at ?? timeOf(fresh)).getTime()
    const id = stored ? fromObjectId<EdgeId>(stored._id) : timeIdAt<EdgeId>(since, fresh.slice(12))
    return {
      id,
      follower: follower as UserId,
      followee: followee as UserId,
      source: stored?.source ?? last?.source ?? 'FEEDLINE',
    }
  }
}

/** Undefined: all is as it should be. */
function howToMend(
  { last, ahead, back, impossible }: Found,
  twoSides: boolean,
): Mended['how'] | undefined {
  const [one, both] = [ahead ?? back, twoSides ? ahead && back : ahead]
  if (impossible || last?.type === 'UNFOLLOWED')
    return one || (impossible === 'GONE' && last) ? 'REMOVED' : undefined
  if (!last) return both ? 'RECORDED' : one ? 'REMOVED' : undefined
  const same = !twoSides || (ahead?._id.equals(back?._id ?? '') && ahead?.source === back?.source)
  return both && same ? undefined : 'RESTORED'
}

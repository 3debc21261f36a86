import type { Collections } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Edges, FollowEdge } from '../follows/edges.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { batches } from '../lib/batch.ts'
import { type EdgeId, type IdMint, timeIdAt, timeOf, type UserId } from '../lib/ids.ts'
import { keyOf, misfits } from './history.ts'
import { type Mending, mendingOf, type PairState, readPairs } from './pair-state.ts'
import { lonelyEdges, type Pair, sidesOf, unlikeEdges } from './sides.ts'

/** Pairs that are mended in one transaction. */
const pairsAtOnce = 40

/** A pair that was mended; BUSY: it could not be, since others write of it all the time. */
export interface Mended extends Pair {
  readonly how: Mending | 'BUSY'
}

/** What mending works with. */
export interface MendParts {
  readonly collections: Pick<
    Collections,
    'users' | 'user_stats' | 'followers' | 'following' | 'follow_events' | 'restrictions'
  >
  readonly edges: Edges
  readonly transactions: Transactions
  readonly outbox: Outbox
  readonly mint: IdMint
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
   * side, and for 40 suspects one transaction of at most fifteen.
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
   * @param onRead told at the end how many documents were read.
   */
  async *mendSides(
    ids: object,
    dryRun: boolean,
    onRead: (documents: number) => void,
  ): AsyncGenerator<Mended> {
    const { followers, following } = sidesOf(this.parts.edges)
    if (following) yield* this.mendAll(unlikeEdges(followers, following, ids, onRead), dryRun)
  }

  /** Removes the edges of somebody who has no account, and what is told of them; those who leave are a job's. */
  clear(handle: string, dryRun: boolean): AsyncGenerator<Mended> {
    return this.mendAll(this.edgesOf(handle), dryRun)
  }

  private async *mendAll(suspects: AsyncIterable<Pair>, dryRun: boolean): AsyncGenerator<Mended> {
    const { transactions } = this.parts
    for await (const some of batches(suspects, pairsAtOnce)) {
      const pairs = [...new Map(some.map((pair) => [keyOf(pair), pair])).values()]
      if (!dryRun) yield* await this.patiently(pairs)
      else
        for (const [pair, how] of await transactions.run((tx) => this.toMend(tx, pairs)))
          yield { ...pair, how }
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

  /** Fewer at a time where others write of the same people all the time. */
  private async patiently(pairs: readonly Pair[]): Promise<Mended[]> {
    try {
      return await this.parts.transactions.run((tx) => this.mendPairs(tx, pairs))
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNAVAILABLE')) throw error
      if (pairs.length === 1) return pairs.map((pair) => ({ ...pair, how: 'BUSY' as const }))
    }
    const half = Math.ceil(pairs.length / 2)
    return [
      ...(await this.patiently(pairs.slice(0, half))),
      ...(await this.patiently(pairs.slice(half))),
    ]
  }

  private async toMend(tx: Tx, pairs: readonly Pair[]): Promise<[PairState, Mending][]> {
    const twoSides = sidesOf(this.parts.edges).following !== undefined
    return (await readPairs(this.parts, pairs, tx)).flatMap((pair): [PairState, Mending][] => {
      const how = mendingOf(pair, twoSides)
      return how ? [[pair, how]] : []
    })
  }

  private async mendPairs(tx: Tx, pairs: readonly Pair[]): Promise<Mended[]> {
    const { collections, edges, outbox } = this.parts
    const { session } = tx
    const ends = [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))]
    // Before all else: who collides is told at once. Whoever counted these edges before must not apply what they found.
    await collections.user_stats.updateMany(
      { _id: { $in: ends } },
      { $inc: { repairs: 1 } },
      { session },
    )
    const all = (await this.toMend(tx, pairs)).map(([pair, how]) => {
      return { pair, how, edge: this.edgeOf(pair) }
    })
    const which = (...kinds: Mending[]) => all.filter(({ how }) => kinds.includes(how))
    const write = async (some: typeof all, to: (some: FollowEdge[]) => Promise<void>) => {
      if (some.length > 0) await to(some.map(({ edge }) => edge))
    }
    const [restored, removed] = [which('RESTORED'), which('REMOVED')]
    await write([...restored, ...removed], (some) => edges.erase(tx, some))
    await write(restored, (some) => edges.store(tx, some))
    for (const { pair, edge } of restored) {
      const groups = pair.back?.groups ?? pair.ahead?.groups
      if (groups) await edges.setGroups(tx, edge.follower, edge.followee, groups)
    }
    await write(which('RECORDED'), (some) => edges.record(tx, 'FOLLOWED', some))
    const ended = removed.filter(
      ({ pair }) => pair.impossible === 'BLOCK' && pair.last?.type === 'FOLLOWED',
    )
    await write(ended, (some) => edges.record(tx, 'UNFOLLOWED', some, 'BLOCK'))
    const gone = removed.filter(({ pair }) => pair.impossible === 'GONE')
    const forgotten = [
      ...gone.map(({ pair: { follower: user, followee } }) => ({ user, followee })),
      ...all.flatMap(({ pair: { follower: user, followee, repeats } }) =>
        repeats.map((_id) => ({ user, followee, _id })),
      ),
    ]
    if (forgotten.length > 0) {
      await collections.follow_events.deleteMany({ $or: forgotten }, { session })
    }
    const told = [...restored, ...removed.filter((one) => !gone.includes(one))]
    const jobs = told.map(({ how, edge: { follower, followee } }) => {
      const kind = how === 'RESTORED' ? 'follow.created' : 'follow.ended'
      return outbox.promise(tx, kind, { follower, followee })
    })
    if (jobs.length > 0) await outbox.keep(tx, jobs)
    return all.map(({ pair: { follower, followee }, how }) => ({ follower, followee, how }))
  }

  /** The edge as one of the sides has it, or as the history tells of it. */
  private edgeOf({ follower, followee, ahead, back, last }: PairState): FollowEdge {
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

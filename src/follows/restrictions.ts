import { singleBatch } from '../db/client.ts'
import type { Collections, RestrictionDoc } from '../db/collections.ts'
import { lockedAgain } from '../db/collisions.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { rangesByOwner } from '../db/pages.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { badInput } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { groupBy } from '../lib/batch.ts'
import type { EdgeId, IdMint, UserId } from '../lib/ids.ts'
import { type List, shownWithUser } from '../pages/pipeline.ts'
import type { UserStats } from '../users/stats.ts'
import type { RestrictionKind } from '../visibility/rules.ts'
import { type Pair, restrictionsIn } from '../visibility/visibility.ts'
import type { Edges, FollowEdge } from './edges.ts'

/** A mute or block that its owner made. */
export interface Restriction {
  readonly id: EdgeId
  readonly other: UserId
}

/** The parts that {@link Restrictions} works with. */
export interface RestrictionsParts {
  readonly collections: Pick<Collections, 'restrictions'>
  readonly edges: Edges
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
}

/** A new mute or block. */
interface NewRestriction {
  readonly actor: UserId
  readonly other: UserId
  /** The owner's kind first. A block also has a mirror, BLOCKED_BY. */
  readonly kinds: readonly RestrictionKind[]
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** Mutes and blocks. Private to their owner, and in force on the next read (law L1). */
export class Restrictions {
  private readonly loadDocs = shareFewKeys('restrictions', (pairs: readonly Pair[]) =>
    this.readDocs(pairs),
  )

  constructor(private readonly parts: RestrictionsParts) {}

  /**
   * The restrictions between `owner` and each of `others`, without users that have none. One
   * covered command, which concurrent reads of few users share.
   */
  async restrictionsFor(
    owner: UserId,
    others: readonly UserId[],
    tx?: Tx,
  ): Promise<Map<UserId, Set<RestrictionKind>>> {
    const pairs = others.map((user) => ({ viewer: owner, user }))
    const docs = tx ? await this.readDocs(pairs, tx) : await this.loadDocs(pairs)
    const wanted = new Set<string>(others)
    return restrictionsIn(docs.filter((doc) => doc.owner === owner && wanted.has(doc.other)))
  }

  /**
   * All restrictions between each of `owners` and others, up to `limit` of them. One covered
   * command.
   * @returns undefined for `limit` of them or more.
   */
  async restrictionsOfAll(
    owners: readonly UserId[],
    limit: number,
  ): Promise<Map<UserId, Map<UserId, Set<RestrictionKind>>> | undefined> {
    const docs = await findAtOnce(
      this.parts.collections.restrictions,
      { owner: { $in: [...owners] } },
      {
        projection: { _id: 0, owner: 1, other: 1, kind: 1 },
        hint: { owner: 1, other: 1, kind: 1 },
        limit,
      },
    )
    if (docs.length >= limit) return undefined
    const byOwner = groupBy(docs, ({ owner }) => owner as UserId)
    return new Map([...byOwner].map(([owner, some]) => [owner, restrictionsIn(some)]))
  }

  /**
   * The restrictions of pairs: by viewer, and then by user. One covered command, none without
   * pairs.
   */
  async restrictionsBetween(
    pairs: readonly Pair[],
    tx: Tx,
  ): Promise<Map<UserId, Map<UserId, Set<RestrictionKind>>>> {
    if (pairs.length === 0) return new Map()
    const byOwner = groupBy(await this.readDocs(pairs, tx), ({ owner }) => owner as UserId)
    return new Map([...byOwner].map(([owner, own]) => [owner, restrictionsIn(own)]))
  }

  /** The restrictions between the viewers and the users of pairs, and perhaps more. */
  private async readDocs(
    pairs: readonly Pair[],
    tx?: Tx,
  ): Promise<Pick<RestrictionDoc, 'owner' | 'other' | 'kind'>[]> {
    return this.parts.collections.restrictions
      .find(
        {
          owner: { $in: [...new Set(pairs.map(({ viewer }) => viewer))] },
          other: { $in: [...new Set(pairs.map(({ user }) => user))] },
        },
        {
          ...singleBatch,
          ...tx,
          projection: { _id: 0, owner: 1, other: 1, kind: 1 },
          hint: { owner: 1, other: 1, kind: 1 },
        },
      )
      .toArray()
  }

  /** The users that each owner muted or blocked, newest first. A read is one covered command. */
  list(kind: 'MUTE' | 'BLOCK'): List<UserId, Restriction> {
    const list = {
      collection: this.parts.collections.restrictions,
      owner: 'owner' as const,
      // Any other is malformed.
      where: { kind, other: { $gte: '' } },
      fields: ['_id', 'other'] as const,
      toItem: (doc: RestrictionDoc): Restriction => ({
        id: fromObjectId(doc._id),
        other: doc.other as UserId,
      }),
    }
    return {
      read: (owners, range, past) => rangesByOwner(list, owners, range, past),
      placeOf: ({ id }) => id,
      ...shownWithUser('ACCOUNT', ({ other }: Restriction) => other),
    }
  }

  /** Hides the other user's posts from `actor`'s timelines. @returns false for a repeat. */
  async mute(actor: UserId, other: UserId, idempotencyKey?: IdempotencyKey): Promise<boolean> {
    // Checks that both accounts exist. The other user's counters do not change, so concurrent mutes
    // of one user do not collide.
    const changes = new Map([
      [actor, { guard: 1 }],
      [other, {}],
    ] as const)
    const { stats } = this.parts
    return this.restrict({ actor, other, kinds: ['MUTE'], idempotencyKey }, (tx) =>
      stats.change(tx, changes),
    )
  }

  /** Ends a mute. @returns false if there was none. */
  async unmute(actor: UserId, other: UserId, idempotencyKey?: IdempotencyKey): Promise<boolean> {
    return this.lift(actor, other, 'MUTE', idempotencyKey)
  }

  /**
   * Hides both users from each other and ends the follows between them, in one transaction.
   * @returns false for a repeat.
   */
  async block(actor: UserId, other: UserId, idempotencyKey?: IdempotencyKey): Promise<boolean> {
    const { edges, stats, outbox } = this.parts
    return this.restrict(
      { actor, other, kinds: ['BLOCK', 'BLOCKED_BY'], idempotencyKey },
      async (tx) => {
        const [out, back] = [await edges.find(tx, actor, other), await edges.find(tx, other, actor)]
        const ended = [out, back].filter((edge): edge is FollowEdge => edge !== undefined)
        if (ended.length > 0) await edges.remove(tx, ended, 'BLOCK')
        const jobs = ended.flatMap(({ follower, followee }) =>
          outbox.reactionsTo('follow.ended', { follower, followee }),
        )
        await outbox.enqueue(tx, jobs)
        const [lost, lostBack] = [out ? -1 : 0, back ? -1 : 0]
        await stats.change(
          tx,
          new Map([
            [actor, { following: lost, followers: lostBack, guard: 1 }],
            [other, { followers: lost, following: lostBack, guard: 1 }],
          ]),
        )
      },
    )
  }

  /** Ends a block. Ended follows are not restored. @returns false if there was none. */
  async unblock(actor: UserId, other: UserId, idempotencyKey?: IdempotencyKey): Promise<boolean> {
    return this.lift(actor, other, 'BLOCK', idempotencyKey)
  }

  private async restrict(
    { actor, other, kinds, idempotencyKey }: NewRestriction,
    effect: (tx: Tx) => Promise<void>,
  ): Promise<boolean> {
    if (actor === other) throw badInput('input.user', 'you cannot mute or block yourself')
    const { collections, transactions, mint } = this.parts
    const docs = kinds.map((kind) => ({
      _id: toObjectId(mint.next<EdgeId>()),
      ...(kind === 'BLOCKED_BY' ? { owner: other, other: actor } : { owner: actor, other }),
      kind,
    }))
    const changed = kinds.includes('BLOCKED_BY') ? [actor, other] : [actor]
    const work = async (tx: Tx) => {
      const standing = (await this.restrictionsFor(actor, [other], tx)).get(other)
      if (kinds[0] && standing?.has(kinds[0])) return false
      await collections.restrictions.insertMany(docs, { session: tx.session })
      await effect(tx)
      return true
    }
    const lock = (tx: Tx) => this.parts.stats.lock(tx, changed)
    return transactions.run(lockedAgain(lock, work), idempotencyKey)
  }

  private async lift(
    actor: UserId,
    other: UserId,
    kind: 'MUTE' | 'BLOCK',
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<boolean> {
    const { collections, stats, transactions } = this.parts
    return transactions.run(async (tx) => {
      const own = { owner: actor, other, kind }
      const lifted = await collections.restrictions.deleteOne(own, { session: tx.session })
      if (lifted.deletedCount === 0) return false
      if (kind === 'BLOCK') {
        const mirror = { owner: other, other: actor, kind: 'BLOCKED_BY' as const }
        await collections.restrictions.deleteOne(mirror, { session: tx.session })
      }
      await stats.lock(tx, kind === 'BLOCK' ? [actor, other] : [actor])
      return true
    }, idempotencyKey)
  }
}

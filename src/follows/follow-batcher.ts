import { commitAdmitted } from '../db/admitted.ts'
import type { Collections } from '../db/collections.ts'
import { lockedAgain } from '../db/collisions.ts'
import { deadlineOf, isLate, type Timed } from '../db/deadline.ts'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import { isShown } from '../visibility/rules.ts'
import {
  countersOf,
  decideFollow,
  type FollowChange,
  type FollowRequest,
  type FollowState,
  splitIntoBatches,
} from './decide-follow.ts'
import type { Edges, FollowEdge } from './edges.ts'
import type { Restrictions } from './restrictions.ts'

const bounds: GroupCommitBounds = {
  name: 'follows',
  batchMax: 64,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 2,
  begins: 'AT_ONCE',
}

/** A follow or unfollow, with its idempotency key and its jobs. */
export interface FollowWrite extends FollowRequest, Timed {
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** The parts that {@link FollowBatcher} works with. */
export interface FollowParts {
  readonly collections: Pick<Collections, 'hot_keys' | 'hot_writes'>
  readonly edges: Edges
  readonly restrictions: Restrictions
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** The most users that a user may follow. */
  readonly followeesMax: number
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** How a batch of writes is applied. */
interface How {
  /** Whether the batch is one write, which may fail with its transaction. */
  readonly isAlone?: boolean
  /** Whether edges that exist in one direction only are deleted before the new edges are inserted. */
  readonly repairs?: boolean
}

/** Commits concurrent follows and unfollows of one followee in shared transactions, as they would collide on the followee's counter. Processes share them too. */
export class FollowBatcher {
  private readonly commits: GroupCommit<FollowWrite, FollowChange>
  private readonly hotKeys: HotKeys<FollowWrite, FollowChange>

  constructor(private readonly parts: FollowParts) {
    const { collections, outbox, transactions, now } = parts
    this.hotKeys = new HotKeys<FollowWrite, FollowChange>(collections, transactions, {
      name: 'follows',
      isLate,
      now,
      lock: (tx, key, batch) => this.lock(tx, key as UserId, batch),
      apply: (tx, key, batch) => this.commitTogether(tx, key as UserId, batch),
      commit: (key, batch, refusals, onCollision) =>
        commitAdmitted(batch, refusals, (some) => this.commit(key as UserId, some, onCollision)),
      commitAlone: (key, write, onCollision) =>
        this.commitOne(key as UserId, write, { repairs: true }, onCollision),
      // Processes of other versions store and read the idempotency key as `once`.
      pack: ({ jobs: _, idempotencyKey: once, ...write }) => ({ ...write, once }),
      // Workers run the jobs of another process's writes.
      unpack: ({ once, ...write }) =>
        ({ ...write, idempotencyKey: once, jobs: outbox }) as unknown as FollowWrite,
    })
    const run = (key: string, batch: readonly FollowWrite[]) => this.hotKeys.commitBatch(key, batch)
    this.commits = new GroupCommit(eachKey(run), bounds)
  }

  /**
   * Commits a write, with up to 63 concurrent writes of the same followee, in order of arrival. The batch costs the
   * commands of one write and one read; again as many if it has several writes of one follower.
   * If processes collide on the followee, the owner of the hot key commits the writes of all processes.
   * @throws {DomainError} if this write is refused; UNAVAILABLE if too many writes wait.
   */
  async write(followee: UserId, write: FollowWrite): Promise<FollowChange> {
    return this.commits.submit(followee, { ...write, deadline: deadlineOf(this.parts.now()) })
  }

  private async commit(
    followee: UserId,
    batch: readonly FollowWrite[],
    onCollision: (error: unknown) => void,
  ): Promise<readonly (FollowChange | Error)[]> {
    const [first, ...more] = batch
    if (!first) return []
    if (more.length === 0) return [await this.commitOne(followee, first, {}, onCollision)]
    const all = (tx: Tx) => this.commitTogether(tx, followee, batch)
    const locked = lockedAgain((tx) => this.lock(tx, followee, batch), all)
    return this.parts.transactions.run(locked, undefined, onCollision)
  }

  private async commitOne(
    followee: UserId,
    write: FollowWrite,
    how: How,
    onCollision: (error: unknown) => void,
  ): Promise<FollowChange> {
    const alone = async (tx: Tx) => {
      const results = await this.apply(tx, followee, [write], { ...how, isAlone: true })
      const result = results.get(write)
      if (result instanceof Error) throw result
      return result as FollowChange
    }
    const locked = lockedAgain((tx) => this.lock(tx, followee, [write]), alone)
    return this.parts.transactions.run(locked, write.idempotencyKey, onCollision)
  }

  /** The counters of all users change last, after all reads. */
  private async lock(tx: Tx, followee: UserId, batch: readonly FollowWrite[]): Promise<void> {
    await this.parts.stats.lock(tx, [followee, ...batch.map(({ follower }) => follower)])
  }

  /** Applies each write as if it were alone. A repeat has the same follower, so it is in a later batch and finds the first result. */
  private async commitTogether(
    tx: Tx,
    followee: UserId,
    batch: readonly FollowWrite[],
  ): Promise<(FollowChange | Error)[]> {
    const { idempotency } = this.parts.transactions
    const results = new Map<FollowWrite, FollowChange | Error>()
    for (const some of splitIntoBatches(batch)) {
      const keys = some.map((write) => write.idempotencyKey)
      const firsts = await idempotency.savedResults<FollowChange>(keys, tx)
      const fresh: FollowWrite[] = []
      for (const [at, write] of some.entries()) {
        const first = firsts[at]
        if (first) results.set(write, first instanceof Error ? first : first.result)
        else fresh.push(write)
      }
      const applied = await this.apply(tx, followee, fresh)
      const remembered = [...applied].flatMap(([{ idempotencyKey: key }, result]) =>
        key && !(result instanceof Error) ? [{ key, result }] : [],
      )
      await idempotency.saveResults(remembered, tx)
      for (const [write, result] of applied) results.set(write, result)
    }
    return batch.map((write) => results.get(write) as FollowChange | Error)
  }

  /** Applies writes of different followers. @returns the result of each. */
  private async apply(
    tx: Tx,
    followee: UserId,
    writes: readonly FollowWrite[],
    how: How = {},
  ): Promise<Map<FollowWrite, FollowChange | Error>> {
    if (writes.length === 0) return new Map()
    const state = await this.readState(tx, followee, writes, how.isAlone === true)
    const results = new Map(writes.map((write) => [write, decideFollow(write, state)]))
    const changes = [...results].flatMap(([write, result]) =>
      !(result instanceof Error) && result.changed && result.edge
        ? [{ ...write, edge: result.edge }]
        : [],
    )
    const areLive = state.live !== undefined
    if (changes.length > 0) await this.store(tx, followee, changes, { areLive, ...how })
    return results
  }

  private async readState(
    tx: Tx,
    followee: UserId,
    writes: readonly FollowWrite[],
    isAlone: boolean,
  ): Promise<FollowState> {
    const followers = writes.map(({ follower }) => follower)
    const edges = await this.parts.edges.findAmong(tx, followers, followee)
    const newFollowers = writes
      .filter(({ begin, follower }) => begin && !edges.has(follower))
      .map(({ follower }) => follower)
    const { followeesMax } = this.parts
    if (newFollowers.length === 0)
      return { followee, edges, blocked: new Set(), followeesMax, newIds: new Map() }
    const restrictions = await this.parts.restrictions.restrictionsFor(followee, newFollowers, tx)
    // The rules of this purpose are the same from both sides.
    const blocked = new Set(
      newFollowers.filter((user) => !isShown('FOLLOW', followee, { user }, { restrictions })),
    )
    // A single write may fail with its transaction. In a batch, the others must not.
    const live = isAlone ? undefined : await this.parts.stats.byIds([...newFollowers, followee], tx)
    const ids = await this.parts.edges.newIds(
      tx,
      newFollowers.map((follower) => ({ follower, followee })),
    )
    const newIds = new Map(newFollowers.map((follower, at) => [follower, ids[at] as EdgeId]))
    return { followee, edges, blocked, live, followeesMax, newIds }
  }

  private async store(
    tx: Tx,
    followee: UserId,
    changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
    { areLive, repairs }: How & { readonly areLive: boolean },
  ): Promise<void> {
    const { edges, stats, outbox } = this.parts
    const [begun, ended] = [true, false].map((begins) =>
      changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
    ) as [FollowEdge[], FollowEdge[]]
    if (repairs && begun.length > 0) await edges.erase(tx, begun)
    if (begun.length > 0) await edges.begin(tx, begun)
    if (ended.length > 0) await edges.remove(tx, ended)
    const counters = countersOf(followee, begun, ended)
    if (areLive || begun.length === 0) await stats.changeLive(tx, counters)
    else await stats.change(tx, counters, this.parts.followeesMax)
    const all = changes.flatMap(({ follower, begin, jobs }) =>
      outbox
        .reactionsTo(begin ? 'follow.created' : 'follow.ended', { follower, followee })
        .map((job) => jobs.prepare(tx, job)),
    )
    await outbox.insert(tx, all)
  }
}

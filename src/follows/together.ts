import type { Collections } from '../db/collections.ts'
import { GroupCommit } from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import type { OnceKey } from '../db/once.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { reactionsTo } from '../events.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import type { Edges, FollowEdge } from './edges.ts'
import {
  countersOf,
  type FollowChange,
  type FollowIntent,
  outcomeOf,
  roundsOf,
  type Seen,
} from './outcome.ts'
import { blocks, type Restrictions } from './restrictions.ts'

const bounds = { batchMax: 64, waitingMax: 20_000, waitMsMax: 4_000, lingerMs: 2 }

/** A follow or unfollow, by whom it is named and where its job goes. */
export interface FollowWrite extends FollowIntent {
  /** Of a mutation of the follower's own. */
  readonly once: OnceKey | undefined
  readonly jobs: JobWriter
}

/** What follows are made of. */
export interface FollowParts {
  readonly collections: Pick<Collections, 'hot_keys' | 'hot_writes'>
  readonly edges: Edges
  readonly restrictions: Restrictions
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
}

/** How a round of writes is committed. */
interface How {
  /** Whether it holds one write alone, which may fail with its transaction. */
  readonly isAlone?: boolean
  /** Whether leftovers of the edges, on one side, are removed before the edges are stored. */
  readonly mends?: boolean
}

/** Follows and unfollows of one followee, who would collide on that counter, share transactions, between processes too. */
export class FollowsTogether {
  private readonly commits: GroupCommit<FollowWrite, FollowChange>
  private readonly hotKeys: HotKeys<FollowWrite, FollowChange>

  constructor(private readonly parts: FollowParts) {
    const { collections, outbox, transactions } = parts
    this.hotKeys = new HotKeys(collections, transactions, {
      name: 'follows',
      apply: (tx, key, batch) => this.together(tx, key as UserId, batch),
      commit: (key, batch, onCollision) => this.commit(key as UserId, batch, onCollision),
      commitAlone: (key, write, onCollision) =>
        this.commitOne(key as UserId, write, { mends: true }, onCollision),
      pack: ({ jobs: _, ...write }) => ({ ...write }),
      // Jobs of another process's writes are left to workers.
      unpack: (packed) => ({ ...(packed as unknown as FollowWrite), jobs: outbox }),
    })
    const run = (key: string, batch: readonly FollowWrite[]) => this.hotKeys.run(key, batch)
    this.commits = new GroupCommit(run, bounds)
  }

  /**
   * Commits a write, with those that meet it on the followee: up to 64 in one transaction, in order of arrival.
   * Together they cost what one does, and one read more; several of one follower, as often that.
   * Where processes collide on the followee, the owner of the hot key commits the writes of all.
   * @throws {DomainError} what refuses this write alone; UNAVAILABLE when too many wait.
   */
  async write(followee: UserId, write: FollowWrite): Promise<FollowChange> {
    return this.commits.submit(followee, write)
  }

  private async commit(
    followee: UserId,
    batch: readonly FollowWrite[],
    onCollision: (error: unknown) => void,
  ): Promise<readonly (FollowChange | Error)[]> {
    const [first, ...more] = batch
    if (!first) return []
    if (more.length === 0) return [await this.commitOne(followee, first, {}, onCollision)]
    const all = (tx: Tx) => this.together(tx, followee, batch)
    return this.parts.transactions.run(all, undefined, onCollision)
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
    return this.parts.transactions.run(alone, write.once, onCollision)
  }

  /** Each as if it were alone. A repeat is one of the same follower, and so finds in a later round what the first came to. */
  private async together(
    tx: Tx,
    followee: UserId,
    batch: readonly FollowWrite[],
  ): Promise<(FollowChange | Error)[]> {
    const { once } = this.parts.transactions
    const results = new Map<FollowWrite, FollowChange | Error>()
    for (const round of roundsOf(batch)) {
      const keys = round.map((write) => write.once)
      const firsts = await once.firstResults<FollowChange>(keys, tx)
      const fresh: FollowWrite[] = []
      for (const [at, write] of round.entries()) {
        const first = firsts[at]
        if (first) results.set(write, first instanceof Error ? first : first.result)
        else fresh.push(write)
      }
      const applied = await this.apply(tx, followee, fresh)
      const remembered = [...applied].flatMap(([{ once: key }, result]) =>
        key && !(result instanceof Error) ? [{ key, result }] : [],
      )
      await once.remember(remembered, tx)
      for (const [write, result] of applied) results.set(write, result)
    }
    return batch.map((write) => results.get(write) as FollowChange | Error)
  }

  /** Applies writes of different followers. @returns what each came to. */
  private async apply(
    tx: Tx,
    followee: UserId,
    writes: readonly FollowWrite[],
    how: How = {},
  ): Promise<Map<FollowWrite, FollowChange | Error>> {
    if (writes.length === 0) return new Map()
    const seen = await this.look(tx, followee, writes, how.isAlone === true)
    const results = new Map(writes.map((write) => [write, outcomeOf(write, seen)]))
    const changes = [...results].flatMap(([write, result]) =>
      !(result instanceof Error) && result.changed && result.edge
        ? [{ ...write, edge: result.edge }]
        : [],
    )
    const areLive = seen.live !== undefined
    if (changes.length > 0) await this.store(tx, followee, changes, { areLive, ...how })
    return results
  }

  private async look(
    tx: Tx,
    followee: UserId,
    writes: readonly FollowWrite[],
    isAlone: boolean,
  ): Promise<Seen> {
    const followers = writes.map(({ follower }) => follower)
    const edges = await this.parts.edges.findAmong(tx, followers, followee)
    const comers = writes
      .filter(({ begin, follower }) => begin && !edges.has(follower))
      .map(({ follower }) => follower)
    if (comers.length === 0) return { followee, edges, blocked: new Set(), newIds: new Map() }
    const between = await this.parts.restrictions.between(followee, comers, tx)
    const blocked = new Set([...between].flatMap(([one, kinds]) => (blocks(kinds) ? [one] : [])))
    // Who comes alone fails with the transaction; neighbours must not.
    const live = isAlone ? undefined : await this.parts.stats.liveAmong([...comers, followee], tx)
    const ids = await this.parts.edges.newIds(
      tx,
      comers.map((follower) => ({ follower, followee })),
    )
    const newIds = new Map(comers.map((follower, at) => [follower, ids[at] as EdgeId]))
    return { followee, edges, blocked, live, newIds }
  }

  private async store(
    tx: Tx,
    followee: UserId,
    changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
    { areLive, mends }: How & { readonly areLive: boolean },
  ): Promise<void> {
    const { edges, stats, outbox } = this.parts
    const [begun, ended] = [true, false].map((begins) =>
      changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
    ) as [FollowEdge[], FollowEdge[]]
    if (mends && begun.length > 0) await edges.erase(tx, begun)
    if (begun.length > 0) await edges.begin(tx, begun)
    if (ended.length > 0) await edges.remove(tx, ended)
    const counters = countersOf(followee, begun, ended)
    if (areLive || begun.length === 0) await stats.changeLive(tx, counters)
    else await stats.change(tx, counters)
    const all = changes.flatMap(({ follower, begin, jobs }) =>
      reactionsTo(begin ? 'follow.created' : 'follow.ended', { follower, followee }).map((job) =>
        jobs.prepare(tx, job),
      ),
    )
    await outbox.insert(tx, all)
  }
}

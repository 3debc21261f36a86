import { GroupCommit } from '../db/group-commit.ts'
import type { OnceKey } from '../db/once.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Outbox, Promises } from '../jobs/outbox.ts'
import type { EdgeId, IdMint, UserId } from '../lib/ids.ts'
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
  readonly promises: Promises
}

/** Follows and unfollows of one followee, who would collide on that counter, share transactions. */
export class FollowsTogether {
  private readonly commits: GroupCommit<FollowWrite, FollowChange>

  constructor(
    private readonly edges: Edges,
    private readonly restrictions: Restrictions,
    private readonly stats: UserStats,
    private readonly outbox: Outbox,
    private readonly transactions: Transactions,
    private readonly mint: IdMint,
  ) {
    const commit = (lane: string, batch: readonly FollowWrite[]) =>
      this.commit(lane as UserId, batch)
    this.commits = new GroupCommit(commit, bounds)
  }

  /**
   * Commits a write, with those that meet it on the followee: up to 64 in one transaction, in order of arrival.
   * Together they cost what one does, and one read more; several of one follower, as often that.
   * @throws {DomainError} what refuses this write alone; UNAVAILABLE when too many wait.
   */
  async write(followee: UserId, write: FollowWrite): Promise<FollowChange> {
    return this.commits.submit(followee, write)
  }

  private async commit(
    followee: UserId,
    batch: readonly FollowWrite[],
  ): Promise<readonly (FollowChange | Error)[]> {
    const [first] = batch
    if (!first) return []
    if (batch.length > 1) return this.transactions.run((tx) => this.together(tx, followee, batch))
    const alone = async (tx: Tx) => {
      const result = (await this.apply(tx, followee, batch, true)).get(first)
      if (result instanceof Error) throw result
      return result as FollowChange
    }
    return [await this.transactions.run(alone, first.once)]
  }

  /** Each as if it were alone. A repeat is one of the same follower, and so finds in a later round what the first came to. */
  private async together(
    tx: Tx,
    followee: UserId,
    batch: readonly FollowWrite[],
  ): Promise<(FollowChange | Error)[]> {
    const once = this.transactions.once
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
    isAlone = false,
  ): Promise<Map<FollowWrite, FollowChange | Error>> {
    if (writes.length === 0) return new Map()
    const seen = await this.look(tx, followee, writes, isAlone)
    const newId = () => this.mint.next<EdgeId>()
    const results = new Map(writes.map((write) => [write, outcomeOf(write, seen, newId)]))
    const changes = [...results].flatMap(([write, result]) =>
      !(result instanceof Error) && result.changed && result.edge
        ? [{ ...write, edge: result.edge }]
        : [],
    )
    if (changes.length > 0) await this.store(tx, followee, changes, seen.live !== undefined)
    return results
  }

  private async look(
    tx: Tx,
    followee: UserId,
    writes: readonly FollowWrite[],
    isAlone: boolean,
  ): Promise<Seen> {
    const followers = writes.map(({ follower }) => follower)
    const edges = await this.edges.findAmong(tx, followers, followee)
    const comers = writes
      .filter(({ begin, follower }) => begin && !edges.has(follower))
      .map(({ follower }) => follower)
    if (comers.length === 0) return { followee, edges, blocked: new Set() }
    const between = await this.restrictions.between(followee, comers, tx)
    const blocked = new Set([...between].flatMap(([one, kinds]) => (blocks(kinds) ? [one] : [])))
    // Who comes alone fails with the transaction; neighbours must not.
    const live = isAlone ? undefined : await this.stats.liveAmong([...comers, followee], tx)
    return { followee, edges, blocked, live }
  }

  private async store(
    tx: Tx,
    followee: UserId,
    changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
    areLive: boolean,
  ): Promise<void> {
    const [begun, ended] = [true, false].map((begins) =>
      changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
    ) as [FollowEdge[], FollowEdge[]]
    if (begun.length > 0) await this.edges.insert(tx, begun)
    if (ended.length > 0) await this.edges.remove(tx, ended)
    const counters = countersOf(followee, begun, ended)
    if (areLive || begun.length === 0) await this.stats.changeLive(tx, counters)
    else await this.stats.change(tx, counters)
    const jobs = changes.map(({ follower, begin, promises }) =>
      promises.promise(tx, begin ? 'follow.created' : 'follow.ended', { follower, followee }),
    )
    await this.outbox.keep(tx, jobs)
  }
}

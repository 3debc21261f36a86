import type { Refusals } from '../db/admitted.ts'
import { requestTimeout } from '../db/client.ts'
import type { Collections, PerKind } from '../db/collections.ts'
import { deadlineOf, isLate, type Timed, tooLate } from '../db/deadline.ts'
import { GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import { findRepeats, type IdempotencyKey, type IdempotencyStore } from '../db/idempotency.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { DomainError } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { groupBy } from '../lib/batch.ts'
import { type EngagementId, type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import { type Admission, noPost } from './admission.ts'
import { type EmbeddedAdd, FastPath } from './fast-path.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import type { ListLimits } from './list-limits.ts'
import { type ListChange, ListPlan, type ListResult, type ListWrite } from './list-plan.ts'
import { embedded, levelWrites, readState, storedKey } from './list-store.ts'

const bounds: GroupCommitBounds = {
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 2,
  begins: 'AT_ONCE',
}

/** What the lists are stored through. */
export interface OutlierParts {
  readonly collections: Pick<Collections, 'posts' | 'overflow' | 'hot_keys' | 'hot_writes'>
  readonly transactions: Transactions
  readonly idempotency: IdempotencyStore
  readonly outbox: Outbox
  readonly limits: Readonly<Record<EngagementKind, ListLimits>>
  readonly admission: Admission
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The outlier pattern (seeds 0 and 2), the same for every kind: entries stand in their post up to a threshold, then in
 * overflow documents of a fixed capacity, level after level. No document grows with popularity.
 * @see laws L2 and L5
 */
export class OutlierLists {
  private readonly hotKeys: HotKeys<Waiting, ListResult>
  private readonly commits: GroupCommit<Waiting, ListResult>
  private readonly fast: FastPath
  private readonly fastAdds: GroupCommit<EmbeddedAdd, ListResult | undefined>

  constructor(private readonly parts: OutlierParts) {
    const { collections, transactions, limits, now } = parts
    this.hotKeys = new HotKeys<Waiting, ListResult>(collections, transactions, {
      name: 'lists',
      isLate,
      now,
      admit: (batch) => this.admit(batch),
      apply: (tx, _, batch) => this.commitAll(tx, batch),
      commit: (_, batch, onCollision) => this.commit(batch, onCollision),
      commitAlone: (_, write, onCollision) => this.commitAlone(write, onCollision),
      // Processes of other versions store and read the idempotency key as `once`.
      pack: ({ idempotencyKey: once, ...write }) => ({ ...write, once }),
      unpack: ({ once, ...write }) => ({ ...write, idempotencyKey: once }) as unknown as Waiting,
    })
    this.commits = new GroupCommit((key, batch) => this.hotKeys.commitBatch(key, batch), bounds)
    const add = (_: string, batch: readonly EmbeddedAdd[]) => this.fast.add(batch)
    this.fast = new FastPath(collections.posts, limits)
    this.fastAdds = new GroupCommit(add, { ...bounds, lingerMs: 0, begins: 'AFTER_TURN' })
  }

  /**
   * Adds an entry or takes one out, atomically wherever it stands; entry and count change together.
   * While the list is within its post, an add shares one command with those to other posts, and a removal takes one.
   * Past the threshold, and when several writers of this process meet on a post, they share one transaction of at most
   * four commands and three more for each kind. Where processes collide on a post, the owner of the hot key commits the
   * writes of all.
   * Bytes written do not grow with popularity (law L5).
   * @throws {DomainError} NOT_FOUND without such a post; UNAVAILABLE when too many wait.
   */
  async write(
    post: PostRef,
    write: ListWrite,
    idempotencyKey?: IdempotencyKey,
  ): Promise<ListResult> {
    const deadline = deadlineOf(this.parts.now())
    return this.commits.submit(keyOf(post), { post, write, idempotencyKey, deadline })
  }

  /** Whether the owner of a hot key commits the writes to this post now. */
  isHot(post: PostRef): boolean {
    return this.hotKeys.isHot(keyOf(post))
  }

  /** Loads the result of the first write under the key, if there was one. One command. */
  async savedResult(idempotencyKey: IdempotencyKey): Promise<ListResult | undefined> {
    return (await this.parts.idempotency.savedResult<ListResult>(idempotencyKey))?.result
  }

  private async commit(
    batch: readonly Waiting[],
    onCollision: (error: unknown) => void,
  ): Promise<readonly (ListResult | Error)[]> {
    const [first] = batch
    if (!first) return []
    if (batch.length === 1 && !first.idempotencyKey && !first.write.jobs?.length) {
      const quick = await this.commitOne(first)
      if (quick) return [quick]
    }
    return this.parts.transactions.run((tx) => this.commitAll(tx, batch), undefined, onCollision)
  }

  /** Commits a write beside overflow documents that its post does not count. */
  private async commitAlone(
    write: Waiting,
    onCollision: (error: unknown) => void,
  ): Promise<ListResult | Error> {
    const alone = (tx: Tx) => this.commitAll(tx, [write], true)
    const [result] = await this.parts.transactions.run(alone, undefined, onCollision)
    return result as ListResult | Error
  }

  /** Admits those of a batch that need it. Up to five commands; none without any. */
  private async admit(batch: readonly Waiting[]): Promise<Refusals> {
    const entries = batch.map(({ post, write: { kind, add, needsAdmission } }) =>
      add && needsAdmission
        ? { id: fromObjectId<EngagementId>(add._id), user: add.actor as UserId, kind, post }
        : undefined,
    )
    const intents = entries.flatMap((begin) => (begin ? [{ begin }] : []))
    if (intents.length === 0) return []
    const refusals = await this.parts.admission.admit(intents)
    let next = 0
    return entries.map((entry) => entry && refusals[next++])
  }

  /** The way of nearly every write: one conditional update. Undefined: it takes more. */
  private async commitOne({ post, write }: Waiting): Promise<ListResult | undefined> {
    if (!write.add) return this.removeEmbedded(post, write)
    const add = { post, kind: write.kind, entry: write.add }
    return this.fast.isSlow(post) ? this.fast.addAlone(add) : this.fastAdds.submit('', add)
  }

  private async removeEmbedded(
    { author, id }: PostRef,
    { kind, remove, only }: ListWrite & { readonly remove: string },
  ): Promise<ListResult | undefined> {
    const key = { [kinds[kind].key]: storedKey(kind, remove) }
    const named = only ? { ...key, _id: only } : key
    const before = await this.parts.collections.posts.findOneAndUpdate(
      { _id: toObjectId(id), author, [kind]: { $elemMatch: named } },
      { $pull: { [kind]: named }, $inc: { [`counts.${kind}`]: -1 } },
      { ...requestTimeout, projection: { [kind]: { $elemMatch: named } } },
    )
    return before ? { changed: true, entry: before[kind]?.[0] } : undefined
  }

  /** A batch of writes to the lists of one post, in order; each as if it were alone. */
  private async commitAll(
    tx: Tx,
    batch: readonly Waiting[],
    passesLevels = false,
  ): Promise<(ListResult | Error)[]> {
    const { collections, limits } = this.parts
    const { post } = batch[0] as Waiting
    const keys = batch.map(({ idempotencyKey }) => idempotencyKey)
    const firsts = await this.parts.idempotency.savedResults<ListResult>(keys, tx)
    const repeats = findRepeats(keys)
    const known = (at: number, before: readonly (ListResult | Error)[] = []) => {
      const repeated = repeats[at]
      return outcomeOf(firsts[at]) ?? (typeof repeated === 'number' ? before[repeated] : repeated)
    }
    const fresh = batch.flatMap(({ write }, at) =>
      firsts[at] === undefined && repeats[at] === undefined ? [write] : [],
    )
    const byKind = groupBy(fresh, ({ kind }) => kind)
    const state = await readState(tx, collections, { post, writes: byKind, passesLevels })
    if (!state) return batch.map((_, at) => known(at) ?? noPost())
    const plans = new Map(
      [...state.lists].map(([kind, list]) => [kind, new ListPlan(kinds[kind], limits[kind], list)]),
    )
    const results: (ListResult | Error)[] = []
    for (const [at, { write }] of batch.entries()) {
      const isPast =
        write.add && state.now >= deadlineOf(timeOf(fromObjectId(write.add._id)).getTime())
      const decide = () => apply(plans.get(write.kind) as ListPlan, write)
      results.push(known(at, results) ?? (isPast ? tooLate() : decide()))
    }
    const changes = [...plans].flatMap(([kind, plan]) => {
      const change = plan.change()
      return change ? [{ kind, ...change }] : []
    })
    if (changes.length > 0) await this.store(tx, post, state.levels, changes)
    else if (fresh.some(({ only }) => only)) await this.touch(tx, post)
    const done = batch.flatMap(({ write, idempotencyKey: key }, at) => {
      const result = results[at]
      const isFresh = firsts[at] === undefined && repeats[at] === undefined
      return isFresh && result && !(result instanceof Error) ? [{ write, key, result }] : []
    })
    const jobs = done.flatMap(({ write, result }) => (result.changed && write.jobs) || [])
    await this.parts.outbox.enqueue(tx, jobs)
    const saved = done.flatMap(({ key, result }) => (key ? [{ key, result }] : []))
    await this.parts.idempotency.saveResults(saved, tx)
    return results
  }

  /** Writes a post without a change that shows. */
  private async touch(tx: Tx, { id, author }: PostRef): Promise<void> {
    const post = { _id: toObjectId(id), author }
    const { posts } = this.parts.collections
    await posts.updateOne(post, { $inc: { guard: 1 } }, { session: tx.session })
  }

  private async store(
    tx: Tx,
    { id, author }: PostRef,
    before: PerKind,
    changes: readonly (ListChange & { readonly kind: EngagementKind })[],
  ): Promise<void> {
    const { posts, overflow } = this.parts.collections
    const levels: Partial<Record<EngagementKind, number>> = { ...before }
    const set: Record<string, unknown> = {}
    for (const { kind, adds, removes, countDelta, last, levelsDelta } of changes) {
      levels[kind] = (levels[kind] ?? 0) + levelsDelta
      set[`counts.${kind}`] = { $add: [{ $ifNull: [`$counts.${kind}`, 0] }, countDelta] }
      if (last) set[`last.${kind}`] = toObjectId(last)
      set[`levels.${kind}`] = levels[kind] > 0 ? levels[kind] : '$$REMOVE'
      if (adds.length + removes.length > 0) {
        const left = { $not: { $in: ['$$this._id', removes] } }
        const kept = { $filter: { input: embedded(kind), cond: left } }
        set[kind] = { $concatArrays: [kept, { $literal: adds }] }
      }
    }
    set.has_overflow = Object.values(levels).some((count) => count > 0) ? true : '$$REMOVE'
    const postId = toObjectId(id)
    await posts.updateOne({ _id: postId, author }, [{ $set: set }], { session: tx.session })
    const bulk = changes.flatMap(({ kind, levels: touched }) => levelWrites(postId, kind, touched))
    if (bulk.length > 0) await overflow.bulkWrite(bulk, { session: tx.session })
  }
}

const keyOf = ({ author, id }: PostRef) => `${author}/${id}`

interface Waiting extends Timed {
  readonly post: PostRef
  readonly write: ListWrite
  readonly idempotencyKey: IdempotencyKey | undefined
}

const outcomeOf = (
  first: { readonly result: ListResult } | DomainError | undefined,
): ListResult | Error | undefined => (first instanceof Error ? first : first?.result)

function apply(plan: ListPlan, { add, ...gone }: ListWrite): ListResult {
  if (add) {
    const there = plan.add(add)
    // An earlier try of this very write may have stored it.
    if (!there || there._id.equals(add._id)) return { changed: true, entry: add }
    return { changed: false, entry: there }
  }
  const entry = plan.remove(gone.remove as string, gone.only)
  return entry ? { changed: true, entry } : { changed: false }
}

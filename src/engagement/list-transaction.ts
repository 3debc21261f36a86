import type { Collections, PerKind } from '../db/collections.ts'
import { deadlineOf, type Timed, tooLate } from '../db/deadline.ts'
import { findRepeats, type IdempotencyKey, type IdempotencyStore } from '../db/idempotency.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { groupBy } from '../lib/batch.ts'
import { type PostRef, timeOf } from '../lib/ids.ts'
import { noPost } from './admission.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import type { ListLimits } from './list-limits.ts'
import { type ListChange, ListPlan, type ListResult, type ListWrite } from './list-plan.ts'
import { arrayIn, levelWrites, readState } from './list-store.ts'

/** A write to a list of a post, on its way to its commit. */
export interface QueuedWrite extends Timed {
  readonly post: PostRef
  readonly write: ListWrite
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** What the lists of a post are committed with. */
export interface ListTransactionParts {
  readonly collections: Pick<Collections, 'posts' | 'overflow'>
  readonly idempotency: IdempotencyStore
  readonly outbox: Outbox
  readonly limits: Readonly<Record<EngagementKind, ListLimits>>
}

/** Commits writes to the lists of one post in a transaction, wherever their entries stand. */
export class ListTransaction {
  constructor(private readonly parts: ListTransactionParts) {}

  /**
   * Commits a batch of writes to the lists of one post, in order, each as if it were alone: at most four commands, and
   * three more for each kind. @returns the answer of each, in order.
   * @param passesLevels whether a new level is numbered after every stored one: a command more for each kind.
   */
  async commit(
    tx: Tx,
    batch: readonly QueuedWrite[],
    passesLevels = false,
  ): Promise<(ListResult | Error)[]> {
    const { collections, limits } = this.parts
    const { post } = batch[0] as QueuedWrite
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
      const decide = () => attempt(plans.get(write.kind) as ListPlan, write)
      results.push(known(at, results) ?? (isPast ? tooLate() : decide()))
    }
    const changes = [...plans].flatMap(([kind, plan]) => {
      const change = plan.change()
      return change ? [{ kind, ...change }] : []
    })
    if (changes.length > 0) await this.store(tx, post, state.levels, changes)
    else if (fresh.some(({ only }) => only)) await this.lock(tx, post)
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

  /** Changes a post, so that the transaction collides with other writes to its lists. The change does not show. One command. */
  async lock(tx: Tx, { id, author }: PostRef): Promise<void> {
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
        const kept = { $filter: { input: arrayIn(kind), cond: left } }
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

const outcomeOf = (
  first: { readonly result: ListResult } | DomainError | undefined,
): ListResult | Error | undefined => (first instanceof Error ? first : first?.result)

/** An error is that of this write alone. */
function attempt(plan: ListPlan, write: ListWrite): ListResult | Error {
  try {
    return apply(plan, write)
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

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

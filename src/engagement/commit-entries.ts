import { LRUCache } from 'lru-cache'
import type { Collections, PostDoc } from '../db/collections.ts'
import { deadlineOf, tooLate } from '../db/deadline.ts'
import { findRepeats, type IdempotencyKey, type IdempotencyStore } from '../db/idempotency.ts'
import type { AnyBulkWriteOperation } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { type EngagementId, type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import { noAccount } from '../users/stats.ts'
import type { PostAdmission } from '../visibility/visibility.ts'
import { type EngagementKind, engagementKinds, kinds } from './kinds.ts'
import type { ListLimits } from './list-limits.ts'
import { type ListChange, ListPlan, type ListResult, type NewEntry } from './list-plan.ts'
import {
  arrayIn,
  levelWrites,
  type PostState,
  type PostWrite,
  postKey,
  readStates,
} from './list-store.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** A write to a list of a post. */
export interface EntryWrite extends PostWrite {
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** Whether memory has admitted an add. A later block is concurrent with it. */
export type Admitted = Pick<WeakSet<EntryWrite>, 'has'>

/** How a batch of writes is committed. */
export interface BatchOptions {
  /** The adds that memory has admitted: see {@link admitByMemory}. */
  readonly admitted: Admitted
  /** Whether damage has stopped the batch: see {@link readStates}. */
  readonly repairs: boolean
}

/** An add or a removal that changed something, with the entry that it was about. */
export interface MadeWrite extends EntryWrite {
  readonly result: ListResult
}

/** What entries are committed with. */
export interface EntryParts {
  readonly collections: Pick<Collections, 'posts' | 'overflow'>
  readonly idempotency: IdempotencyStore
  readonly outbox: Outbox
  readonly limits: Readonly<Record<EngagementKind, ListLimits>>
  readonly userIndex: UserEngagementIndex
  readonly admission: PostAdmission
  /** The lists that this process has seen in overflow, by {@link listKey}. */
  readonly overflowing: LRUCache<string, true>
}

/** Remembers 10,000 lists: about 2 MB. */
export const createOverflowing = (): EntryParts['overflowing'] => new LRUCache({ max: 10_000 })

type PostUpdate = AnyBulkWriteOperation<PostDoc>

/** The plans of one post's lists. */
interface PostPlans extends Omit<PostState, 'lists'> {
  readonly lists: ReadonlyMap<EngagementKind, ListPlan>
}

/**
 * The outlier pattern, the same for every kind: entries stand in their post up to a threshold, then
 * in overflow documents of a fixed capacity, level after level. No document grows with popularity.
 * Applies writes to the lists of posts in the caller's transaction, in order, each as if it were
 * alone. Entry, count, by-user entry, jobs and the result under the idempotency key change
 * together.
 * @returns the answer of each. NOT_FOUND without an account or such a post, or when a block hides
 * it. Cost, whatever the number of writes: the blocks, the accounts, the posts, their update and
 * the by-user entries. Five commands for removals of any list in overflow and adds more: see
 * {@link readStates}. Three more with idempotency keys, one if a feature reacts.
 * @see laws L2 and L5
 */
export async function commitEntries(
  tx: Tx,
  parts: EntryParts,
  writes: readonly EntryWrite[],
  { admitted, repairs }: BatchOptions,
): Promise<readonly (ListResult | Error)[]> {
  const { collections, idempotency, limits } = parts
  const keys = writes.map(({ idempotencyKey }) => idempotencyKey)
  const firsts = await idempotency.savedResults<ListResult>(keys, tx)
  const repeats = findRepeats(keys)
  const fresh = writes.filter((_, at) => firsts[at] === undefined && repeats[at] === undefined)
  const undecided = fresh.filter((write) => !admitted.has(write))
  const refusals = await refusalsOf(tx, parts, undecided)
  const allowed = fresh.filter((write) => !refusals.has(write))
  const states = await readStates(tx, collections, allowed, repairs)
  for (const { post, levels } of states.values())
    for (const kind of engagementKinds)
      if (levels[kind]) parts.overflowing.set(listKey({ post, kind }), true)
  const plans = new Map([...states].map(([key, state]) => [key, planOf(state, limits)]))
  const answers: (ListResult | Error)[] = []
  const decided: MadeWrite[] = []
  for (const [at, write] of writes.entries()) {
    const [first, repeated] = [firsts[at], repeats[at]]
    const earlier =
      (first instanceof Error ? first : first?.result) ??
      (typeof repeated === 'number' ? answers[repeated] : repeated)
    const answer = earlier ?? refusals.get(write) ?? decide(plans.get(postKey(write.post)), write)
    answers.push(answer)
    if (!earlier && !(answer instanceof Error)) decided.push({ ...write, result: answer })
  }
  await store(tx, parts, [...plans.values()], decided)
  return answers
}

/**
 * Changes a post, so that the transaction collides with other writes to its lists. The change does
 * not show. One command.
 */
export async function lockPost(
  tx: Tx,
  { posts }: Pick<Collections, 'posts'>,
  post: PostRef,
): Promise<void> {
  await posts.bulkWrite([lockOf(post)], { session: tx.session })
}

/** The key of a list in {@link EntryParts.overflowing}. */
export const listKey = ({ post, kind }: { post: PostRef; kind: EngagementKind }): string =>
  `${kind}/${postKey(post)}`

/**
 * The adds that memory admits, so that the transaction need not decide about them. The cost of
 * {@link PostAdmission.admitByMemory}.
 */
export async function admitByMemory(
  { admission }: Pick<EntryParts, 'admission'>,
  writes: readonly EntryWrite[],
): Promise<readonly EntryWrite[]> {
  const adds = addsAmong(writes)
  const admitted = await admission.admitByMemory(adds)
  return adds.flatMap(({ write }, at) => (admitted[at] ? [write] : []))
}

/** Why adds are refused. The cost of {@link PostAdmission.decide}. */
async function refusalsOf(
  tx: Tx,
  { admission }: EntryParts,
  writes: readonly EntryWrite[],
): Promise<Map<EntryWrite, DomainError>> {
  const adds = addsAmong(writes)
  const decide = await admission.decide(tx, adds)
  return new Map(
    adds.flatMap(({ write, ...pair }) => {
      const admitted = decide(pair)
      if (admitted === 'YES') return []
      return [[write, admitted === 'NO' ? noPost() : noAccount()] as const]
    }),
  )
}

/** The adds, each with who engages with whose post. */
const addsAmong = (writes: readonly EntryWrite[]) =>
  writes.flatMap((write) => {
    const viewer = write.write.add?.actor
    return viewer === undefined ? [] : [{ write, viewer: viewer as UserId, post: write.post }]
  })

const planOf = ({ lists, ...state }: PostState, limits: EntryParts['limits']): PostPlans => ({
  ...state,
  lists: new Map(
    [...lists].map(([kind, list]) => [kind, new ListPlan(kinds[kind], limits[kind], list)]),
  ),
})

/** An error is that of this write alone. */
function decide(plans: PostPlans | undefined, { write }: EntryWrite): ListResult | Error {
  const plan = plans?.lists.get(write.kind)
  if (!plans || !plan) return noPost()
  const { add, remove, only } = write
  if (add && plans.now >= deadlineOf(timeOf(fromObjectId(add._id)).getTime())) return tooLate()
  try {
    if (add) {
      const stored = plan.add(add)
      return stored ? { changed: false, entry: stored } : { changed: true, entry: add }
    }
    const entry = plan.remove(remove, only)
    return entry ? { changed: true, entry } : { changed: false }
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

async function store(
  tx: Tx,
  parts: EntryParts,
  plans: readonly PostPlans[],
  decided: readonly MadeWrite[],
): Promise<void> {
  const { session } = tx
  const { idempotency } = parts
  const { posts, overflow } = parts.collections
  const changes = plans.flatMap(({ post, levels, lists }) => {
    const changed = [...lists].flatMap(([kind, plan]) => {
      const change = plan.change()
      return change ? [{ kind, ...change }] : []
    })
    return changed.length > 0 ? [{ post, levels, changed }] : []
  })
  const updated = new Set(changes.map(({ post }) => postKey(post)))
  const locks = decided.filter(({ post, write }) => write.only && !updated.has(postKey(post)))
  const updates = [...changes.map(updateOf), ...locks.map(({ post }) => lockOf(post))]
  if (updates.length > 0) await posts.bulkWrite(updates, { session })
  const leveled = changes.flatMap(({ post, changed }) =>
    changed.flatMap(({ kind, levels }) => levelWrites(toObjectId(post.id), kind, levels)),
  )
  if (leveled.length > 0) await overflow.bulkWrite(leveled, { session })
  await storeBesideLists(
    tx,
    parts,
    decided.filter(({ result }) => result.changed),
  )
  await idempotency.saveResults(resultsOf(decided), tx)
}

/**
 * Writes what belongs to changes of lists in the caller's transaction: the entries by user, and
 * jobs. One command for adds, one for removals, and one if a feature reacts.
 */
export async function storeBesideLists(
  tx: Tx,
  { outbox, userIndex }: Pick<EntryParts, 'outbox' | 'userIndex'>,
  made: readonly MadeWrite[],
): Promise<void> {
  const [adds, removes] = [true, false].map((isAdd) =>
    made.filter(({ write }) => (write.add !== undefined) === isAdd).map(byUserEntry),
  ) as [UserEngagement[], UserEngagement[]]
  await userIndex.write(tx, adds, removes)
  const jobs = adds.flatMap(({ id, user, kind, post }) =>
    outbox.reactionsTo(`${kinds[kind].noun}.added`, {
      author: post.author,
      post: post.id,
      user,
      entry: id,
    }),
  )
  await outbox.enqueue(tx, jobs)
}

/** The results to save, of writes with idempotency keys. */
export const resultsOf = (writes: readonly MadeWrite[]) =>
  writes.flatMap(({ idempotencyKey: key, result }) => (key ? [{ key, result }] : []))

function byUserEntry({ post, write: { kind }, result }: MadeWrite): UserEngagement {
  const { _id, actor } = result.entry as NewEntry
  return { id: fromObjectId<EngagementId>(_id), user: actor as UserId, kind, post }
}

function updateOf({
  post: { id, author },
  levels: before,
  changed,
}: Pick<PostState, 'post' | 'levels'> & {
  readonly changed: readonly (ListChange & { readonly kind: EngagementKind })[]
}): PostUpdate {
  const levels: Partial<Record<EngagementKind, number>> = { ...before }
  const set: Record<string, unknown> = {}
  for (const { kind, adds, removes, countDelta, last, levelsDelta } of changed) {
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
  return { updateOne: { filter: { _id: toObjectId(id), author }, update: [{ $set: set }] } }
}

const lockOf = ({ id, author }: PostRef): PostUpdate => ({
  updateOne: { filter: { _id: toObjectId(id), author }, update: { $inc: { guard: 1 } } },
})

/** The answer when the post does not exist, or the viewer may not see it. */
const noPost = (): DomainError => new DomainError('NOT_FOUND', 'The post does not exist')

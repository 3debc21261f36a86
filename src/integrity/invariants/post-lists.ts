import type { Collections, OverflowDoc, PostDoc } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { fromObjectId, lowestId, toObjectId } from '../../db/object-id.ts'
import { malformed, wellFormed } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { type EngagementKind, engagementKinds } from '../../engagement/kinds.ts'
import { arrayIn } from '../../engagement/list-store.ts'
import { orphanedKind } from '../../engagement/orphaned.ts'
import { type EngagementId, neighbour } from '../../lib/ids.ts'
import { walk } from '../inspect.ts'
import type { Check, Invariant, Run, Verdict, Violation } from '../invariant.ts'
import { countersOf, type Difference, differenceOf } from '../ledger.ts'
import {
  deriveMetadata,
  type ListRef,
  lockPosts,
  placeOf,
  placesIn,
  readParts,
  writePart,
} from '../list-documents.ts'
import { postRanges } from '../ranges.ts'
import { findingOf, uncertain } from '../report.ts'

const invariant = { name: 'post-lists', law: 'L2' } as const

/** The most entries of one list that a transaction sorts. */
const reorderMax = 10_000

/** Facts about the entries in one document, computed by the server. */
interface ListFacts {
  readonly size: number
  /** The places of the first and the last entry. */
  readonly low?: ObjectId
  readonly high?: ObjectId
  /** Whether places rise from each to the next. */
  readonly rising: boolean
}

/** The metadata of a post, and facts about its embedded lists. */
type PostFacts = Pick<
  PostDoc,
  '_id' | 'author' | 'counts' | 'last' | 'levels' | 'has_overflow' | 'repairs'
> & { readonly facts: Readonly<Record<EngagementKind, ListFacts>> }
type LevelFacts = Pick<OverflowDoc, '_id' | 'count' | 'first'> & { readonly facts: ListFacts }

interface Problem {
  readonly kind: 'level' | 'order'
  readonly expected: string
  readonly found: string
}

/** What the documents of a list hold, from the newest level to the post. */
interface ListState {
  levels: number
  size: number
  /** The highest place of an entry. */
  high: ObjectId | undefined
  /** The level that was added last. */
  above: { readonly level: number; readonly first: ObjectId } | undefined
  /** The first problem of each kind. */
  readonly problems: Map<Problem['kind'], Problem>
}

/** A post, and its lists. */
interface PostState extends PostFacts {
  readonly lists: Readonly<Record<EngagementKind, ListState>>
}

interface ListViolation extends Violation {
  readonly post: ObjectId
  /** Undefined: the post does not exist. */
  readonly author: string | undefined
}

/**
 * Law L2: the counts, levels, flag and `last` of a post agree with its stored entries, and places
 * rise from the post through the levels. So a walk by cursor, which relies on the order of places,
 * returns exactly the stored entries. Entries that were placed under other thresholds are allowed.
 * Likes, comments and shares of a deleted post have a job that deletes them. The range is a
 * condition on a post's id. A scan is three commands, a check five. A repair is ten for each post,
 * and one for each document of an unsorted list.
 */
export const postLists = (run: Run): Invariant<ObjectId, ListViolation> => ({
  ...invariant,
  ranges: postRanges(run),
  async *scan(ids) {
    const { posts, orphans } = await loadPosts(run.collections, ids)
    const { checked } = run.report
    for (const post of posts) {
      checked.posts++
      for (const { size } of Object.values(post.lists)) checked.engagements += size
      if (violationsOf(post).length > 0) yield post._id
    }
    yield* orphans
  },
  async check(ids, at): Promise<Verdict<ListViolation>> {
    const { posts, orphans } = await loadPosts(run.collections, { $in: [...ids] }, at)
    const of = { $in: orphans.map((id) => id.toHexString()) }
    const jobs = run.collections.outbox.find({ kind: orphanedKind, 'payload.post': of }, { ...at })
    const clearing = new Set((await jobs.toArray()).map(({ payload }) => payload.post))
    const lost = orphans.filter((post) => !clearing.has(post.toHexString()))
    const remains = lost.map((post) => ({
      ...{ post, author: undefined },
      finding: findingOf(invariant, {
        ...{ kind: 'remains', subject: post.toHexString(), found: 'overflow without a post' },
        expected: 'a job that clears what a deleted post left',
        ...(run.malformed.has('posts') ? uncertain : {}),
      }),
    }))
    const inFlight = orphans.length - lost.length
    return { violations: [...posts.flatMap(violationsOf), ...remains], inFlight }
  },
  lock: (tx, ids) => lockPosts(run.collections, tx, ids),
  async repair(tx, violations) {
    const { collections, outbox } = run
    const posts = new Map(violations.map((one) => [one.post.toHexString(), one]))
    const lost = [...posts].filter(([, { author }]) => author === undefined).map(([id]) => id)
    await outbox.enqueue(
      tx,
      lost.map((post) => ({ kind: orphanedKind, payload: { post } })),
    )
    for (const { post: _id, author } of posts.values()) {
      if (author === undefined) continue
      await deriveMetadata(collections, { _id, author }, tx)
      const [post] = (await loadPosts(collections, { $in: [_id] }, tx)).posts
      const unsorted = engagementKinds.filter((kind) => post && orderProblem(post, kind))
      for (const kind of unsorted) await reorder(collections, { post: { _id, author }, kind }, tx)
      if (unsorted.length > 0) await deriveMetadata(collections, { _id, author }, tx)
    }
  },
})

export const checkPostLists: Check = walk(postLists)

/**
 * Loads posts with facts about their lists. Passes over posts of which a document has another
 * shape. Holds one level at a time. Three commands, and one more for orphans.
 * @param ids a condition on the id of a post.
 * @returns also the ids of posts that do not exist, and have overflow documents.
 */
async function loadPosts(
  { posts, overflow }: Pick<Collections, 'posts' | 'overflow'>,
  ids: object,
  at?: Tx,
): Promise<{ readonly posts: readonly PostState[]; readonly orphans: readonly ObjectId[] }> {
  const facts = Object.fromEntries(engagementKinds.map((kind) => [kind, factsOf(arrayIn(kind))]))
  const fields = { author: 1, counts: 1, last: 1, levels: 1, has_overflow: 1, repairs: 1, facts }
  const own = posts.aggregate<PostFacts>(
    [{ $match: { _id: ids, ...wellFormed('posts') } }, { $sort: { _id: 1 } }, { $project: fields }],
    { ...at },
  )
  const states = new Map<string, PostState>()
  for await (const post of own) {
    const lists = Object.fromEntries(engagementKinds.map((kind) => [kind, emptyList()]))
    states.set(post._id.toHexString(), { ...post, lists: lists as PostState['lists'] })
  }
  const levels = overflow.aggregate<LevelFacts>(
    [
      { $match: { '_id.post': ids, ...wellFormed('overflow') } },
      { $sort: { '_id.post': 1, '_id.kind': 1, first: -1 } },
      { $project: { count: 1, first: 1, facts: factsOf('$items') } },
    ],
    { ...at },
  )
  const orphans = new Map<string, ObjectId>()
  for await (const level of levels) {
    const { post, kind } = level._id
    const state = states.get(post.toHexString())
    if (state) addDocument(state.lists[kind], level.facts, level)
    else orphans.set(post.toHexString(), post)
  }
  for (const { lists, facts } of states.values()) {
    for (const kind of engagementKinds) addDocument(lists[kind], facts[kind])
  }
  const unread = overflow.find(
    { '_id.post': ids, ...malformed('overflow') },
    { ...at, projection: { _id: 1 } },
  )
  for await (const { _id } of unread) states.delete(String(_id.post))
  const among = { _id: { $in: [...orphans.values()] } }
  for (const { _id } of orphans.size > 0 ? await posts.find(among, { ...at }).toArray() : []) {
    orphans.delete(_id.toHexString())
  }
  return { posts: [...states.values()], orphans: [...orphans.values()] }
}

function factsOf(list: unknown) {
  const places = placesIn(list)
  const sorted = { $sortArray: { input: { $setUnion: [places] }, sortBy: 1 } }
  return {
    ...{ size: { $size: list }, low: { $first: places }, high: { $last: places } },
    rising: { $eq: [places, sorted] },
  }
}

const emptyList = (): ListState => ({
  ...{ levels: 0, size: 0, high: undefined, above: undefined, problems: new Map() },
})

const below = (a: ObjectId, b: ObjectId): boolean => a.toHexString() < b.toHexString()

/** Adds the next lower level of a list, or at last the post. */
function addDocument(
  list: ListState,
  { size, low, high, rising }: ListFacts,
  level?: LevelFacts,
): void {
  const name = level ? `level ${level._id.level}` : 'the post'
  const claim = (holds: boolean, kind: Problem['kind'], expected: string, found: string) => {
    if (!holds && !list.problems.has(kind)) list.problems.set(kind, { kind, expected, found })
  }
  claim(rising, 'order', 'places that rise', `${name} holds one not above the one before it`)
  const { above } = list
  const isBelow = !above || !high || below(high, above.first)
  claim(isBelow, 'order', `places below ${above?.first}`, `${name} holds ${high}`)
  list.size += size
  list.high ??= high
  if (!level) return
  const { _id, first, count } = level
  claim(!low || !below(low, first), 'order', `${name} from ${first} on`, `it holds ${low}`)
  const isLower = !above || _id.level < above.level
  claim(isLower, 'order', 'levels that rise with their places', name)
  claim(count === size, 'level', `${size} entries in ${name}`, `it counts ${count}`)
  claim(size > 0, 'level', 'no level without entries', `${name} has none`)
  list.levels++
  list.above = { level: _id.level, first }
}

/** The first problem with the order of a list, which includes that no place is above `last`. */
function orderProblem({ last, lists }: PostState, kind: EngagementKind): Problem | undefined {
  const [{ high, problems }, stored] = [lists[kind], last?.[kind]]
  if (problems.has('order') || !high || (stored && !below(stored, high)))
    return problems.get('order')
  return { kind: 'order', expected: `no place above ${stored ?? 'none'}`, found: `${high}` }
}

function differenceIn({ _id, author, repairs = 0, counts, lists }: PostState) {
  return differenceOf(
    { kind: 'POST', id: _id.toHexString(), author, repairs },
    engagementKinds.map((kind) => [kind, counts?.[kind] ?? 0, lists[kind].size]),
  )
}

function violationsOf(post: PostState): ListViolation[] {
  const { _id, author, lists } = post
  const id = _id.toHexString()
  const violations: ListViolation[] = []
  const add = (
    discrepancy: Parameters<typeof findingOf>[1],
    difference?: Difference | undefined,
  ) => {
    const finding = findingOf(invariant, discrepancy)
    violations.push({ post: _id, author, finding, ...(difference ? { difference } : {}) })
  }
  for (const kind of engagementKinds) {
    const [subject, { levels, size, problems }] = [`${id}.${kind}`, lists[kind]]
    const stored = post.levels?.[kind] ?? 0
    if (stored !== levels) add({ kind: 'levels', subject, expected: levels, found: stored })
    const level = problems.get('level')
    if (level) add({ ...level, subject })
    const order = orderProblem(post, kind)
    const reason = `The list has more than ${reorderMax} entries.`
    if (order) add({ ...order, subject, ...(size > reorderMax ? { unrepairable: reason } : {}) })
  }
  const expected = String(Object.values(lists).some(({ levels }) => levels > 0))
  const found = String(post.has_overflow ?? false)
  if (expected !== found) add({ kind: 'has_overflow', subject: id, expected, found })
  const difference = differenceIn(post)
  for (const { name, ...numbers } of difference ? countersOf(difference) : []) {
    add({ kind: 'counts', subject: `${id}.${name}`, ...numbers }, difference)
  }
  return violations
}

/** Sorts the entries of a list across its documents. Each document keeps its number of entries. */
async function reorder(collections: Collections, list: ListRef, tx: Tx): Promise<void> {
  const parts = await readParts(collections, list, tx)
  const entries = parts
    .flatMap(({ items }) => items)
    .sort((a, b) => (below(placeOf(a), placeOf(b)) ? -1 : 1))
  let last = fromObjectId<EngagementId>(lowestId)
  const sorted = entries.map((entry) => {
    const place = fromObjectId<EngagementId>(placeOf(entry))
    last = place > last ? place : neighbour(last, 1)
    return last === place ? entry : { ...entry, place: toObjectId(last) }
  })
  for (const { level, items } of parts) {
    await writePart(collections, list, tx, { level, items: sorted.splice(0, items.length) })
  }
}

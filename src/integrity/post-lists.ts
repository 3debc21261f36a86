import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import { malformed, wellFormed } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import { type EngagementKind, engagementKinds, kinds } from '../engagement/kinds.ts'
import { arrayIn } from '../engagement/list-store.ts'
import type { Discrepancy } from './invariant.ts'
import { type Difference, differenceOf } from './ledger.ts'

/** Facts about the entries in one document, computed by the server. */
interface ListFacts {
  readonly size: number
  /** The places of the first and the last entry. */
  readonly low?: ObjectId
  readonly high?: ObjectId
  /** Whether places rise from each to the next. */
  readonly rising: boolean
  /** Whether an actor, or for comments an id, occurs more than once. */
  readonly repeats: boolean
}

/** The metadata of a post, and facts about its embedded lists. */
export type PostFacts = Pick<
  PostDoc,
  '_id' | 'author' | 'counts' | 'last' | 'levels' | 'has_overflow' | 'repairs'
> & {
  readonly facts: Readonly<Record<EngagementKind, ListFacts>>
}
type LevelFacts = Pick<OverflowDoc, '_id' | 'count' | 'first'> & { readonly facts: ListFacts }

/** Facts about all overflow documents of a list. */
interface OverflowFacts {
  readonly levels: number
  /** The lowest level. */
  readonly lowest: number
  /** The number of entries. */
  readonly size: number
  /** The first place of the lowest level. */
  readonly first: ObjectId
  /** The highest place of an entry. */
  readonly high: ObjectId | undefined
  /** The first problem of each kind. */
  readonly problems: ReadonlyMap<string, Problem>
}

interface Problem {
  readonly expected: string | number
  readonly found: string | number
  readonly unrepairable?: string
}

/** Posts, with facts about their lists. */
export class PostLists {
  private constructor(
    private found: readonly PostFacts[],
    private readonly beyond: Map<string, OverflowFacts>,
  ) {}

  /** The posts whose documents, with their overflow documents, have the right shapes. */
  get posts(): readonly PostFacts[] {
    return this.found
  }

  /** Loads the matching posts without their overflow documents. One command. The size of its answer is bounded. */
  static async load(
    posts: Collections['posts'],
    filter: object,
    { limit, tx }: { readonly limit?: number; readonly tx?: Tx } = {},
  ): Promise<PostLists> {
    const facts = engagementKinds.map((kind) => [kind, factsOf(arrayIn(kind), kinds[kind].key)])
    const found = posts.aggregate<PostFacts>(
      [
        { $match: { ...filter, ...wellFormed('posts') } },
        { $sort: { _id: 1 } },
        ...(limit === undefined ? [] : [{ $limit: limit }]),
        {
          $project: {
            author: 1,
            counts: 1,
            last: 1,
            levels: 1,
            has_overflow: 1,
            repairs: 1,
            facts: Object.fromEntries(facts),
          },
        },
      ],
      { ...tx },
    )
    return new PostLists(await found.toArray(), new Map())
  }

  /**
   * Adds the overflow documents whose posts match. Holds one document's facts at a time. Two commands.
   * @returns the posts of all other overflow documents in the range, each once.
   */
  async *addOverflow(
    overflow: Collections['overflow'],
    ids: object,
    tx?: Tx,
  ): AsyncGenerator<ObjectId> {
    const unread = await overflow
      .find({ '_id.post': ids, ...malformed('overflow') }, { ...tx, projection: { _id: 1 } })
      .toArray()
    const own = new Set(this.posts.map(({ _id }) => _id.toHexString()))
    const without = new Set(unread.map(({ _id }) => String(_id.post)))
    this.found = this.found.filter(({ _id }) => !without.has(_id.toHexString()))
    const levels = overflow.aggregate<LevelFacts>(
      [
        { $match: { '_id.post': ids, ...wellFormed('overflow') } },
        { $sort: { '_id.post': 1, '_id.kind': 1, first: -1 } },
        { $project: { count: 1, first: 1, facts: factsOf('$items', '_id') } },
      ],
      { ...tx },
    )
    let missing: ObjectId | undefined
    for await (const level of levels) {
      const { post, kind } = level._id
      if (own.has(post.toHexString())) {
        const key = keyOf(post, kind)
        this.beyond.set(key, withLevel(this.beyond.get(key), level))
      } else if (!missing?.equals(post)) {
        missing = post
        yield post
      }
    }
  }

  /** The number of entries in all lists. */
  get size(): number {
    const inPosts = this.posts.flatMap((post) =>
      engagementKinds.map((kind) => post.facts[kind].size),
    )
    const beyond = [...this.beyond.values()].map(({ size }) => size)
    return [...inPosts, ...beyond].reduce((sum, size) => sum + size, 0)
  }

  /** The lists of a post that may hold an entry twice: lists with a repeat in the post, and lists that overflow. */
  kindsThatMayRepeat(post: PostFacts): EngagementKind[] {
    return engagementKinds.filter(
      (kind) => post.facts[kind].repeats || this.beyond.has(keyOf(post._id, kind)),
    )
  }

  /** The difference of a post's counts from its stored entries. Undefined if they are equal. */
  difference({ _id, author, repairs = 0, counts, facts }: PostFacts): Difference | undefined {
    return differenceOf(
      { kind: 'POST', id: _id.toHexString(), author, repairs },
      engagementKinds.map((kind) => {
        const stored = facts[kind].size + (this.beyond.get(keyOf(_id, kind))?.size ?? 0)
        return [kind, counts?.[kind] ?? 0, stored]
      }),
    )
  }

  /**
   * The violations of law L2 in the structure of a post's lists. Without a violation, a walk by cursor returns exactly
   * the stored entries, since it relies on the order of places. Entries that were placed under other thresholds are
   * allowed.
   * @param sizeMax the most entries of a list that a repair can sort.
   */
  problems(post: PostFacts, sizeMax: number): Discrepancy[] {
    const id = post._id.toHexString()
    const found: Discrepancy[] = []
    const claim = (holds: boolean, kind: string, subject: string, problem: Problem) =>
      void (holds || found.push({ kind, subject, ...problem }))
    let levels = 0
    for (const kind of engagementKinds) {
      const subject = `${id}.${kind}`
      const beyond = this.beyond.get(keyOf(post._id, kind))
      const [size, number] = [post.facts[kind].size + (beyond?.size ?? 0), beyond?.levels ?? 0]
      levels += number
      const stored = post.levels?.[kind] ?? 0
      claim(stored === number, 'levels', subject, { expected: number, found: stored })
      const order =
        beyond?.problems.get('order') ?? orderProblem(post.facts[kind], beyond, post.last?.[kind])
      const level = beyond?.problems.get('level')
      if (level) claim(false, 'level', subject, level)
      const tooLong = { unrepairable: `The list has more than ${sizeMax} entries.` }
      if (order) claim(false, 'order', subject, { ...order, ...(size > sizeMax ? tooLong : {}) })
    }
    const [expected, flag] = [String(levels > 0), String(post.has_overflow ?? false)]
    claim(expected === flag, 'has_overflow', id, { expected, found: flag })
    return found
  }
}

const keyOf = (post: ObjectId, kind: EngagementKind) => `${post.toHexString()} ${kind}`

function factsOf(list: unknown, key: string) {
  const places = { $map: { input: list, in: { $ifNull: ['$$this.place', '$$this._id'] } } }
  const sorted = { $sortArray: { input: { $setUnion: [places] }, sortBy: 1 } }
  return {
    size: { $size: list },
    low: { $first: places },
    high: { $last: places },
    rising: { $eq: [places, sorted] },
    repeats: {
      $ne: [
        { $size: list },
        { $size: { $setUnion: [{ $map: { input: list, in: `$$this.${key}` } }] } },
      ],
    },
  }
}

/** Adds the next lower level of a list. */
function withLevel(
  newer: OverflowFacts | undefined,
  { _id, count, first, facts }: LevelFacts,
): OverflowFacts {
  const { size, low, high, rising } = facts
  const problems = new Map(newer?.problems)
  const claim = (holds: boolean, kind: string, expected: Problem['expected'], found: string) =>
    void (holds || problems.has(kind) || problems.set(kind, { expected, found }))
  const name = `level ${_id.level}`

  claim(count === size, 'level', `${size} entries in ${name}`, `it counts ${count}`)
  claim(size > 0, 'level', 'no level without entries', `${name} has none`)
  claim(rising, 'order', 'places that rise', `${name} holds a place not above the one before it`)
  claim(!low || !below(low, first), 'order', `${name} from ${first} on`, `it holds ${low}`)
  claim(
    !newer || !high || below(high, newer.first),
    'order',
    `${name} below ${newer?.first}`,
    `it holds ${high}`,
  )
  claim(!newer || _id.level < newer.lowest, 'order', 'levels that rise with their places', name)
  return {
    levels: (newer?.levels ?? 0) + 1,
    lowest: _id.level,
    size: (newer?.size ?? 0) + size,
    first,
    high: newer?.high ?? high,
    problems,
  }
}

/** The first problem with the places of the embedded entries, which are below the places of all levels. */
function orderProblem(
  { high, rising }: ListFacts,
  beyond: OverflowFacts | undefined,
  last: ObjectId | undefined,
): Problem | undefined {
  const latest = beyond?.high ?? high
  if (!rising) {
    return { expected: 'places that rise', found: 'the post holds one not above the one before it' }
  }
  if (high && beyond && !below(high, beyond.first)) {
    return { expected: `places below ${beyond.first}`, found: `the post holds ${high}` }
  }
  if (latest && (!last || below(last, latest))) {
    return { expected: `no place above ${last ?? 'none'}`, found: `${latest}` }
  }
  return undefined
}

const below = (a: ObjectId, b: ObjectId): boolean => a.toHexString() < b.toHexString()

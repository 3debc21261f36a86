import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { type EngagementKind, engagementKinds, kinds } from '../engagement/kinds.ts'
import { embedded } from '../engagement/list-store.ts'
import type { Discrepancy } from './invariant.ts'
import { type Difference, differenceOf } from './ledger.ts'

/** What is known of the entries in one document, without them. */
interface Facts {
  readonly size: number
  /** The places of the first and the last. */
  readonly low?: ObjectId
  readonly high?: ObjectId
  /** Whether places rise from each to the next. */
  readonly rising: boolean
  /** Whether an actor, or for comments an id, occurs more than once. */
  readonly repeats: boolean
}

/** What is known of a post and of the lists within it. */
export type PostFacts = Pick<
  PostDoc,
  '_id' | 'author' | 'counts' | 'last' | 'levels' | 'has_overflow' | 'repairs'
> & {
  readonly facts: Readonly<Record<EngagementKind, Facts>>
}
type LevelFacts = Pick<OverflowDoc, '_id' | 'count' | 'first'> & { readonly facts: Facts }

/** The overflow documents of a list, summed up. */
interface Beyond {
  readonly levels: number
  /** The number of the earliest of them. */
  readonly lowest: number
  readonly size: number
  /** Where the earliest of them begins. */
  readonly first: ObjectId
  /** The latest place in any. */
  readonly high: ObjectId | undefined
  /** What is wrong with them: the first of each kind. */
  readonly wrong: ReadonlyMap<string, Wrong>
}

interface Wrong {
  readonly expected: string | number
  readonly found: string | number
  readonly unrepairable?: string
}

/** Posts with what is stored in their lists. */
export class PostLists {
  private constructor(
    readonly posts: readonly PostFacts[],
    private readonly beyond: Map<string, Beyond>,
  ) {}

  /** The posts that match, and nothing beyond them yet. One command, whose answer is small whatever they hold. */
  static async of(
    posts: Collections['posts'],
    filter: object,
    { limit, tx }: { readonly limit?: number; readonly tx?: Tx } = {},
  ): Promise<PostLists> {
    const facts = engagementKinds.map((kind) => [kind, factsOf(embedded(kind), kinds[kind].key)])
    const found = posts.aggregate<PostFacts>(
      [
        { $match: filter },
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
   * Adds the overflow documents whose posts match. One command; holds the facts of one at a time.
   * @returns the posts of overflow documents that belong to none of these posts, each once in a row.
   */
  async *take(overflow: Collections['overflow'], ids: object, tx?: Tx): AsyncGenerator<ObjectId> {
    const own = new Set(this.posts.map(({ _id }) => _id.toHexString()))
    const levels = overflow.aggregate<LevelFacts>(
      [
        { $match: { '_id.post': ids } },
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

  /** How many entries all of these lists hold. */
  get size(): number {
    const inPosts = this.posts.flatMap((post) =>
      engagementKinds.map((kind) => post.facts[kind].size),
    )
    const beyond = [...this.beyond.values()].map(({ size }) => size)
    return [...inPosts, ...beyond].reduce((sum, size) => sum + size, 0)
  }

  /** The lists of a post that may hold an entry twice: those that overflow, since no single document shows it. */
  mayRepeat(post: PostFacts): EngagementKind[] {
    return engagementKinds.filter(
      (kind) => post.facts[kind].repeats || this.beyond.has(keyOf(post._id, kind)),
    )
  }

  /** How far the counts of a post are from its stored entries. */
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
   * What law L2 does not allow of the structure of a post's lists. Without any, a walk by cursor, which relies on the
   * order of places, returns exactly the stored entries. Entries that were placed under other thresholds are allowed.
   * @param sizeMax entries of a list that a repair can put in order.
   */
  problems(post: PostFacts, sizeMax: number): Discrepancy[] {
    const id = post._id.toHexString()
    const found: Discrepancy[] = []
    const claim = (holds: boolean, kind: string, subject: string, wrong: Wrong) =>
      void (holds || found.push({ kind, subject, ...wrong }))
    let levels = 0
    for (const kind of engagementKinds) {
      const subject = `${id}.${kind}`
      const beyond = this.beyond.get(keyOf(post._id, kind))
      const [size, number] = [post.facts[kind].size + (beyond?.size ?? 0), beyond?.levels ?? 0]
      levels += number
      const said = post.levels?.[kind] ?? 0
      claim(said === number, 'levels', subject, { expected: number, found: said })
      const order =
        beyond?.wrong.get('order') ?? orderProblem(post.facts[kind], beyond, post.last?.[kind])
      const level = beyond?.wrong.get('level')
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

/** Adds a list's next level, from the newest on. */
function withLevel(newer: Beyond | undefined, { _id, count, first, facts }: LevelFacts): Beyond {
  const { size, low, high, rising } = facts
  const wrong = new Map(newer?.wrong)
  const claim = (holds: boolean, kind: string, expected: Wrong['expected'], found: string) =>
    void (holds || wrong.has(kind) || wrong.set(kind, { expected, found }))
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
    wrong,
  }
}

/** What is wrong with the places in the post, before those beyond. */
function orderProblem(
  { high, rising }: Facts,
  beyond: Beyond | undefined,
  last: ObjectId | undefined,
): Wrong | undefined {
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

import { type EngagementKind, engagementKinds } from '../config.ts'
import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { embedded } from '../engagement/stored.ts'
import type { Difference } from './run.ts'

/** What is known of the entries in one document, without them. */
interface Facts {
  readonly size: number
  /** The places of the first and the last. */
  readonly low?: ObjectId
  readonly high?: ObjectId
  /** Whether places rise from each to the next. */
  readonly rising: boolean
}

/** What is known of a post and of the lists within it. */
export type PostFacts = Pick<
  PostDoc,
  '_id' | 'author' | 'counts' | 'last' | 'levels' | 'has_overflow'
> & {
  readonly facts: Readonly<Record<EngagementKind, Facts>>
}
type LevelFacts = Pick<OverflowDoc, '_id' | 'count' | 'first'> & { readonly facts: Facts }

/** What the overflow documents of a list come to. */
interface Beyond {
  readonly levels: number
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
    { limit, tx }: { readonly limit: number; readonly tx?: Tx },
  ): Promise<PostLists> {
    const facts = engagementKinds.map((kind) => [kind, factsOf(embedded(kind))])
    const found = posts.aggregate<PostFacts>(
      [
        { $match: filter },
        { $sort: { _id: 1 } },
        { $limit: limit },
        {
          $project: {
            author: 1,
            counts: 1,
            last: 1,
            levels: 1,
            has_overflow: 1,
            facts: Object.fromEntries(facts),
          },
        },
      ],
      { ...tx },
    )
    return new PostLists(await found.toArray(), new Map())
  }

  /**
   * Takes in the overflow documents whose posts match. One command; holds one of them at a time.
   * @returns the posts of those that belong to none of these, each once in a row.
   */
  async *take(overflow: Collections['overflow'], ids: object, tx?: Tx): AsyncGenerator<ObjectId> {
    const own = new Set(this.posts.map(({ _id }) => _id.toHexString()))
    const levels = overflow.aggregate<LevelFacts>(
      [
        { $match: { '_id.post': ids } },
        { $sort: { '_id.post': 1, '_id.kind': 1, first: -1 } },
        { $project: { count: 1, first: 1, facts: factsOf('$items') } },
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

  /** Those of a post that hold more than one entry. */
  severalOf(post: PostFacts): EngagementKind[] {
    return engagementKinds.filter(
      (kind) => post.facts[kind].size + (this.beyond.get(keyOf(post._id, kind))?.size ?? 0) > 1,
    )
  }

  /**
   * What law L2 does not allow of a post's lists: then a walk by cursor, which relies on the order of places, gives
   * exactly what is stored and counted. What was put where under other thresholds stays allowed.
   */
  problems(post: PostFacts): Difference[] {
    const id = post._id.toHexString()
    const found: Difference[] = []
    const claim = (holds: boolean, kind: string, subject: string, wrong: Wrong) =>
      void (holds || found.push({ law: 'L2', kind, subject, ...wrong }))
    let levels = 0
    for (const kind of engagementKinds) {
      const subject = `${id}.${kind}`
      const beyond = this.beyond.get(keyOf(post._id, kind))
      const [size, number] = [post.facts[kind].size + (beyond?.size ?? 0), beyond?.levels ?? 0]
      levels += number
      const told = { counts: post.counts?.[kind] ?? 0, levels: post.levels?.[kind] ?? 0 }
      claim(told.counts === size, 'counts', subject, { expected: size, found: told.counts })
      claim(told.levels === number, 'levels', subject, { expected: number, found: told.levels })
      for (const [what, wrong] of beyond?.wrong ?? []) claim(false, what, subject, wrong)
      const order = orderProblem(post.facts[kind], beyond, post.last?.[kind])
      if (order) claim(beyond?.wrong.has('order') === true, 'order', subject, order)
    }
    const told = post.has_overflow ?? false
    const [expected, flag] = [String(levels > 0), String(told)]
    claim(expected === flag, 'has_overflow', id, { expected, found: flag })
    return found
  }
}

const keyOf = (post: ObjectId, kind: EngagementKind) => `${post.toHexString()} ${kind}`

function factsOf(list: unknown) {
  const places = { $map: { input: list, in: { $ifNull: ['$$this.place', '$$this._id'] } } }
  const sorted = { $sortArray: { input: { $setUnion: [places] }, sortBy: 1 } }
  return {
    size: { $size: list },
    low: { $first: places },
    high: { $last: places },
    rising: { $eq: [places, sorted] },
  }
}

/** Takes in a list's next level, from the newest on. */
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
  return {
    levels: (newer?.levels ?? 0) + 1,
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

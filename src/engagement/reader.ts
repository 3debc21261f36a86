import { singleBatch } from '../db/client.ts'
import type { Collections, EngagementDoc, FacetDoc, PostDoc } from '../db/collections.ts'
import { entryShapes } from '../db/collections.ts'
import type { Document, ObjectId } from '../db/mongo.ts'
import { fromObjectId, isObjectId, toObjectId } from '../db/object-id.ts'
import { conforms } from '../db/shape.ts'
import {
  type EngagementId,
  type PostId,
  type PostRef,
  type TimeId,
  timeOf,
  type UserId,
} from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import { type List, shownWithUser } from '../pages/pipeline.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import { among, arrayIn, storedKey } from './list-store.ts'

/** A like, comment or share. Where it is stored does not show. */
export interface Engagement {
  readonly kind: EngagementKind
  readonly post: PostRef
  readonly id: EngagementId
  /**
   * Its place in the list, what its cursor carries: its id, or a later one when others were
   * committed before it.
   */
  readonly place: EngagementId
  readonly actor: UserId
  /** Of a kind with text. */
  readonly text?: string | undefined
  /** Of the text. Undefined without one. */
  readonly facets?: readonly FacetDoc[] | undefined
  readonly createdAt: Date
  /** No client sees the entry, since its document is malformed. */
  readonly isMalformed?: true
}

/** Converts a stored entry. @throws {DomainError} NOT_FOUND if it has no id or place. */
export function toEngagement(
  kind: EngagementKind,
  post: PostRef,
  entry: EngagementDoc,
): Engagement {
  const { _id, place, actor, text, facets } = entry
  const id = fromObjectId<EngagementId>(_id)
  const own = {
    actor: actor as UserId,
    ...(text === undefined ? {} : { text }),
    ...(facets ? { facets } : {}),
    ...(conforms(entryShapes[kind], entry) ? {} : { isMalformed: true as const }),
  }
  return { kind, post, id, place: place ? fromObjectId(place) : id, createdAt: timeOf(id), ...own }
}

/**
 * Reads the lists of the outlier pattern, wherever their entries are stored.
 * @see https://www.mongodb.com/blog/post/building-with-patterns-the-outlier-pattern
 */
export class EngagementReader {
  constructor(private readonly collections: Pick<Collections, 'posts' | 'overflow'>) {}

  /**
   * The list of each post, newest first, without gaps or repeats along its cursors while others
   * write: entries never move, and places rise from the post through the levels. A read is two
   * commands, three from a newer bound, whatever the number of posts and the length of the lists. A
   * post that does not exist has an empty list.
   */
  list(kind: EngagementKind): List<PostRef, Engagement> {
    return {
      read: (posts, range, past) => this.range(kind, posts, { ...range, past, isFiltered: false }),
      placeOf: ({ place }) => place,
      ...shownWithUser('ENTRY', ({ actor }: Engagement) => actor),
    }
  }

  /**
   * Those entries of the posts' lists whose keys are among `keys`. At most two commands, whatever
   * their number and the lists' lengths; one while nothing overflows. All kinds have the same sort
   * of key.
   */
  async entries(
    names: readonly EngagementKind[],
    posts: readonly PostRef[],
    keys: readonly string[],
  ): Promise<Engagement[]> {
    const [first] = names
    if (!first || posts.length === 0) return []
    const stored = keys.map((key) => storedKey(first, key))
    const [key, ...more] = stored
    // One key is at most one entry, which MongoDB finds faster than it filters.
    const those = (list: unknown, kind: EngagementKind) =>
      more.length === 0 ? { $elemMatch: { [kinds[kind].key]: key } } : among(list, kind, stored)
    const about = Object.fromEntries(names.map((kind) => [kind, those(arrayIn(kind), kind)]))
    const docs = await this.collections.posts
      .find(mine(posts), { ...singleBatch, hint: { _id: 1 } })
      .project<Found>({ author: 1, has_overflow: 1, ...about })
      .toArray()
    const refs = new Map(docs.map(({ _id, author }) => [_id.toHexString(), toRef(_id, author)]))
    const inPosts = docs.flatMap((post) =>
      names.flatMap((kind) =>
        (post[kind] ?? []).flatMap((entry) =>
          isReadable(entry) ? [toEngagement(kind, toRef(post._id, post.author), entry)] : [],
        ),
      ),
    )
    const popular = docs.flatMap(({ _id, has_overflow }) => (has_overflow ? [_id] : []))
    if (popular.length === 0) return inPosts
    const beyond = await this.collections.overflow
      .find(
        {
          '_id.post': { $in: popular },
          '_id.kind': { $in: [...names] },
          [`items.${kinds[first].key}`]: { $in: stored },
        },
        { ...singleBatch, projection: { items: those(arrayIn('items'), first) } },
      )
      .toArray()
    return inPosts.concat(
      beyond.flatMap(({ _id: { post, kind }, items }) => {
        const ref = refs.get(post.toHexString())
        return ref
          ? (items ?? []).filter(isReadable).map((entry) => toEngagement(kind, ref, entry))
          : []
      }),
    )
  }

  /**
   * The entries of a range of each list, in the order it walks. As many commands again if one is
   * not readable.
   */
  private async range(
    kind: EngagementKind,
    posts: readonly PostRef[],
    range: Walk,
  ): Promise<Map<PostId, Engagement[]>> {
    const bounds = boundsOf(range)
    const [inPosts, straddling, levels] = await Promise.all([
      this.inPosts(kind, posts, range),
      bounds.above === undefined
        ? new Map<string, EngagementDoc[]>()
        : this.inLevels(kind, posts, range, { where: firstIs({ $lte: bounds.above }), only: 1 }),
      this.inLevels(kind, posts, range, {
        where: firstIs({ $lt: bounds.below, $gt: bounds.above }),
      }),
    ])
    const all = [...inPosts.values()].map(({ entries }) => entries)
    const read = [...all, ...straddling.values(), ...levels.values()].flat()
    if (!range.isFiltered && !read.every(isReadable))
      return this.range(kind, posts, { ...range, isFiltered: true })
    return new Map(
      posts.map((post) => {
        const here = inPosts.get(post.id)
        // Overflow outlives its post until it is cleared, and does not know a forged author.
        if (here?.author !== post.author) return [post.id, []]
        const beyond = [straddling, levels].map((part) => part.get(post.id) ?? [])
        const rising = [here.entries, ...beyond]
        const entries = (range.oldestFirst ? rising : rising.reverse()).flat().slice(0, range.limit)
        return [post.id, entries.map((entry) => toEngagement(kind, post, entry))]
      }),
    )
  }

  private async inPosts(kind: EngagementKind, posts: readonly PostRef[], range: Walk) {
    const docs = await this.collections.posts
      .find(mine(posts), { ...singleBatch, hint: { _id: 1 } })
      .project<{ _id: ObjectId; author: string; entries: EngagementDoc[] }>({
        author: 1,
        entries: withPast(range, walked(arrayIn(kind), range)),
      })
      .toArray()
    return new Map(docs.map((post) => [post._id.toHexString(), post]))
  }

  /** Of each post's levels that match, in walking order, the first entries in range. */
  private async inLevels(
    kind: EngagementKind,
    posts: readonly PostRef[],
    range: Walk,
    { where, only }: LevelFilter,
  ): Promise<Map<string, EngagementDoc[]>> {
    const { overflow } = this.collections
    const ids = posts.map(({ id }) => toObjectId(id))
    const rest = [
      { $sort: { first: range.oldestFirst && only === undefined ? 1 : -1 } },
      ...(only === undefined ? [] : [{ $limit: only }]),
      { $project: { _id: 0, entry: walked(arrayIn('items'), range) } },
      { $unwind: '$entry' },
      { $limit: range.limit },
    ]
    const [first, ...more] = ids
    if (first && more.length === 0 && !range.past) {
      const match = { $match: { '_id.post': first, '_id.kind': kind, ...where } }
      const entries = await overflow.aggregate<Row>([match, ...rest], singleBatch).toArray()
      return new Map([[first.toHexString(), entries.map(({ entry }) => entry)]])
    }
    const pastOf = (post: ObjectId) => range.past?.get(post.toHexString())
    const lists = await overflow.db
      .aggregate<{ post: ObjectId; entries: Row[] }>(
        [
          {
            $documents: ids.map((post) => {
              const past = pastOf(post)
              return { post, ...(past && { past: toObjectId(past) }) }
            }),
          },
          {
            $lookup: {
              from: overflow.collectionName,
              localField: 'post',
              foreignField: '_id.post',
              ...(range.past && { let: { past: '$past' } }),
              pipeline: [{ $match: { '_id.kind': kind, ...where } }, ...rest],
              as: 'entries',
            },
          },
        ],
        singleBatch,
      )
      .toArray()
    return new Map(
      lists.map(({ post, entries }) => [post.toHexString(), entries.map(({ entry }) => entry)]),
    )
  }
}

/** A range of the lists of posts. */
interface Walk extends Range {
  /**
   * By the id of each post, the place after which the range continues. Undefined: from its start.
   */
  readonly past?: ReadonlyMap<string, TimeId> | undefined
  /** Whether entries that are not readable are left out before the range is cut. */
  readonly isFiltered: boolean
}

/** Whether an entry has an id, a place and an actor. */
const isReadable = (entry: EngagementDoc | null): boolean =>
  isObjectId(entry?._id) && isObjectId(entry.place ?? entry._id) && typeof entry.actor === 'string'

/** An entry of a level. */
interface Row {
  readonly entry: EngagementDoc
}

/** Which levels of a list are read. */
interface LevelFilter {
  /** A condition on their `first`. */
  readonly where: Document
  /** How many at most, newest first; absent: all. */
  readonly only?: number
}

type Found = Pick<PostDoc, '_id' | 'author' | 'has_overflow' | EngagementKind>

const toRef = (id: ObjectId, author: string): PostRef => ({
  id: fromObjectId(id),
  author: author as UserId,
})

/**
 * A post is named by both parts of its key: one without the other would be somebody else's claim.
 */
const mine = (posts: readonly PostRef[]) => ({
  _id: { $in: posts.map(({ id }) => toObjectId(id)) },
  author: { $in: [...new Set(posts.map(({ author }) => author))] },
})

/** The variable with the place after which the list of one post continues. */
const ownPast = '$$past'
type Bound = ObjectId | typeof ownPast | undefined

/**
 * The bounds of a range. In the direction of the walk, each post has its own bound, if the range
 * continues.
 */
function boundsOf({
  olderThan,
  newerThan,
  oldestFirst,
  past,
}: Walk): Record<'below' | 'above', Bound> {
  return {
    below: past && !oldestFirst ? ownPast : olderThan && toObjectId(olderThan),
    above: past && oldestFirst ? ownPast : newerThan && toObjectId(newerThan),
  }
}

/**
 * An expression in which {@link ownPast} is the place after which the list of this post continues.
 */
function withPast({ past }: Walk, expression: Document): Document {
  if (!past) return expression
  const posts = [...past.keys()].map((post) => toObjectId(post as PostId))
  const places = [...past.values()].map(toObjectId)
  const own = { $arrayElemAt: [places, { $indexOfArray: [posts, '$_id'] }] }
  return { $let: { vars: { past: own }, in: expression } }
}

/** The condition that the first place of a level is within bounds. */
function firstIs(bounds: Readonly<Record<string, Bound>>): Document {
  const all = Object.entries(bounds).filter(([, bound]) => bound !== undefined)
  const fixed = Object.fromEntries(all.filter(([, bound]) => bound !== ownPast))
  const own = all.flatMap(([operator, bound]) =>
    bound === ownPast ? [{ [operator]: ['$first', ownPast] }] : [],
  )
  return {
    ...(Object.keys(fixed).length > 0 ? { first: fixed } : {}),
    ...(own.length > 0 ? { $expr: { $and: own } } : {}),
  }
}

const placeOfThis = { $ifNull: ['$$this.place', '$$this._id'] }

/**
 * The first entries in range of a stored list, which rises by place, in walking order: an
 * aggregation expression.
 */
function walked(list: unknown, range: Walk): Document {
  const { below, above } = boundsOf(range)
  const conditions = [
    ...(below === undefined ? [] : [{ $lt: [placeOfThis, below] }]),
    ...(above === undefined ? [] : [{ $gt: [placeOfThis, above] }]),
    ...(range.isFiltered
      ? [
          ...['$$this._id', placeOfThis].map((id) => ({ $eq: [{ $type: id }, 'objectId'] })),
          { $eq: [{ $type: '$$this.actor' }, 'string'] },
        ]
      : []),
  ]
  const within =
    conditions.length === 0 ? list : { $filter: { input: list, cond: { $and: conditions } } }
  return range.oldestFirst
    ? { $slice: [within, range.limit] }
    : { $reverseArray: { $slice: [within, -range.limit] } }
}

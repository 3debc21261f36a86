import { commandMsMax, singleBatch } from '../db/client.ts'
import type { Collections, PostDoc } from '../db/collections.ts'
import { deadlineOf } from '../db/deadline.ts'
import { isTimeExpired } from '../db/errors.ts'
import type { Answer } from '../db/group-commit.ts'
import type { AnyBulkWriteOperation, Filter } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { type PostId, type PostRef, timeOf } from '../lib/ids.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import type { ListLimits } from './list-limits.ts'
import { type ListResult, type NewEntry, sizeOf } from './list-plan.ts'
import { arrayIn } from './list-store.ts'

/** An entry that may find room in its post. */
export interface EmbeddedAdd {
  readonly post: PostRef
  readonly kind: EngagementKind
  readonly entry: NewEntry
}

/** How long a combined command may take, in milliseconds, and how long a post that held one up is written alone. */
const combinedMs = { least: 200, most: commandMsMax }
const slowMs = 5_000
/** How many slow posts are remembered at most. */
const slowMax = 10_000

/** Adds entries to lists that are within their post. A post that is locked holds up no other. */
export class FastPath {
  /** Posts that go alone, each until a moment of the monotonic clock. */
  private readonly slow = new Map<PostId, number>()
  private combinedMs: number = combinedMs.least

  constructor(
    private readonly posts: Collections['posts'],
    private readonly limits: Readonly<Record<EngagementKind, ListLimits>>,
  ) {}

  /** Whether the post held up a command a short while ago, and is written alone. */
  isSlow({ id }: PostRef): boolean {
    const until = this.slow.get(id)
    if (until !== undefined && until <= performance.now()) this.slow.delete(id)
    return this.slow.has(id)
  }

  /**
   * Adds entries of different posts, each before its deadline, where its list is within its post, has room and does not hold its key: one
   * conditional update each, all in one command, and one command more when not all of them found their conditions met.
   * A command that takes longer than 200 ms is given up: those it did not reach are added each by itself.
   * @returns in order; undefined where it takes more than that, a promise where the post is locked.
   */
  async add(adds: readonly EmbeddedAdd[]): Promise<readonly Answer<ListResult | undefined>[]> {
    const likely = adds.filter(({ kind }) => this.limits[kind].threshold > 0)
    if (likely.length === 0) return adds.map(() => undefined)
    try {
      const added = await this.update(likely, this.combinedMs)
      this.combinedMs = Math.max(combinedMs.least, this.combinedMs / 2)
      return adds.map((add) => resultOf(add, added))
    } catch (error) {
      if (!isTimeExpired(error)) throw error
      const added = await storedAmong(this.posts, likely)
      const rest = new Set(likely.filter((add) => !added.has(add)))
      // Where no post turns out to be locked, the database is slow, and smaller commands would not help.
      this.combinedMs = Math.min(combinedMs.most, this.combinedMs * 2)
      return adds.map((add) => (rest.has(add) ? this.addAlone(add) : resultOf(add, added)))
    }
  }

  /** Adds one entry, as {@link add} would, with all the time that a command may take. */
  async addAlone(add: EmbeddedAdd): Promise<ListResult | undefined> {
    if (this.limits[add.kind].threshold === 0) return undefined
    const since = performance.now()
    const mark = () => {
      if (performance.now() - since >= combinedMs.least) this.remember(add.post.id)
    }
    const look = setTimeout(mark, combinedMs.least)
    try {
      return resultOf(add, await this.update([add], commandMsMax))
    } finally {
      clearTimeout(look)
      mark()
    }
  }

  private async update(adds: readonly EmbeddedAdd[], maxTimeMS: number): Promise<Set<EmbeddedAdd>> {
    const updates = adds.map((add) => updateFor(add, this.limits[add.kind]))
    const { matchedCount } = await this.posts.bulkWrite(updates, { maxTimeMS, ordered: false })
    return matchedCount === adds.length ? new Set(adds) : storedAmong(this.posts, adds)
  }

  private remember(id: PostId): void {
    this.combinedMs = combinedMs.least
    this.slow.delete(id)
    this.slow.set(id, performance.now() + slowMs)
    const [oldest] = this.slow.keys()
    if (this.slow.size > slowMax && oldest !== undefined) this.slow.delete(oldest)
  }
}

const resultOf = (add: EmbeddedAdd, added: ReadonlySet<EmbeddedAdd>): ListResult | undefined =>
  added.has(add) ? { changed: true, entry: add.entry } : undefined

/** Those of the entries that their posts hold, or held until another process took them out again. */
async function storedAmong(
  posts: Collections['posts'],
  adds: readonly EmbeddedAdd[],
): Promise<Set<EmbeddedAdd>> {
  const found = await posts
    .find(
      {
        $or: adds.map(({ post: { id, author }, kind, entry }) => ({
          _id: toObjectId(id),
          author,
          $or: [{ [`${kind}._id`]: entry._id }, { [`last.${kind}`]: entry._id }],
        })),
      },
      { ...singleBatch, projection: { author: 1, last: 1, ...entriesAmong(adds) } },
    )
    .toArray()
  // One command may hold two entries of one list, and two posts of which one names a forged author.
  const stored = new Map(found.map((doc) => [`${doc.author}/${doc._id.toHexString()}`, doc]))
  const isStored = ({ post: { author, id }, kind, entry }: EmbeddedAdd) => {
    const { last, [kind]: entries } = stored.get(`${author}/${id}`) ?? {}
    return last?.[kind]?.equals(entry._id) || entries?.some(({ _id }) => _id.equals(entry._id))
  }
  return new Set(adds.filter(isStored))
}

/** A projection: the entries of each list that are among those to add. */
function entriesAmong(adds: readonly EmbeddedAdd[]) {
  const cond = { $in: ['$$this._id', adds.map(({ entry }) => entry._id)] }
  return Object.fromEntries(
    adds.map(({ kind }) => [kind, { $filter: { input: arrayIn(kind), cond } }]),
  )
}

function updateFor(
  { post: { author, id }, kind, entry }: EmbeddedAdd,
  { threshold, embeddedBytesMax }: ListLimits,
): AnyBulkWriteOperation<PostDoc> {
  const filter: Filter<PostDoc> = {
    _id: toObjectId(id),
    author,
    [`levels.${kind}`]: { $exists: false },
    [`${kind}.${threshold - 1}`]: { $exists: false },
    [`last.${kind}`]: { $not: { $gte: entry._id } },
    ...(kinds[kind].key === 'actor' ? { [`${kind}.actor`]: { $ne: entry.actor } } : {}),
    $expr: {
      $and: [
        { $lt: ['$$NOW', deadlineOf(timeOf(fromObjectId(entry._id)).getTime())] },
        ...(entry.text === undefined ? [] : [hasRoom(kind, embeddedBytesMax - sizeOf(entry))]),
      ],
    },
  }
  const update = {
    $push: { [kind]: entry },
    $inc: { [`counts.${kind}`]: 1 },
    $set: { [`last.${kind}`]: entry._id },
  }
  return { updateOne: { filter, update } }
}

/** An aggregation expression: the part of a list in its post takes at most `bytesMax` bytes. */
const hasRoom = (kind: EngagementKind, bytesMax: number) => ({
  $lte: [{ $bsonSize: { items: arrayIn(kind) } }, bytesMax],
})

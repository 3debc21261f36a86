import type { Follows } from '../../follows/follows.ts'
import { chunks, groupBy } from '../../lib/batch.ts'
import { neighbour, type PostId, type PostRef, type UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import type { EntryReader } from '../entry-reader.ts'
import type { Registration } from '../registry/registry.ts'
import type { FanoutOnRead } from '../strategies/fanout-on-read.ts'
import { floorOf } from '../strategies/floor.ts'
import {
  type Segment,
  type StoredTimelines,
  segmentSize,
  type WholeTimeline,
} from '../strategies/strategy.ts'
import type { Delivery } from './delivery.ts'

/** Number of readers that are filled together. */
const batchSize = 50
/** Number of followees, and of posts, that a batch of readers reads. With more, it is divided. */
const readMax = 20_000
/** Number of entries that are made at a time. */
const entriesMax = 10_000
/** Number of posts that one command looks up. */
const lookUpMax = 4_000

/** The parts that {@link TimelineFiller} works with. */
export interface TimelineFillerParts {
  readonly delivery: Delivery
  readonly entries: EntryReader
  readonly follows: Follows
  readonly posts: Posts
  readonly fanoutOnRead: FanoutOnRead
}

/** The posts of some readers' timelines. */
interface Loaded {
  readonly refs: readonly PostRef[]
  readonly timelines: readonly WholeTimeline[]
}

/**
 * Fills whole timelines, many readers together: they share the reads of their followees' posts, and
 * their entries are stored in the order of their keys. A repeat changes nothing.
 */
export class TimelineFiller {
  constructor(private readonly parts: TimelineFillerParts) {}

  /**
   * Adds the posts of some readers' timelines, down to the floor of the registration. Batches of 50
   * readers at the same time. A batch takes five commands and those of the strategy, if it has
   * fewer than 20,000 followees and posts. The posts of a reader with more are read by 500.
   * @param readers at most 200, in the order of their ids.
   */
  async fillReaders(
    registration: Registration,
    readers: readonly UserId[],
    signal: AbortSignal,
  ): Promise<void> {
    const all = [...chunks(readers, batchSize)]
    await Promise.all(all.map((batch) => this.fillBatch(registration, batch, signal)))
  }

  private async fillBatch(
    registration: Registration,
    readers: readonly UserId[],
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted()
    const loaded = await this.loadTimelines(registration, readers)
    if (loaded) return this.storeTimelines(registration, loaded, signal)
    const [only, second] = readers
    if (only && !second) return this.fillReader(registration, only, signal)
    for (const half of chunks(readers, Math.ceil(readers.length / 2))) {
      await this.fillBatch(registration, half, signal)
    }
  }

  /** Loads timelines down to the floor, unless they have too many followees or posts. */
  private async loadTimelines(
    registration: Registration,
    readers: readonly UserId[],
  ): Promise<Loaded | undefined> {
    const { follows, posts, entries } = this.parts
    const edges = await follows.followeesOfAll(readers, readMax)
    if (edges.length === readMax) return undefined
    const followees = groupBy(edges, ({ user }) => user)
    const authorsOf = new Map(
      readers.map((reader) => {
        const others = followees.get(reader) ?? []
        return [reader, [reader, ...others.map(({ followee }) => followee)]] as const
      }),
    )
    const authors = new Set([...authorsOf.values()].flat())
    const refs = await posts.refsByAuthor([...authors], readMax, floorOf(registration))
    if (refs.length === readMax) return undefined
    const contents = await entries.toEntries(refs)
    const byAuthor = new Map(
      [...groupBy(refs, ({ author }) => author)].map(([author, own]) => {
        return [author, own.flatMap(({ id }) => contents.get(id) ?? [])] as const
      }),
    )
    const timelines = [...authorsOf].map(([reader, own]): WholeTimeline => {
      const all = own.flatMap((author) => byAuthor.get(author) ?? [])
      return { reader, entries: all.sort((a, b) => (a.id < b.id ? 1 : -1)) }
    })
    return { refs, timelines }
  }

  /** Adds timelines, then removes the posts that were deleted since they were read. */
  private async storeTimelines(
    registration: Registration,
    { refs, timelines }: Loaded,
    signal: AbortSignal,
  ): Promise<void> {
    const strategy = this.parts.delivery.openTimeline(registration)
    for (const few of chunksByEntries(timelines)) {
      signal.throwIfAborted()
      await strategy.mergeAll(few)
    }
    const readers = timelines.map(({ reader }) => reader)
    await this.removeDeletedRefs(strategy, readers, refs)
  }

  private async removeDeletedRefs(
    strategy: StoredTimelines,
    readers: readonly UserId[],
    refs: readonly PostRef[],
  ): Promise<void> {
    for (const some of chunks(refs, lookUpMax)) {
      const there = await this.parts.posts.existing(some)
      const gone = some.filter(({ id }) => !there.has(id)).map(({ id }) => id)
      for (const posts of chunks(gone, segmentSize)) await strategy.remove(readers, posts)
    }
  }

  /** Adds the posts of a reader's timeline down to the floor, 500 at a time. */
  private async fillReader(
    registration: Registration,
    reader: UserId,
    signal: AbortSignal,
  ): Promise<void> {
    const { delivery, entries, follows, fanoutOnRead } = this.parts
    const strategy = delivery.openTimeline(registration)
    const floor = floorOf(registration)
    const newerThan = floor && neighbour(floor, -1)
    let olderThan: PostId | undefined
    for (;;) {
      signal.throwIfAborted()
      const range = { olderThan, newerThan, oldestFirst: false, limit: segmentSize }
      const authors = withSelf(reader, follows)
      const refs = await fanoutOnRead.loadPosts(authors, range)
      const segment = await entries.toSegment(refs, olderThan, segmentSize)
      await this.storeSegment([strategy], reader, segment)
      if (segment.oldest) return
      olderThan = segment.last
    }
  }

  /**
   * Adds a segment to a reader's timelines, then removes the posts that were deleted since the
   * segment was read. Their retraction may have passed the reader before. One covered command and
   * those of the strategies.
   * @returns whether a timeline stores older posts than the segment.
   */
  async storeSegment(
    targets: readonly StoredTimelines[],
    reader: UserId,
    segment: Segment,
  ): Promise<boolean> {
    const below = await Promise.all(targets.map((strategy) => strategy.merge(reader, segment)))
    await this.removeDeleted(targets, reader, segment)
    return below.includes(true)
  }

  private async removeDeleted(
    targets: readonly StoredTimelines[],
    reader: UserId,
    segment: Segment,
  ): Promise<void> {
    const gone = await this.parts.entries.findDeleted(segment.entries)
    if (gone.length === 0) return
    await Promise.all(targets.map((strategy) => strategy.remove([reader], gone)))
  }
}

/** Cuts timelines into chunks of about 10,000 entries. */
function* chunksByEntries(timelines: readonly WholeTimeline[]): Generator<WholeTimeline[]> {
  let [chunk, count]: [WholeTimeline[], number] = [[], 0]
  for (const timeline of timelines) {
    if (count > 0 && count + timeline.entries.length > entriesMax) {
      yield chunk
      ;[chunk, count] = [[], 0]
    }
    chunk.push(timeline)
    count += timeline.entries.length
  }
  if (count > 0) yield chunk
}

async function* withSelf(reader: UserId, follows: Follows): AsyncGenerator<UserId> {
  yield reader
  yield* follows.followeesOf(reader)
}

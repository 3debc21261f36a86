import { chunks } from '../lib/batch.ts'
import type { PostId, PostRef, TimeId, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import type { Change } from '../memory/followed.ts'
import type { Kept, ProcessMemory } from '../memory/process-memory.ts'
import { measureCache } from '../metrics/caches.ts'

/** The newest posts of an author. */
interface Tail {
  readonly author: UserId
  /** Every post of the author from this id on is in `ids`. */
  floor: PostId
  /** Newest first. All exist. */
  readonly ids: PostId[]
  /** Whether a page has used it since the last look for tails to drop. */
  isUsed: boolean
}

/** The posts of a range, and the authors whose posts in it are not all in memory. */
export interface Proposal {
  /** In the order of the range. Exact if no author is missing. */
  readonly refs: readonly PostRef[]
  readonly missing: readonly UserId[]
}

/** Reads the posts of at most 200 authors in a range, newest first, up to its limit. */
export type ReadPosts = (authors: readonly UserId[], range: Range) => Promise<readonly PostRef[]>

/** The floor of a tail of all posts. */
const everything = '' as PostId

/** A read of tails that is under way, and what has happened since it began. */
interface Fill {
  readonly inserted: PostRef[]
  readonly deleted: Set<PostId>
  isOver: boolean
}

/** Estimated bytes of a tail, and of a post in it. */
const [tailBytes, postBytes] = [300, 200]

/**
 * Number of posts that a fill reads at least, and that a tail is cut to when it has twice as many.
 */
const [depthMin, depthMax] = [51, 500]

/**
 * Number of authors that one command reads, as MongoDB merges the index without a sort; and that a
 * fill reads.
 */
const [authorsPerRead, authorsMax] = [200, 2_000]

/**
 * The newest posts of authors in the memory of a process, each complete down to its floor. New
 * posts join by the log, and deleted ones leave. One read of fan-out on read proves the tails of
 * all its authors down to the end of its page, so the next reader who shares followees reads
 * nothing. Bounded in bytes: the tails not used for longest are dropped first.
 */
export class Tails implements Kept {
  readonly follows = ['posts'] as const
  private readonly byAuthor = new Map<UserId, Tail>()
  private readonly byPost = new Map<PostId, Tail>()
  private readonly fills = new Set<Fill>()
  private readonly countRead: (isHit: boolean) => void
  private readonly memory: ProcessMemory
  private readonly bytesMax: number

  constructor({ memory, bytesMax }: { readonly memory: ProcessMemory; readonly bytesMax: number }) {
    this.memory = memory
    memory.add(this)
    this.bytesMax = bytesMax
    this.countRead = measureCache('tails', () => this.bytes).countRead
  }

  private get bytes(): number {
    return tailBytes * this.byAuthor.size + postBytes * this.byPost.size
  }

  /** The posts of distinct authors in a range, from memory. Call it while memory is current. */
  propose(authors: readonly UserId[], range: Range): Proposal {
    const tails: Tail[] = []
    const missing: UserId[] = []
    for (const author of authors) {
      const tail = this.byAuthor.get(author)
      if (tail) tails.push(tail)
      else missing.push(author)
    }
    const refs = mergeTails(tails, range)
    const last = refs.length >= range.limit ? refs.at(-1)?.id : undefined
    // Beyond the last post, nothing matters. The oldest first, everything above the begin of the
    // range does.
    const end = (range.oldestFirst ? undefined : last) ?? range.newerThan ?? everything
    for (const tail of tails) {
      tail.isUsed = true
      if (tail.floor > end) missing.push(tail.author)
    }
    this.countRead(missing.length === 0)
    return { refs, missing }
  }

  /**
   * Reads the newest posts of authors, or those that follow the end of their tails, up to the limit
   * of a range, and keeps them: one command for each 200 authors. Memory is older than the read
   * until it is current again.
   * @returns false if they cannot be kept, so that nothing was read: they are too many, or do not
   *   meet the tails.
   */
  async fill(authors: readonly UserId[], range: Range, read: ReadPosts): Promise<boolean> {
    const { olderThan, oldestFirst } = range
    const limit = Math.max(range.limit, depthMin)
    if (!this.memory.position || oldestFirst || authors.length > authorsMax) return false
    if (!authors.every((author) => this.isMet(author, olderThan))) return false
    const fill: Fill = { inserted: [], deleted: new Set(), isOver: false }
    this.fills.add(fill)
    try {
      let end = everything
      for (const batch of chunks(authors, authorsPerRead)) {
        const newerThan = end === everything ? undefined : end
        const refs = await read(batch, { olderThan, newerThan, oldestFirst: false, limit })
        if (fill.isOver) return true
        if (refs.length >= limit) end = refs.at(-1)?.id ?? end
        for (const author of batch) if (this.isMet(author, olderThan)) this.lowerFloor(author, end)
        for (const ref of [...refs, ...fill.inserted])
          if (!fill.deleted.has(ref.id)) this.addPost(ref)
      }
      return true
    } finally {
      this.fills.delete(fill)
      this.dropUnused()
    }
  }

  apply({ operation, key, document, fields }: Change): void {
    const id = String(key) as PostId
    if (operation === 'insert') {
      const ref: PostRef = { id, author: document?.author }
      for (const { inserted, deleted } of this.fills) {
        inserted.push(ref)
        // A repair deletes a post, and inserts it again.
        deleted.delete(id)
      }
      this.addPost(ref)
    } else if (operation === 'delete') {
      for (const { deleted } of this.fills) deleted.add(id)
      const tail = this.byPost.get(id)
      if (!tail) return
      this.byPost.delete(id)
      tail.ids.splice(positionOf(tail.ids, id), 1)
    } else if (operation === 'replace' || fields?.includes('author')) this.drop()
  }

  drop(): void {
    this.byAuthor.clear()
    this.byPost.clear()
    for (const fill of this.fills) fill.isOver = true
    this.fills.clear()
  }

  /**
   * Whether posts that are read below a bound follow on what is known of an author. Without a
   * bound, they do.
   */
  private isMet(author: UserId, olderThan: TimeId | undefined): boolean {
    if (olderThan === undefined) return true
    const tail = this.byAuthor.get(author)
    return tail !== undefined && tail.floor <= olderThan && tail.ids.length < depthMax
  }

  private lowerFloor(author: UserId, floor: PostId): void {
    const tail = this.byAuthor.get(author)
    if (!tail) this.byAuthor.set(author, { author, floor, ids: [], isUsed: true })
    else if (floor < tail.floor) tail.floor = floor
  }

  /** Adds a post of an author whose tail reaches down to it. */
  private addPost({ id, author }: PostRef): void {
    const tail = this.byAuthor.get(author)
    if (!tail || id < tail.floor || this.byPost.has(id)) return
    tail.ids.splice(positionOf(tail.ids, id), 0, id)
    this.byPost.set(id, tail)
    if (tail.ids.length > 2 * depthMax) {
      for (const old of tail.ids.splice(depthMax)) this.byPost.delete(old)
      tail.floor = tail.ids.at(-1) as PostId
    }
    if (this.bytes > this.bytesMax && this.fills.size === 0) this.dropUnused()
  }

  /** Drops tails until the rest fits. One that was used since the last look stays, if it can. */
  private dropUnused(): void {
    for (const [author, tail] of this.byAuthor) {
      if (this.bytes <= this.bytesMax) return
      this.byAuthor.delete(author)
      if (tail.isUsed) {
        tail.isUsed = false
        this.byAuthor.set(author, tail)
      } else for (const id of tail.ids) this.byPost.delete(id)
    }
  }
}

/** Where an id is among ids, newest first, or where it would be. */
function positionOf(ids: readonly PostId[], id: TimeId): number {
  let [from, to] = [0, ids.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((ids[middle] as TimeId) > id) from = middle + 1
    else to = middle
  }
  return from
}

/** Where the reading of a tail is. */
interface Head {
  readonly tail: Tail
  at: number
  id: PostId
}

/** The posts of tails in a range, in its order: a heap of the next post of each tail. */
function mergeTails(tails: readonly Tail[], range: Range): PostRef[] {
  const { olderThan, newerThan, oldestFirst, limit } = range
  const step = oldestFirst ? -1 : 1
  const precedes = (one: Head, other: Head) => (oldestFirst ? one.id < other.id : one.id > other.id)
  const isPastEnd = (id: PostId) =>
    oldestFirst
      ? olderThan !== undefined && id >= olderThan
      : newerThan !== undefined && id <= newerThan
  const heap: Head[] = []
  for (const tail of tails) {
    const at = oldestFirst ? lastAbove(tail.ids, newerThan) : firstBelow(tail.ids, olderThan)
    const id = tail.ids[at]
    if (id !== undefined && !isPastEnd(id)) heap.push({ tail, at, id })
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(heap, at, precedes)
  const refs: PostRef[] = []
  while (refs.length < limit) {
    const [head] = heap
    if (!head) break
    refs.push({ id: head.id, author: head.tail.author })
    head.at += step
    const id = head.tail.ids[head.at]
    if (id !== undefined && !isPastEnd(id)) head.id = id
    else {
      const last = heap.pop() as Head
      if (heap.length === 0) break
      heap[0] = last
    }
    sink(heap, 0, precedes)
  }
  return refs
}

const firstBelow = (ids: readonly PostId[], bound: TimeId | undefined): number => {
  if (bound === undefined) return 0
  const at = positionOf(ids, bound)
  return (ids[at] as TimeId | undefined) === bound ? at + 1 : at
}

const lastAbove = (ids: readonly PostId[], bound: TimeId | undefined): number =>
  (bound === undefined ? ids.length : positionOf(ids, bound)) - 1

/** Moves the head at `at` down to where it belongs. */
function sink(heap: Head[], at: number, precedes: (one: Head, other: Head) => boolean): void {
  const moved = heap[at] as Head
  let place = at
  for (;;) {
    let next = 2 * place + 1
    const [left, right] = [heap[next], heap[next + 1]]
    if (left && right && precedes(right, left)) next++
    const child = heap[next]
    if (!child || !precedes(child, moved)) break
    heap[place] = child
    place = next
  }
  heap[place] = moved
}

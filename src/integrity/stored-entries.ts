import type { EntryDoc, StrategyDoc } from '../db/collections.ts'
import { fromObjectId, highestId } from '../db/object-id.ts'
import type { MaterialisedName } from '../feed/strategies/strategy.ts'
import { type PostId, timeOf, type UserId } from '../lib/ids.ts'
import type { IntegrityServices } from './invariant.ts'

/** Entries of one timeline that were read together. */
export interface StoredEntries {
  readonly posts: readonly PostId[]
  /** What is wrong with how they are stored: an entry comes twice, or is not in its place. */
  readonly flaw: string | undefined
}

const entriesAtOnce = 500

/**
 * All that a strategy stores for a reader, a document or 500 entries at a time. The one place outside the strategies
 * that knows how buckets and caches are stored; entries of the inbox are asked of the strategy.
 */
export async function* storedEntries(
  { collections, strategies }: IntegrityServices,
  reader: UserId,
  { _id: name, options }: StrategyDoc,
): AsyncGenerator<StoredEntries> {
  const idsOf = (entries: readonly EntryDoc[]) =>
    entries.map(({ post }) => fromObjectId<PostId>(post))
  switch (name) {
    case 'TIME_BUCKETS': {
      const bounds = { $gte: { reader, period: 0 }, $lte: { reader, period: Infinity } }
      for await (const { _id, entries } of collections.timed_buckets.find({ _id: bounds })) {
        const posts = idsOf(entries)
        const periodOf = (id: PostId) => Math.floor(timeOf(id).getTime() / (options.periodMs ?? 1))
        const strange = posts.find((id) => periodOf(id) !== _id.period)
        yield { posts, flaw: repeatIn(posts) ?? (strange && `${strange} in another period`) }
      }
      return
    }
    case 'SIZED_BUCKETS':
      for await (const bucket of collections.sized_buckets.find({ reader })) {
        const posts = idsOf(bucket.entries)
        const [newest, oldest] = [bucket.newest, bucket.oldest].map((id) => id.toHexString())
        const strange = posts.find((id) => id > (newest ?? '') || id < (oldest ?? ''))
        yield { posts, flaw: repeatIn(posts) ?? (strange && `${strange} beyond its bucket`) }
      }
      return
    case 'CACHE': {
      const cache = await collections.timeline_cache.findOne({ _id: reader })
      if (!cache) return
      const posts = idsOf(cache.entries)
      const strange = posts.find((id, at) => at > 0 && id > (posts[at - 1] ?? ''))
      yield { posts, flaw: repeatIn(posts) ?? (strange && `${strange} below an older post`) }
      return
    }
    default:
      for (let olderThan: PostId | undefined; ; ) {
        const range = { olderThan, oldestFirst: false, limit: entriesAtOnce }
        const ask = { reader, range, group: undefined, refused: new Set<UserId>() }
        const { entries } = await strategies.INBOX.candidates({ ...ask, registration: undefined })
        const posts = entries.map(({ id }) => id)
        yield { posts, flaw: undefined }
        if (posts.length < entriesAtOnce) return
        olderThan = posts.at(-1)
      }
  }
}

function repeatIn(posts: readonly PostId[]): string | undefined {
  const seen = new Set<PostId>()
  const again = posts.find((id) => seen.size === seen.add(id).size)
  return again && `${again} twice`
}

/**
 * Handles from `after` to `upTo` under which a strategy stores anything. One command.
 * @param after an excluded bound.
 */
export async function storedReaders(
  { collections }: IntegrityServices,
  name: MaterialisedName,
  after: string,
  upTo: string,
): Promise<string[]> {
  const { timed_buckets, sized_buckets, timeline_cache, inbox } = collections
  const group = (field: string) => [{ $group: { _id: field } }]
  const handles = { $gt: after, $lte: upTo }
  const found = (() => {
    switch (name) {
      case 'TIME_BUCKETS': {
        const to = { reader: upTo, period: Infinity }
        const _id = { $gt: { reader: after, period: Infinity }, $lte: to }
        return timed_buckets.aggregate<{ _id: string }>([
          { $match: { _id } },
          ...group('$_id.reader'),
        ])
      }
      case 'SIZED_BUCKETS':
        return sized_buckets.aggregate<{ _id: string }>([
          { $match: { reader: handles } },
          ...group('$reader'),
        ])
      case 'CACHE':
        return timeline_cache.aggregate<{ _id: string }>([
          { $match: { _id: handles } },
          { $project: { _id: 1 } },
        ])
      default: {
        const to = { reader: upTo, post: highestId }
        const _id = { $gt: { reader: after, post: highestId }, $lte: to }
        return inbox.aggregate<{ _id: string }>([{ $match: { _id } }, ...group('$_id.reader')])
      }
    }
  })()
  return (await found.toArray()).map(({ _id }) => _id)
}

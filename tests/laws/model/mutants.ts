import type { StrategyDoc } from '../../../src/db/collections.ts'
import { lowestId, toObjectId } from '../../../src/db/object-id.ts'
import { type TimeId, timeOf, type UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { fromEntryDoc, isInRange, sortEntries, toEntryDoc } from '../../../src/timeline/entries.ts'
import type { EntryReader } from '../../../src/timeline/entry-reader.ts'
import type { PageFacts, PageFactsReader } from '../../../src/timeline/pages/page-facts.ts'
import type { FanoutOnRead } from '../../../src/timeline/strategies/fanout-on-read.ts'
import type { MaterialisedName } from '../../../src/timeline/strategies/list.ts'
import { optionOf } from '../../../src/timeline/strategies/setting.ts'
import type { Entry } from '../../../src/timeline/strategies/strategy.ts'
import { TimeBuckets } from '../../../src/timeline/strategies/time-buckets.ts'

/**
 * A mutant whose page facts lack one field, such as `restrictions`. Without a field: the original.
 */
export function withoutFacts(right: PageFactsReader, omitted?: keyof PageFacts): PageFactsReader {
  if (!omitted) return right
  const without = <Facts extends object>(facts: Facts) => ({ ...facts, [omitted]: new Map() })
  const mutant: PageFactsReader = Object.create(right, {
    loadAuthors: {
      value: async (...asked: Parameters<PageFactsReader['loadAuthors']>) =>
        without(await right.loadAuthors(...asked)),
    },
    load: {
      value: async (...asked: Parameters<PageFactsReader['load']>) =>
        without(await Object.getPrototypeOf(right).load.apply(mutant, asked)),
    },
  })
  return mutant
}

/** Mutates the strategies of one process. */
type Mutate = (services: Services) => void

/** The mutants of a strategy, by their fault. */
type Mutants = Readonly<Record<string, Mutate>>

/**
 * Mutants of each strategy, with known faults of stored timelines. The law tests must find each of
 * them.
 */
export const mutants: Readonly<Partial<Record<MaterialisedName, Mutants>>> = {
  TIME_BUCKETS: {
    'an entry is stored in the period of its delivery': ({ strategies }) => {
      const right = strategies.TIME_BUCKETS
      const { parts } = inside<{ parts: Parts }>(strategies.CACHE)
      const periodOf = (_: TimeId, registration: StrategyDoc) =>
        Math.floor(parts.now() / optionOf(registration, 'periodMs'))
      const late = Object.assign(Object.create(right), { periodOf })
      right.deliver = (...given) => TimeBuckets.prototype.deliver.apply(late, given)
    },
    'periods repeat': ({ strategies: { TIME_BUCKETS } }) => {
      const periodOf = (id: TimeId, registration: StrategyDoc) =>
        timeOf(id).getTime() % optionOf(registration, 'periodMs')
      Object.assign(TIME_BUCKETS, { periodOf })
    },
  },
  SIZED_BUCKETS: {
    'buckets are read in the order of their creation': ({ strategies, collections }) => {
      strategies.SIZED_BUCKETS.proposeCandidates = async ({ reader, range }) => {
        const sort = range.oldestFirst ? 1 : -1
        const docs = await collections.sized_buckets.find({ reader }).sort({ _id: sort }).toArray()
        const entries = docs
          .flatMap((doc) => (range.oldestFirst ? doc.entries : doc.entries.toReversed()))
          .map(fromEntryDoc)
          .filter(({ id }) => isInRange(id, range))
        return { entries: entries.slice(0, range.limit), complete: true }
      }
    },
    'a page ignores buckets that overlap its last bucket': (services) => {
      const { sized_buckets } = services.collections
      services.strategies.SIZED_BUCKETS.proposeCandidates = async ({ reader, range }) => {
        const { oldestFirst, limit } = range
        const order = oldestFirst ? { oldest: 1 as const } : { newest: -1 as const }
        const docs = sized_buckets.find({ reader }).sort(order)
        const found: Entry[] = []
        for await (const doc of docs) {
          found.push(...doc.entries.map(fromEntryDoc).filter(({ id }) => isInRange(id, range)))
          if (found.length >= limit) break
        }
        return { entries: sortEntries(found, range), complete: true }
      }
    },
  },
  CACHE: {
    'a delivery during the creation of the cache is lost': ({ strategies, collections }) => {
      const { timeline_cache } = collections
      const { parts } = inside<{ parts: Parts }>(strategies.CACHE)
      const build = async (reader: UserId, registration: StrategyDoc) => {
        const { epoch } = registration
        const depth = strategies.CACHE.depthMax(registration)
        const range = { oldestFirst: false, limit: depth }
        const request = { reader, range, group: undefined, excludedAuthors: new Set<UserId>() }
        const { entries: refs } = await parts.fanoutOnRead.proposeCandidates(request)
        const segment = await parts.entries.toSegment(refs, undefined, range.limit)
        const entries = segment.entries.map(toEntryDoc)
        const last = refs.length < depth ? undefined : refs.at(-1)
        const floor = last ? toObjectId(last.id) : lowestId
        const doc = { epoch, entries, floor, expiresAt: new Date(parts.now() + 1e9) }
        const options = { upsert: true, returnDocument: 'after' } as const
        const replaced = [{ $replaceWith: { $literal: { _id: reader, ...doc } } }]
        return timeline_cache.findOneAndUpdate({ _id: reader }, replaced, options)
      }
      Object.assign(strategies.CACHE, { build })
    },
    'the cache claims to be the whole timeline': ({ strategies: { CACHE } }) => {
      const right = CACHE.proposeCandidates.bind(CACHE)
      CACHE.proposeCandidates = async (ask) => ({ ...(await right(ask)), complete: true })
    },
    'a page beyond the end of the cache is never pending': ({ feed }) => {
      const right = feed.timeline.bind(feed)
      feed.timeline = async (...asked) => {
        const page = await right(...asked)
        return { ...page, pending: page.pending && page.servedBy !== 'FANOUT_ON_READ' }
      }
    },
    'a full cache loses a post and still claims the same range': ({ strategies, collections }) => {
      strategies.CACHE.remove = async (readers, posts) => {
        const gone = { post: { $in: posts.map(toObjectId) } }
        const theirs = { _id: { $in: [...readers] } }
        await collections.timeline_cache.updateMany(theirs, { $pull: { entries: gone } })
      }
    },
  },
  INBOX: {
    'a partly delivered batch is not delivered again': ({ strategies, collections }) => {
      const right = strategies.INBOX.deliver.bind(strategies.INBOX)
      strategies.INBOX.deliver = async (entry, readers, registration) => {
        const post = toObjectId(entry.id)
        const keys = readers.map((reader) => ({ reader, post }))
        if (await collections.inbox.findOne({ _id: { $in: keys } })) return
        await right(entry, readers, registration)
      }
    },
    'a new follow back-fills nothing': ({ strategies }) => {
      strategies.INBOX.merge = async () => {}
    },
  },
}

/** Mutants of the removal of accounts, with known faults. */
export const removalMutants: Mutants = {
  'the ranges of a removal retract no post': ({ delivery }) => {
    delivery.retractAll = async () => undefined
  },
}

/** Mutants of stored timelines whose old entries are removed, with known faults of floors. */
export const floorMutants: Mutants = {
  'a page ignores the floor': ({ strategies: { INBOX } }) => {
    const right = INBOX.proposeCandidates.bind(INBOX)
    INBOX.proposeCandidates = async ({ registration, ...query }) =>
      right({ ...query, registration: registration && withoutFloor(registration) })
  },
  'a page does not see that the floor has risen since it began': ({ registry }) => {
    const right = registry.load.bind(registry)
    registry.load = async (...asked) =>
      new Map([...(await right(...asked))].map(([name, one]) => [name, withoutFloor(one)]))
  },
}

const withoutFloor = <R extends StrategyDoc>({ floor: _, ...registration }: R) =>
  registration as unknown as R

/** The private dependencies of a strategy. */
interface Parts {
  readonly fanoutOnRead: FanoutOnRead
  readonly entries: EntryReader
  readonly now: () => number
}

/** Access to the private fields of an object. */
const inside = <T>(thing: object): T => thing as T

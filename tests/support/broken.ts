import type { StrategyDoc } from '../../src/db/collections.ts'
import { lowestId, toObjectId } from '../../src/db/object-id.ts'
import { fromEntryDoc, isInRange, sortEntries, toEntryDoc } from '../../src/feed/entries.ts'
import type { EntryReader } from '../../src/feed/entry-reader.ts'
import type { FanoutOnRead } from '../../src/feed/strategies/fanout-on-read.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { optionOf } from '../../src/feed/strategies/setting.ts'
import type { Entry } from '../../src/feed/strategies/strategy.ts'
import { TimeBuckets } from '../../src/feed/strategies/time-buckets.ts'
import type { PageFacts, PageFactsReader } from '../../src/feed/timeline/page-facts.ts'
import { type TimeId, timeOf, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'

/** Broken on purpose: page facts without the named part, such as mutes and blocks. */
export function forgetful(right: PageFactsReader, spoilt?: keyof PageFacts): PageFactsReader {
  if (!spoilt) return right
  return Object.create(right, {
    load: {
      value: async (...asked: Parameters<PageFactsReader['load']>) => ({
        ...(await right.load(...asked)),
        [spoilt]: new Map(),
      }),
    },
  })
}

/** Breaks the strategies of one process on purpose. */
type Spoil = (services: Services) => void

/** Ways to break a strategy, by the broken guarantee. */
type Spoils = Readonly<Record<string, Spoil>>

/** Known bugs of systems with stored timelines, for each strategy that can have them. */
export const breaks: Readonly<Partial<Record<MaterialisedName, Spoils>>> = {
  TIME_BUCKETS: {
    'an entry goes into the period of its arrival': ({ strategies }) => {
      const right = strategies.TIME_BUCKETS
      const { parts } = inside<{ parts: Parts }>(strategies.CACHE)
      const periodOf = (_: TimeId, registration: StrategyDoc) =>
        Math.floor(parts.now() / optionOf(registration, 'periodMs'))
      const late = Object.assign(Object.create(right), { periodOf })
      right.deliver = (...given) => TimeBuckets.prototype.deliver.apply(late, given)
    },
    'period numbers repeat': ({ strategies: { TIME_BUCKETS } }) => {
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
    'a page ends with the buckets that fill it, and ignores overlaps': (services) => {
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
    'a cache is written after its build and takes no delivery before': ({
      strategies,
      collections,
    }) => {
      const { timeline_cache } = collections
      const { parts } = inside<{ parts: Parts }>(strategies.CACHE)
      const build = async (reader: UserId, epoch: StrategyDoc['epoch'], depth: number) => {
        const range = { oldestFirst: false, limit: depth }
        const request = { reader, range, group: undefined, excludedAuthors: new Set<UserId>() }
        const { entries: refs } = await parts.fanoutOnRead.proposeCandidates(request)
        const entries = (await parts.entries.loadEntries(refs)).map(toEntryDoc)
        const last = refs.length < depth ? undefined : refs.at(-1)
        const floor = last ? toObjectId(last.id) : lowestId
        const doc = { epoch, entries, floor, expiresAt: new Date(parts.now() + 1e9) }
        const options = { upsert: true, returnDocument: 'after' } as const
        return timeline_cache.findOneAndReplace({ _id: reader }, doc, options)
      }
      Object.assign(strategies.CACHE, { build })
    },
    'a cache counts as the whole timeline': ({ strategies: { CACHE } }) => {
      const right = CACHE.proposeCandidates.bind(CACHE)
      CACHE.proposeCandidates = async (ask) => ({ ...(await right(ask)), complete: true })
    },
    'a page that continues past a cache says that no delivery is pending': ({ feed }) => {
      const right = feed.timeline.bind(feed)
      feed.timeline = async (...asked) => {
        const page = await right(...asked)
        return { ...page, pending: page.pending && page.servedBy !== 'FANOUT_ON_READ' }
      }
    },
    'a full cache loses a post and keeps its floor': ({ strategies, collections }) => {
      strategies.CACHE.remove = async (readers, posts) => {
        const gone = { post: { $in: posts.map(toObjectId) } }
        const theirs = { _id: { $in: [...readers] } }
        await collections.timeline_cache.updateMany(theirs, { $pull: { entries: gone } })
      }
    },
  },
  INBOX: {
    'a batch is skipped if one of its readers has the post': ({ strategies, collections }) => {
      const right = strategies.INBOX.deliver.bind(strategies.INBOX)
      strategies.INBOX.deliver = async (entry, readers, registration) => {
        const post = toObjectId(entry.id)
        const keys = readers.map((reader) => ({ reader, post }))
        if (await collections.inbox.findOne({ _id: { $in: keys } })) return
        await right(entry, readers, registration)
      }
    },
    'a new follower gets later posts only': ({ strategies }) => {
      strategies.INBOX.merge = async () => {}
    },
  },
  HYBRID: {
    'the note of an author comes after the first post left out': ({ celebrities }) => {
      const updateDeliveryMode = celebrities.updateDeliveryMode.bind(celebrities)
      const deliveryModeOf = celebrities.deliveryModeOf.bind(celebrities)
      const [known, leftOut] = [new Set<UserId>(), new Set<UserId>()]
      celebrities.updateDeliveryMode = async (author, followers, registration) => {
        const isCelebrity = followers >= optionOf(registration, 'threshold')
        if (!isCelebrity || known.has(author))
          return updateDeliveryMode(author, followers, registration)
        known.add(author)
        leftOut.add(author)
      }
      celebrities.deliveryModeOf = async (author) =>
        leftOut.delete(author) ? 'READ' : deliveryModeOf(author)
    },
    'posts are left out before every follower has the note': ({ celebrities, collections }) => {
      const updateDeliveryMode = celebrities.updateDeliveryMode.bind(celebrities)
      celebrities.updateDeliveryMode = async (author, followers, registration) => {
        await updateDeliveryMode(author, followers, registration)
        await collections.celebrities.updateOne({ _id: author }, { $unset: { promoting: '' } })
      }
    },
    'a new follower of a celebrity gets no note': ({ celebrities }) => {
      celebrities.noteFollow = async () => {}
    },
  },
}

/** Private parts of CACHE. */
interface Parts {
  readonly fanoutOnRead: FanoutOnRead
  readonly entries: EntryReader
  readonly now: () => number
}

/** What is private of a thing. */
const inside = <T>(thing: object): T => thing as T

import type { Document } from 'mongodb'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { entryContents, type FeedStrategyName, feedStrategyNames } from '../../src/config.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { MaterialisedName } from '../../src/feed/strategy.ts'
import { type EdgeId, IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { sizes, useFeedStage } from '../support/feed-stage.ts'
import { type RecordedCommand, recorded, type TestDatabase } from '../support/mongo.ts'
import {
  drain,
  handle,
  openAccounts,
  servicesOver,
  storeOf,
  useServices,
} from '../support/services.ts'

const truth = 'read following, restrictions, user_stats, posts, strategies'
const reads = {
  TIME_BUCKETS: 'read timed_buckets',
  SIZED_BUCKETS: 'read sized_buckets',
  CACHE: 'read timeline_cache',
  INBOX: 'read inbox',
  HYBRID: 'read inbox',
} as const satisfies Record<MaterialisedName, string>
const beside = feedStrategyNames.filter((name) => name !== 'HYBRID')
const stored = Object.keys(reads) as MaterialisedName[]
const engagement = { thresholds: { likes: 3, comments: 3, shares: 3 }, capacity: 2 }

interface Embedded {
  readonly id: PostId
  readonly text: string
}

/** How many documents of posts the read of what is true fetched, and how many keys it looked at. */
async function postsFetched({ db }: TestDatabase, { command }: RecordedCommand) {
  const { lsid, $db, $clusterTime, $readPreference, readConcern, ...bare } = command
  const { stages } = await db.command({ explain: bare, verbosity: 'executionStats' })
  const looked = stages.find(({ $lookup }: Document) => $lookup?.as === 'posts')
  return { docs: Number(looked.totalDocsExamined), keys: Number(looked.totalKeysExamined) }
}

describe.each(['text', 'author'] as const)('a query where entries hold %s', (entries) => {
  const app = useApp({ FEED_MAINTAINED: beside.join(), TIMELINE_ENTRIES: entries })
  const [reader, author] = [handle('reader'), handle('author')]

  beforeAll(async () => {
    await openAccounts(app.services, [reader, author])
    const timeline = beside.map((name) => `${name}: timeline(first: 1, strategy: ${name})`)
    const query = `{ ${timeline.map((field) => `${field} { edges { cursor } }`).join(' ')} }`
    expect((await app.send({ as: reader, query })).errors).toEqual([])
    await app.services.follows.follow(reader, author)
    for (let n = 0; n < 12; n++) await app.services.posts.create(author, { text: `text ${n}` })
    await app.rest()
  })

  const asked: readonly [fields: string, embedded: boolean][] = [
    ['id createdAt author { handle }', true],
    ['id createdAt author { handle } text', entries === 'text'],
    ['id text likeCount', false],
  ]

  describe.each(stored.filter((name) => name !== 'HYBRID'))('under %s', (name) => {
    test.each(asked)('of { %s } fetches no more posts than it must', async (fields, embedded) => {
      const page = `timeline(first: 10, strategy: ${name}) { servedBy edges { node { ${fields} } } }`
      const query = `{ ${page} }`
      const { result, commands } = await recorded(app.database.client, () =>
        app.send({ as: reader, query }),
      )
      expect(result.errors).toEqual([])
      expect(result.data.timeline.servedBy).toBe(name)
      const nodes = result.data.timeline.edges.map(({ node }: { node: object }) => node)
      expect(nodes).toHaveLength(10)
      if (fields.includes('text')) {
        expect(nodes[0]).toMatchObject({ text: 'text 11' })
        expect(nodes[9]).toMatchObject({ text: 'text 2' })
      }
      expect(labelsOf(commands)).toEqual([truth, reads[name]].sort())
      const looked = commands.find(({ command }) => command.pipeline?.[0]?.$documents)
      const { docs, keys } = await postsFetched(app.database, looked as RecordedCommand)
      // A page looks at one more than it shows.
      expect(docs).toBe(embedded ? 0 : 11)
      expect(keys).toBeGreaterThanOrEqual(11)
    })
  })
})

describe.each(stored)('a post that is embedded under %s', (name) => {
  const stage = useFeedStage(name, 'text')

  async function scene() {
    const { reader, author } = await stage.people('reader', 'author')
    await stage.page(reader)
    await stage.follow(reader, author)
    const texts = ['one', 'two', 'three']
    const posts: Embedded[] = []
    for (const text of texts) posts.unshift({ id: await stage.post(author, text), text })
    await stage.rest()
    const [newest, middle, oldest] = posts as [Embedded, Embedded, Embedded]
    return { reader, author, newest, middle, oldest }
  }

  const shown = async (reader: UserId, services: Services = stage.services) => {
    const window = { limit: 10, backward: false }
    const page = await services.feed.timeline(reader, { window, depth: 'text' })
    expect(page.servedBy).toBe(name)
    return page.items
  }

  test('does not show once it is deleted, though its text is held', async () => {
    const { reader, author, newest, middle, oldest } = await scene()
    expect(await shown(reader)).toMatchObject([newest, middle, oldest])
    await stage.remove(author, middle.id)
    expect(await stage.heldFor(reader)).toContain(middle.id)
    expect(await shown(reader)).toMatchObject([newest, oldest])
    await stage.rest()
    expect(await shown(reader)).toMatchObject([newest, oldest])
    expect(await stage.heldFor(reader)).not.toContain(middle.id)
  })

  test('does not show when it is deleted while the page is read, nor comes back late', async () => {
    const { reader, author, newest, middle, oldest } = await scene()
    const strategy = stage.services.strategies[name]
    const propose = strategy.candidates.bind(strategy)
    vi.spyOn(strategy, 'candidates').mockImplementationOnce(async (ask) => {
      const found = await propose(ask)
      expect(found.entries).toContainEqual({ author, ...middle })
      await stage.remove(author, middle.id)
      return found
    })
    expect(await shown(reader)).toMatchObject([newest, oldest])
    await stage.rest()
    await (await storeOf(stage.services, name)).deliver({ author, ...middle }, [reader])
    expect(await shown(reader)).toMatchObject([newest, oldest])
  })

  test('is shown as well among entries that hold more, or less', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await stage.page(reader)
    await stage.follow(reader, author)
    await stage.rest()
    const { database, clock } = stage.harness
    const { maintained } = stage
    const feed = { ...sizes, strategy: name, maintained, timeBucketDays: 0.01 }
    const processes = entryContents.map((entries) =>
      servicesOver(database, clock, engagement, 'collection', { ...feed, entries }),
    )
    const posts: Embedded[] = []
    for (const services of processes) {
      const text = `post ${posts.length}`
      posts.unshift({ id: (await services.posts.create(author, { text })).id, text })
      await drain(services)
      const holds = (await stage.entriesOf(reader))[0]
      expect(Object.keys(holds ?? {})).toHaveLength(posts.length)
      for (const reading of processes) {
        expect(await shown(reader, reading)).toMatchObject(posts)
      }
    }
  })
})

describe.each(['INBOX', 'HYBRID'] as const)('a page, with %s', (inbox) => {
  const names = inbox === 'HYBRID' ? (['HYBRID'] as const) : beside
  const feed = { maintained: [...names], cacheSize: 100 }
  const harness = useServices('collection', engagement, feed)
  const crowd = Array.from({ length: 300 }, (_, n) => handle(`u${n}`))
  /** So many followees, and at least 130 posts of theirs, of which the newest came one by one. */
  const readers = [10, 300] as const
  const reader = (followees: number) => handle(`reader-${followees}`)

  beforeAll(async () => {
    const { services, clock } = harness
    const { collections, edges, transactions } = services
    const mint = new IdMint(clock.now)
    await openAccounts(services, [...crowd, ...readers.map(reader)])
    const authors = [...crowd, ...Array.from({ length: 13 }, () => crowd.slice(0, 10)).flat()]
    const docs = authors.map((author) => {
      return { _id: toObjectId(mint.next<PostId>()), author, text: `by ${author}` }
    })
    await collections.posts.insertMany(docs)
    for (const followees of readers) {
      const followed = crowd.slice(0, followees)
      const all = followed.map((followee) => {
        const id = mint.next<EdgeId>()
        return { id, follower: reader(followees), followee, source: 'FEEDLINE' as const }
      })
      await transactions.run((tx) => edges.insert(tx, all))
      const entries = docs
        .filter(({ author }) => followed.includes(author))
        .map(({ _id, author }) => ({ id: _id.toHexString() as PostId, author }))
        .reverse()
      for (const name of names) {
        if (name === 'FANOUT_ON_READ') continue
        const old = entries.slice(3)
        const store = await storeOf(services, name)
        await store.merge(reader(followees), {
          entries: old,
          newest: true,
          oldest: true,
        })
        for (const entry of entries.slice(0, 3)) {
          await store.deliver(entry, [reader(followees)])
        }
      }
    }
  })

  /** What the first page sends, all of which must reach one shard and come to an end. */
  async function sentFor(
    strategy: FeedStrategyName,
    followees: number,
    limit: number,
    services = harness.services,
  ) {
    const { result, commands } = await recorded(harness.database.client, async () => {
      const window = { limit, backward: false }
      const asked = { window, strategy, depth: 'content' } as const
      const page = await services.feed.timeline(reader(followees), asked)
      expect(await page.hasNextPage()).toBe(true)
      return page
    })
    expect(result.items).toHaveLength(limit)
    expect(result.servedBy).toBe(strategy)
    expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
    return commands
  }

  async function labelsFor(...asked: Parameters<typeof sentFor>) {
    const commands = await sentFor(...asked)
    expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
    return labelsOf(commands)
  }

  test.each(names.filter((name) => name !== 'FANOUT_ON_READ'))(
    'of %s costs two commands, three under HYBRID, of 1 post and of 100, of 10 followees and of 300',
    async (name) => {
      const notes = name === 'HYBRID' ? ['read pulled_authors'] : []
      for (const followees of readers) {
        // Makes the cache.
        await sentFor(name, followees, 1)
        for (const limit of [1, 100]) {
          const all = [truth, reads[name], ...notes].sort()
          expect(await labelsFor(name, followees, limit)).toEqual(all)
        }
      }
    },
  )

  if (inbox === 'INBOX') {
    test('of FANOUT_ON_READ costs three commands, and one more for every 200 followees', async () => {
      for (const limit of [1, 100]) {
        const few = [truth, 'read following', 'read posts'].sort()
        expect(await labelsFor('FANOUT_ON_READ', 10, limit)).toEqual(few)
        expect(await labelsFor('FANOUT_ON_READ', 300, limit)).toEqual([...few, 'read posts'].sort())
      }
    })

    test('of CACHE costs five commands and those of FANOUT_ON_READ where it is made first', async () => {
      const { timeline_cache } = harness.services.collections
      const made = ['findAndModify timeline_cache', 'update timeline_cache', 'read timeline_cache']
      for (const followees of readers) {
        await timeline_cache.deleteOne({ _id: reader(followees) })
        const oracle = ['read following', ...(followees > 200 ? ['read posts'] : []), 'read posts']
        const all = [...made, ...oracle, 'read posts', truth].sort()
        expect(await labelsFor('CACHE', followees, 100)).toEqual(all)
      }
    })

    test('costs one command more where entries say no author, and that one asks every shard', async () => {
      const entries = 'id'
      const services = servicesOver(harness.database, harness.clock, engagement, 'collection', {
        ...feed,
        entries,
      })
      const { inbox } = harness.services.collections
      for (const followees of readers) {
        await inbox.updateMany({ '_id.reader': reader(followees) }, { $unset: { author: '' } })
        for (const limit of [1, 100]) {
          const commands = await sentFor('INBOX', followees, limit, services)
          const all = [truth, 'read inbox', 'read posts'].sort()
          expect(labelsOf(commands).filter((label) => label !== 'read strategies')).toEqual(all)
          const spread = commands.flatMap((sent) => shardProblemOf(sent) ?? [])
          expect(spread).toEqual(['read posts does not carry author,_id'])
        }
      }
    })
  } else {
    test('of HYBRID costs five commands where the reader follows authors who are read', async () => {
      const { pulled_authors } = harness.services.collections
      const notes = readers.flatMap((followees) =>
        crowd.slice(5, 150).map((author) => ({ _id: { reader: reader(followees), author } })),
      )
      await pulled_authors.insertMany(notes)
      const read = ['read following', 'read inbox', 'read posts', 'read pulled_authors', truth]
      for (const followees of readers) {
        for (const limit of [1, 100]) {
          expect(await labelsFor('HYBRID', followees, limit)).toEqual(read.sort())
        }
      }
    })
  }
})

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type PostId } from '../../src/lib/ids.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { sameLimits } from '../support/engagement.ts'
import { keepMemory } from '../support/memory.ts'
import { recorded } from '../support/mongo.ts'
import { entryReads, factsReads, unkeptFactsReads } from '../support/page-commands.ts'
import { routingProblems } from '../support/routing.ts'
import { handle, openAccounts, servicesOver, storeOf, useServices } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

describe('a page', () => {
  const names = feedStrategyNames
  const feed = { maintained: [...names], cacheSize: 100 }
  const harness = useServices('collection', engagement, feed)
  const crowd = Array.from({ length: 300 }, (_, n) => handle(`u${n}`))
  /** The numbers of followees. Each reader’s followees have at least 130 posts. */
  const readers = [10, 300] as const
  const reader = (followees: number) => handle(`reader-${followees}`)

  beforeAll(async () => {
    const { services, clock } = harness
    const { collections } = services
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
      await storeEdges(services, all)
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

  /** The commands of the first page, each of which must reach one shard and have a time limit. */
  async function sentFor(
    strategy: FeedStrategyName,
    followees: number,
    limit: number,
    services = harness.services,
  ) {
    const { result, commands } = await recorded(harness.database.client, async () => {
      const window = { limit, backward: false }
      const asked = { window, strategy, projection: 'content' } as const
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

  /**
   * From the third page on, the relations of the reader are in memory, with the accounts and posts
   * of the page.
   */
  async function warmUp(strategy: FeedStrategyName, services = harness.services) {
    for (const followees of readers)
      for (let times = 0; times < 2; times++) await sentFor(strategy, followees, 100, services)
  }

  test.each(names.filter((name) => name !== 'FANOUT_ON_READ'))(
    'a page of %s costs two commands, at any size and number of followees',
    async (name) => {
      await warmUp(name)
      for (const followees of readers) {
        for (const limit of [1, 100]) {
          const all = [...factsReads.withCounts, entryReads[name]].sort()
          expect(await labelsFor(name, followees, limit)).toEqual(all)
        }
      }
    },
  )

  test('a first page costs two commands beside the relations of its reader, and two for unknown authors', async () => {
    const services = servicesOver(harness.database, harness.clock, engagement, 'collection', feed)
    await keepMemory(services)
    onTestFinished(() => services.memory.close())
    const relations = ['read following', 'read restrictions']
    const accounts = ['read user_stats', 'read users']
    const page = [...factsReads.withCounts, entryReads.INBOX]
    // What a process reads once.
    await services.registry.read()
    const [few, many] = readers
    await sentFor('INBOX', many, 100, services)
    // Its followees are among those of the reader before.
    expect(labelsOf(await sentFor('INBOX', few, 10, services))).toEqual(
      [...page, ...relations].sort(),
    )
    const other = servicesOver(harness.database, harness.clock, engagement, 'collection', feed)
    await keepMemory(other)
    onTestFinished(() => other.memory.close())
    await other.registry.read()
    const first = ['read strategies', ...page, ...relations, ...accounts].sort()
    expect(labelsOf(await sentFor('INBOX', few, 100, other))).toEqual(first)
  })

  test('a page costs seven commands where nothing is kept', async () => {
    const nothing = { ...feed, pageCacheMb: 0 }
    const services = servicesOver(
      harness.database,
      harness.clock,
      engagement,
      'collection',
      nothing,
    )
    await sentFor('INBOX', 10, 1, services)
    const all = [...unkeptFactsReads, entryReads.INBOX].sort()
    expect(labelsOf(await sentFor('INBOX', 300, 100, services))).toEqual(all)
  })

  test('a page of FANOUT_ON_READ costs the read of its counts, at any number of followees', async () => {
    await warmUp('FANOUT_ON_READ')
    for (const limit of [1, 100])
      for (const followees of readers)
        expect(await labelsFor('FANOUT_ON_READ', followees, limit)).toEqual(factsReads.withCounts)
  })

  test('a page of FANOUT_ON_READ costs one command more for every 200 followees where nothing is kept', async () => {
    const services = servicesOver(harness.database, harness.clock, engagement, 'collection', feed)
    await sentFor('FANOUT_ON_READ', 10, 1, services)
    const facts = unkeptFactsReads.filter((label) => label !== 'read strategies')
    const few = [...facts, 'read following', 'read posts'].sort()
    for (const limit of [1, 100]) {
      expect(await labelsFor('FANOUT_ON_READ', 10, limit, services)).toEqual(few)
      expect(await labelsFor('FANOUT_ON_READ', 300, limit, services)).toEqual(
        [...few, 'read posts'].sort(),
      )
    }
  })

  test('a page that creates its CACHE costs five commands, with its posts from memory', async () => {
    const { timeline_cache } = harness.services.collections
    const made = ['update timeline_cache', 'update timeline_cache', 'read timeline_cache']
    await warmUp('CACHE')
    for (const followees of readers) {
      await timeline_cache.deleteOne({ _id: reader(followees) })
      const all = [...made, 'read posts', ...factsReads.withCounts].sort()
      expect(await labelsFor('CACHE', followees, 100)).toEqual(all)
    }
  })

  test('a page of entries without authors costs one more command, which asks every shard', async () => {
    const entries = 'id'
    const services = servicesOver(harness.database, harness.clock, engagement, 'collection', {
      ...feed,
      entries,
    })
    await keepMemory(services)
    onTestFinished(() => services.memory.close())
    const { inbox } = harness.services.collections
    for (const followees of readers)
      await inbox.updateMany({ '_id.reader': reader(followees) }, { $unset: { author: '' } })
    await warmUp('INBOX', services)
    for (const followees of readers) {
      for (const limit of [1, 100]) {
        const commands = await sentFor('INBOX', followees, limit, services)
        const all = [...factsReads.withCounts, 'read inbox', 'read posts'].sort()
        expect(labelsOf(commands).filter((label) => label !== 'read strategies')).toEqual(all)
        const spread = commands.flatMap(({ command }) =>
          routingProblems({ statement: command, inTransaction: false }),
        )
        expect(spread).toMatchObject([{ collection: 'posts', kind: 'broadcast' }])
      }
    }
  })
})

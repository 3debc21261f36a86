import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { entryContents } from '../../src/timeline/entries.ts'
import { feedStrategyNames, materialisedNames } from '../../src/timeline/strategies/list.ts'
import { useApp } from '../support/app.ts'
import { labelOf, labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { sizes, useFeedFixture } from '../support/feed-fixture.ts'
import { type RecordedCommand, recorded, type TestDatabase } from '../support/mongo.ts'
import { entryReads, unkeptFactsReads } from '../support/page-commands.ts'
import { share } from '../support/repetition.ts'
import { drain, handle, openAccounts, servicesOver, storeOf } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

interface Embedded {
  readonly id: PostId
  readonly text: string
}

/** The number of documents and keys of `posts` that the read of the page facts examined. */
async function postsFetched({ db }: TestDatabase, { command }: RecordedCommand) {
  const { lsid, $db, $clusterTime, $readPreference, readConcern, ...bare } = command
  const { executionStats } = await db.command({ explain: bare, verbosity: 'executionStats' })
  const { totalDocsExamined: docs, totalKeysExamined: keys } = executionStats
  return { docs, keys }
}

describe.each(['text', 'author'] as const)('a query with entries of content %s', (entries) => {
  const app = useApp({
    ...{ FEED_MAINTAINED: feedStrategyNames.join(), TIMELINE_ENTRIES: entries },
    // In memory, a post has its text anyway.
    PAGE_CACHE_MB: '0',
  })
  const [reader, author] = [handle('reader'), handle('author')]

  beforeAll(async () => {
    await openAccounts(app.services, [reader, author])
    const timeline = feedStrategyNames.map(
      (name) => `${name}: timeline(first: 1, strategy: ${name})`,
    )
    const query = `{ ${timeline.map((field) => `${field} { edges { cursor } }`).join(' ')} }`
    expect((await app.send({ as: reader, query })).errors).toEqual([])
    await app.services.follows.follow(reader, author)
    for (let n = 0; n < 12; n++) await app.services.posts.create(author, { text: `text ${n}` })
    await app.rest()
  })

  const asked: readonly [fields: string, embedded: boolean][] = [
    ['id createdAt author { id }', true],
    ['id createdAt author { id } text', entries === 'text'],
    ['id text likeCount', false],
  ]

  describe.each(materialisedNames)('under %s', (name) => {
    test.each(asked)('a query of { %s } fetches no unnecessary posts', async (fields, embedded) => {
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
      expect(labelsOf(commands)).toEqual([...unkeptFactsReads, entryReads[name]].sort())
      const looked = commands.find((sent) => labelOf(sent) === 'read posts')
      const { docs, keys } = await postsFetched(app.database, looked as RecordedCommand)
      // A page examines one post more than it shows.
      expect(docs).toBe(embedded ? 0 : 11)
      expect(keys).toBeGreaterThanOrEqual(11)
    })
  })
})

describe.each(share(2, materialisedNames))('an embedded post under %s', (name) => {
  const fixture = useFeedFixture(name, 'text')

  async function scene() {
    const { reader, author } = await fixture.people('reader', 'author')
    await fixture.page(reader)
    await fixture.follow(reader, author)
    const texts = ['one', 'two', 'three']
    const posts: Embedded[] = []
    for (const text of texts) posts.unshift({ id: await fixture.post(author, text), text })
    await fixture.rest()
    const [newest, middle, oldest] = posts as [Embedded, Embedded, Embedded]
    return { reader, author, newest, middle, oldest }
  }

  const shown = async (reader: UserId, services: Services = fixture.services) => {
    const window = { limit: 10, backward: false }
    const page = await services.feed.timeline(reader, { window, projection: 'text' })
    expect(page.servedBy).toBe(name)
    return page.items.map(({ post }) => post)
  }

  test('a deleted post is not shown though entries contain its text', async () => {
    const { reader, author, newest, middle, oldest } = await scene()
    expect(await shown(reader)).toMatchObject([newest, middle, oldest])
    await fixture.remove(author, middle.id)
    expect(await fixture.heldFor(reader)).toContain(middle.id)
    expect(await shown(reader)).toMatchObject([newest, oldest])
    await fixture.rest()
    expect(await shown(reader)).toMatchObject([newest, oldest])
    expect(await fixture.heldFor(reader)).not.toContain(middle.id)
  })

  test('a post deleted while a page is read is not shown, neither on this page nor later', async () => {
    const { reader, author, newest, middle, oldest } = await scene()
    const strategy = fixture.services.strategies[name]
    const propose = strategy.proposeCandidates.bind(strategy)
    vi.spyOn(strategy, 'proposeCandidates').mockImplementationOnce(async (ask) => {
      const found = await propose(ask)
      expect(found.entries).toContainEqual({ author, ...middle })
      await fixture.remove(author, middle.id)
      return found
    })
    expect(await shown(reader)).toMatchObject([newest, oldest])
    await fixture.rest()
    await (await storeOf(fixture.services, name)).deliver({ author, ...middle }, [reader])
    expect(await shown(reader)).toMatchObject([newest, oldest])
  })

  test('a page shows entries with different contents', async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await fixture.page(reader)
    await fixture.follow(reader, author)
    await fixture.rest()
    const { database, clock } = fixture.harness
    const { maintained } = fixture
    const feed = { ...sizes, strategy: name, maintained, timeBucketDays: 0.01 }
    const processes = entryContents.map((entries) =>
      servicesOver(database, clock, engagement, 'collection', { ...feed, entries }),
    )
    const posts: Embedded[] = []
    for (const services of processes) {
      const text = `post ${posts.length}`
      posts.unshift({ id: (await services.posts.create(author, { text })).id, text })
      await drain(services)
      const holds = (await fixture.entriesOf(reader))[0]
      expect(Object.keys(holds ?? {})).toHaveLength(posts.length)
      for (const reading of processes) {
        expect(await shown(reader, reading)).toMatchObject(posts)
      }
    }
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { FanoutOnRead } from '../../src/feed/strategies/fanout-on-read.ts'
import type { FeedStrategy } from '../../src/feed/strategies/strategy.ts'
import { FeedService } from '../../src/feed/timeline/feed-service.ts'
import type { PageFacts } from '../../src/feed/timeline/page-facts.ts'
import { type EdgeId, type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import type { Services } from '../../src/services.ts'
import {
  Actors,
  anyOp,
  anyPageRead,
  groupNames,
  Model,
  type Op,
  type PageRead,
  pageOf,
} from '../support/model.ts'
import { withoutFacts } from '../support/mutants.ts'
import {
  handle,
  lawRuns,
  lawSeed,
  openAccounts,
  type ServicesHarness,
  useServices,
} from '../support/services.ts'

const histories = lawRuns(24)

const group = fc.constantFrom(undefined, undefined, ...groupNames)

/** A history: writes, pages and rests in any order; then walks in pages of these sizes. */
const history = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: anyOp() as fc.Arbitrary<Op | PageRead | { kind: 'rest' }> },
      { weight: 2, arbitrary: anyPageRead },
      { weight: 1, arbitrary: fc.constant({ kind: 'rest' } as const) },
    ),
    { minLength: 5, maxLength: 45, size: '+1' },
  ),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  content: fc.boolean(),
  group,
})

/** Law L1 on one history: whatever is asked of the feed, it answers as the model does. */
function timelineLaw(harness: ServicesHarness, feedOf = (services: Services) => services.feed) {
  return fc.asyncProperty(history, async ({ steps, sizes, content, group }) => {
    const { services, rest } = harness
    const feed = feedOf(services)
    const actors = new Actors(services)
    const model = new Model()
    for (let a = 0; a < 3; a++)
      await actors.apply({ kind: 'createUser', a, b: 0, groups: [] }, model)
    for (const step of steps) {
      if (step.kind === 'page') await readPage(step)
      else if (step.kind === 'rest') await settled()
      else {
        const { found, expected } = await actors.apply(step, model)
        expect(found, step.kind).toBe(expected)
      }
    }
    await settled()
    for (const reader of model.users()) {
      for (const backward of [false, true]) {
        await walk(reader, backward, undefined)
        await walk(reader, !backward, group)
      }
    }
    await compareStats()

    async function settled() {
      await rest()
      model.rest()
    }

    async function readPage({ user, group, size, backward, content, after, before }: PageRead) {
      const reader = actors.user(user)
      if (!model.users().includes(reader)) return
      const post = (n: number | undefined) =>
        n === undefined ? undefined : actors.posts[n % Math.max(1, actors.posts.length)]?.id
      const window = { limit: size, backward, after: post(after), before: post(before) }
      await comparePage(reader, window, group, content)
    }

    async function walk(reader: UserId, backward: boolean, group: string | undefined) {
      let cursor: PostId | undefined
      for (let page = 0; ; page++) {
        const limit = sizes[page % sizes.length] ?? 1
        const window = { limit, backward, [backward ? 'before' : 'after']: cursor }
        const ids = await comparePage(reader, window, group, content)
        cursor = backward ? ids[0] : ids.at(-1)
        if (ids.length < limit) break
      }
    }

    async function comparePage(
      reader: UserId,
      window: Window,
      group: string | undefined,
      content: boolean,
    ): Promise<PostId[]> {
      const projection = content ? 'content' : 'ref'
      const page = await feed.timeline(reader, { window, group, projection })
      const found = {
        ids: page.items.map(({ id }) => id),
        next: await page.hasNextPage(),
        previous: await page.hasPreviousPage(),
      }
      expect(found).toEqual(pageOf(model.timeline(reader, group), window))
      return found.ids
    }

    async function compareStats() {
      const found = await services.stats.byIds(actors.users)
      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries(model.users().map((user) => [user, model.stats(user)])),
      )
    }
  })
}

describe.each(['collection', 'reverse-index'] as const)('following by %s', (following) => {
  const harness = useServices(following)
  const budgetMs = 30_000 + histories * 2_000

  test(
    'every timeline page of FANOUT_ON_READ equals the model after any history',
    async () => {
      await fc.assert(timelineLaw(harness), {
        numRuns: histories,
        interruptAfterTimeLimit: budgetMs,
        markInterruptAsFailure: true,
        ...lawSeed(),
      })
      console.info(`L1, ${following}: ${histories} histories`)
    },
    budgetMs + 30_000,
  )
})

describe('L1 mutants of FANOUT_ON_READ', () => {
  const harness = useServices()

  const withStrategy =
    (wrap: (right: FeedStrategy) => FeedStrategy, omitted?: keyof PageFacts) =>
    ({ follows, posts, registry, pageFacts, pending }: Services) => {
      const standard = 'FANOUT_ON_READ'
      const strategies = { [standard]: wrap(new FanoutOnRead(follows, posts)) }
      const mutantFacts = withoutFacts(pageFacts, omitted)
      return new FeedService({
        strategies,
        standard,
        registry,
        pageFacts: mutantFacts,
        pending,
        posts,
      })
    }

  const mutants: Record<string, (services: Services) => FeedService> = {
    'mutes and blocks are ignored': withStrategy((right) => right, 'restrictions'),
    'an entry is skipped at the edge of a page': withStrategy((right) => ({
      proposeCandidates: async (ask) => {
        if (!ask.range.olderThan) return right.proposeCandidates(ask)
        const range = { ...ask.range, limit: ask.range.limit + 1 }
        const { entries, complete } = await right.proposeCandidates({ ...ask, range })
        return { entries: entries.slice(1), complete }
      },
    })),
    'the reader’s own posts are missing': withStrategy((right) => ({
      proposeCandidates: async (ask) => {
        const { entries, complete } = await right.proposeCandidates(ask)
        return { entries: entries.filter(({ author }) => author !== ask.reader), complete }
      },
    })),
  }

  test.each(Object.keys(mutants))(
    'the law finds the mutant: %s',
    async (name) => {
      const options = { numRuns: 200, endOnFailure: true, seed: 1 }
      const outcome = await fc.check(timelineLaw(harness, mutants[name]), options)
      console.info(`L1 mutant: ${name}: failed after ${outcome.numRuns} histories`)
      expect(outcome).toMatchObject({ failed: true, interrupted: false })
      expect(String(outcome.errorInstance)).toContain('AssertionError')
    },
    120_000,
  )
})

describe('timeline pages of FANOUT_ON_READ', () => {
  const harness = useServices()
  let scenes = 0

  /** Accounts of these names, in a scene of its own. */
  async function people<Name extends string>(...names: Name[]) {
    const scene = `s${scenes++}-`
    const ids = names.map((name) => handle(scene + name))
    await openAccounts(harness.services, ids)
    return Object.fromEntries(names.map((name, n) => [name, ids[n]])) as Record<Name, UserId>
  }

  async function posts(author: UserId, count: number): Promise<PostId[]> {
    const ids: PostId[] = []
    while (ids.length < count) {
      ids.unshift((await harness.services.posts.create(author, { text: `${ids.length}` })).id)
    }
    return ids
  }

  async function read(reader: UserId, limit: number, after?: PostId, group?: string) {
    const request = {
      window: { limit, backward: false, after },
      projection: 'content',
      group,
    } as const
    return (await harness.services.feed.timeline(reader, request)).items.map(({ id }) => id)
  }

  test('a walk through a timeline has no gap and no repeat while new posts arrive', async () => {
    const { reader, author } = await people('reader', 'author')
    await harness.services.follows.follow(reader, author)
    const old = await posts(author, 9)
    const walked: PostId[] = []
    for (let page = await read(reader, 2); page.length > 0; ) {
      walked.push(...page)
      await posts(author, 3)
      page = await read(reader, 2, walked.at(-1))
    }
    expect(walked).toEqual(old)
  })

  test('a timeline cursor stays valid after its post is deleted', async () => {
    const { reader } = await people('reader')
    const ids = await posts(reader, 5)
    const [, second] = await read(reader, 2)
    await harness.services.posts.delete(reader, { id: second as PostId, author: reader })
    expect(await read(reader, 5, second)).toEqual(ids.slice(2))
  })

  test('the posts of 450 followees, more than two queries hold, merge in one order', async () => {
    const names = Array.from({ length: 450 }, (_, n) => `u${n}`)
    const { reader } = await people('reader')
    const authors = Object.values(await people(...names)) as UserId[]
    const { collections, edges, transactions } = harness.services
    const made = authors.map((followee, n) => ({
      id: timeIdAt<EdgeId>(1e12, n.toString(16).padStart(12, '0')),
      follower: reader,
      followee,
      source: 'IMPORT' as const,
    }))
    await transactions.run((tx) => edges.insert(tx, made))
    // Neighbours in time are far apart among the followees.
    const docs = authors.flatMap((author, n) =>
      [0, 1].map((k) => {
        const at = 1.1e12 + k * 1000 + ((n * 197) % 450)
        return { _id: toObjectId(timeIdAt<PostId>(at, '0'.repeat(12))), author, text: 'x' }
      }),
    )
    await collections.posts.insertMany(docs)
    const all = docs
      .map(({ _id }) => _id.toHexString())
      .sort()
      .reverse()
    const walked: PostId[] = []
    for (let page = await read(reader, 100); page.length > 0; ) {
      walked.push(...page)
      page = await read(reader, 100, walked.at(-1))
    }
    expect(walked).toEqual(all)
  })

  test('a page is full although a muted author posts more than all others', async () => {
    const { reader, loud, quiet } = await people('reader', 'loud', 'quiet')
    for (const author of [loud, quiet]) await harness.services.follows.follow(reader, author)
    const wanted = await posts(quiet, 3)
    await posts(loud, 60)
    await harness.services.restrictions.mute(reader, loud)
    expect(await read(reader, 3)).toEqual(wanted)
  })

  test('a deleted user’s posts are hidden on the next timeline read, before any purge', async () => {
    const { reader, author } = await people('reader', 'author')
    await harness.services.follows.follow(reader, author)
    const [id] = await posts(author, 1)
    expect(await read(reader, 5)).toEqual([id])
    await harness.services.users.delete(author)
    expect(await read(reader, 5)).toEqual([])
    expect(await harness.services.collections.posts.countDocuments({ author })).toBe(1)
    await harness.rest()
    expect(await harness.services.collections.posts.countDocuments({ author })).toBe(0)
  })

  test('a group’s timeline shows exactly the posts of its members', async () => {
    const { reader, inside, outside } = await people('reader', 'inside', 'outside')
    for (const author of [inside, outside]) await harness.services.follows.follow(reader, author)
    await harness.services.follows.setGroups(reader, inside, ['close'])
    const wanted = await posts(inside, 2)
    for (const author of [outside, reader]) await posts(author, 2)
    expect(await read(reader, 5, undefined, 'close')).toEqual(wanted)
    expect(await read(reader, 5, undefined, 'work')).toEqual([])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import type { Services } from '../../src/services.ts'
import { FeedService } from '../../src/timeline/pages/feed-service.ts'
import type { PageFacts } from '../../src/timeline/pages/page-facts.ts'
import { FanoutOnRead } from '../../src/timeline/strategies/fanout-on-read.ts'
import type { FeedStrategy } from '../../src/timeline/strategies/strategy.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { sampledFollowing, share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { type ServicesHarness, useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import {
  Actors,
  anyOp,
  anyPageRead,
  groupNames,
  Model,
  type Op,
  type PageRead,
  pageOf,
} from './model/model.ts'
import { withoutFacts } from './model/mutants.ts'

const histories = lawRuns(24)

const group = fc.constantFrom(undefined, undefined, ...groupNames)

/**
 * A history: writes, page reads and runs of all jobs in any order. Then walks in pages of these
 * sizes.
 */
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

type History = typeof history extends fc.Arbitrary<infer T> ? T : never

/**
 * A reader mutes a followee of a group. Without the group, memory proposes no post of the followee.
 */
const mutedInGroup: History = {
  steps: [
    { kind: 'follow', a: 0, b: 1, groups: [] },
    { kind: 'setGroups', a: 0, b: 1, groups: ['close'] },
    { kind: 'post', a: 1, b: 0, groups: [] },
    { kind: 'mute', a: 0, b: 1, groups: [] },
  ],
  ...{ sizes: [2], content: true, group: 'close' },
}

/** Law L1 on one history: every page of the feed equals the model’s. */
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
        ids: page.items.map(({ post }) => post.id),
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

describe.each(sampledFollowing(1))('following by %s', (following) => {
  const harness = useServices(following)
  const budgetMs = 30_000 + histories * 2_000

  test(
    'every timeline page of FANOUT_ON_READ equals the model after any history',
    async () => {
      await checkLaw(timelineLaw(harness), { name: `L1, ${following}`, histories, budgetMs })
    },
    patient(budgetMs + 30_000),
  )
})

describe('L1 mutants of FANOUT_ON_READ', () => {
  const harness = useServices()

  const withStrategy =
    (wrap: (right: FeedStrategy) => FeedStrategy, omitted?: keyof PageFacts) =>
    (services: Services) => {
      const { pageFacts } = services
      const standard = 'FANOUT_ON_READ'
      const strategies = { [standard]: wrap(new FanoutOnRead(services)) }
      const mutantFacts = withoutFacts(pageFacts, omitted)
      return new FeedService({ ...services, strategies, standard, pageFacts: mutantFacts })
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

  test.each(share(1, Object.keys(mutants)))(
    'the law finds the mutant: %s',
    async (name) => {
      const examples: [History][] = [[mutedInGroup]]
      const options = { numRuns: 100, endOnFailure: true, seed: 1, examples }
      const outcome = await fc.check(timelineLaw(harness, mutants[name]), options)
      noteFact(`L1 mutant: ${name}: failed after ${outcome.numRuns} histories`)
      expect(outcome).toMatchObject({ failed: true, interrupted: false })
      expect(String(outcome.errorInstance)).toContain('AssertionError')
    },
    patient(120_000),
  )
})

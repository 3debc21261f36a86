import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PostFacts } from '../../src/db/collections.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { materialisedNames as everyStrategy } from '../../src/timeline/strategies/list.ts'
import { runCommand } from '../support/command-line.ts'
import { lawRuns } from '../support/seed.ts'
import {
  handle,
  openAccounts,
  type ServicesHarness,
  storeOf,
  useServices,
} from '../support/services.ts'
import { activity, addJob, verified } from '../support/verify.ts'

const all = 'all that FANOUT_ON_READ shows'

describe('a database on which nothing but the services wrote', () => {
  const harness = useServices('collection', undefined, { maintained: everyStrategy })

  beforeAll(async () => {
    await activity(harness, ['ann', 'bob', 'cem', 'dan', 'eve', 'fay'])
  })

  test('verify finds nothing in an undamaged database, and checks all of it', async () => {
    const { differences, report } = await verified(harness.services)
    expect(differences).toEqual([])
    expect(report.inFlight).toBe(0)
    expect(report.checked).toEqual({
      users: 6,
      edges: 6 * 5 - 2,
      posts: 5,
      engagements: 5 * 6 * 3,
      readers: 6,
      timelines: 6 * everyStrategy.length,
    })
  })

  test('verify finds nothing during concurrent writes', async () => {
    const { services, rest } = harness
    const [ann, bob, dan] = ['ann', 'bob', 'dan'].map(handle) as [UserId, UserId, UserId]
    const post = await services.posts.create(ann, { text: 'busy' })
    let over = false
    const traffic = [bob, dan].map(async (one) => {
      while (!over) {
        await services.engagements.add('likes', one, post)
        await services.follows.unfollow(one, ann)
        await services.engagements.remove('likes', one, post)
        await services.follows.follow(one, ann)
        const short = await services.posts.create(one, { text: 'short' })
        await services.engagements.add('shares', ann, short)
        await services.posts.delete(one, short)
      }
    })
    try {
      for (let run = 0; run < Math.min(3, lawRuns(1)); run++) {
        expect((await verified(services)).differences).toEqual([])
      }
    } finally {
      over = true
      await Promise.all(traffic)
      await rest()
    }
  })

  test('feedline verify exits with 0 without findings, and prints them as JSON', async () => {
    const { code, out, err } = await run(harness, '--readers', '3', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const object = JSON.parse(out.trim().split('\n').at(-1) ?? '')
    expect(object).toEqual({
      checked: expect.objectContaining({ users: 6, readers: 3, timelines: 12 }),
      differences: 0,
      repaired: 0,
      remaining: 0,
      unrepairable: 0,
      inFlight: 0,
      byKind: {},
      sample: [],
      seconds: expect.any(Number),
    })
  })

  test('verify reads timelines with the stored options, not with the configured ones', async () => {
    const caches = () =>
      harness.services.collections.timeline_cache.find().sort({ _id: 1 }).toArray()
    const before = await caches()
    const other = { CACHE_SIZE: '2', TIME_BUCKET_DAYS: '0.5', CACHE_AWAY_DAYS: '3000' }
    const { code, out } = await run(harness, '--readers', 'all', other)
    expect(out).toMatch(/ 24 timelines of 6 readers in .* s\.\n0 differences, 0 in flight\.\n$/)
    expect(code).toBe(0)
    expect(await caches()).toEqual(before)
  })
})

describe('a stored timeline', () => {
  const harness = useServices('collection', undefined, { maintained: everyStrategy })
  let post: PostRef

  beforeAll(async () => {
    const postOf = await activity(harness, ['ann', 'bob', 'cem', 'dan'])
    post = postOf('dan')
  })
  beforeEach(async () => {
    const { services, rest } = harness
    await services.collections.outbox.deleteMany({})
    post = await services.posts.create(handle('dan'), { text: 'again' })
    await rest()
  })

  /** Removes the post from ann's timeline under each strategy. */
  async function lose() {
    const { timed_buckets, sized_buckets, timeline_cache, inbox } = harness.services.collections
    const _id = toObjectId(post.id)
    const pull = { $pull: { entries: { post: _id } } }
    await timed_buckets.updateMany({ '_id.reader': 'ann' }, pull)
    await sized_buckets.updateMany({ reader: 'ann' }, pull)
    await timeline_cache.updateOne({ _id: 'ann' }, pull)
    await inbox.deleteOne({ _id: { reader: 'ann', post: _id } })
  }
  /** Inserts it again. */
  async function deliver(): Promise<void> {
    for (const name of everyStrategy) {
      const store = await storeOf(harness.services, name)
      await store.deliver(post, [handle('ann')])
    }
  }
  const missing = (more = '') =>
    everyStrategy.map((name) => ({
      law: 'L1',
      invariant: 'timelines',
      kind: 'missing',
      subject: `ann ${name}`,
      expected: all,
      found: `missing 1: ${post.id}${more}`,
    }))
  const bySubject = (a: { subject: string }, b: { subject: string }) =>
    a.subject < b.subject ? -1 : 1

  test('verify reports a missing post of each strategy’s stored timeline', async () => {
    await lose()
    const { differences, report } = await verified(harness.services)
    expect(differences.toSorted(bySubject)).toEqual(missing().toSorted(bySubject))
    expect(report.inFlight).toBe(0)
    await deliver()
    expect((await verified(harness.services)).differences).toEqual([])
  })

  test.each([
    ['post.created', () => ({ author: 'dan', post: post.id })],
    ['follow.created', () => ({ follower: 'ann', followee: 'dan' })],
  ] as const)(
    'verify counts a missing post as in flight while %s waits, not while it is parked',
    async (kind, payload) => {
      const { services } = harness
      await lose()
      await addJob(services, kind, payload())
      const waiting = await verified(services)
      expect(waiting.differences).toEqual([])
      expect(waiting.report.inFlight).toBe(everyStrategy.length)
      await services.collections.outbox.updateMany({}, { $set: { state: 'PARKED' } })
      const parked = await verified(services)
      const expected = missing('; the jobs of 1 are parked')
      const own = parked.differences.filter(({ law }) => law === 'L1')
      expect(own.toSorted(bySubject)).toEqual(expected.toSorted(bySubject))
      expect(parked.differences.filter(({ law }) => law === 'L4')).toMatchObject([
        { kind: 'parked', subject: expect.stringContaining(kind), found: 'parked: no error' },
      ])
      expect(parked.report.inFlight).toBe(0)
      await services.collections.outbox.deleteMany({})
      await deliver()
    },
  )

  test('verify skips timelines that wait for a back-fill, and caches that do not exist', async () => {
    const { services } = harness
    const { strategies, timeline_cache } = services.collections
    await lose()
    await strategies.updateMany(
      { _id: { $ne: 'CACHE' } },
      { $set: { complete: false, covered: 'aaa' } },
    )
    await timeline_cache.deleteOne({ _id: 'ann' })
    const { differences, report } = await verified(services)
    // No job fills them either.
    expect(differences.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual(
      everyStrategy.flatMap((name) => (name === 'CACHE' ? [] : [`backfill ${name}`])).sort(),
    )
    expect(report.checked).toMatchObject({ readers: 4, timelines: 3 })
    expect(await timeline_cache.countDocuments({ _id: 'ann' })).toBe(0)
    await strategies.updateMany({}, { $set: { complete: true } })
    await deliver()
  })

  test('verify reports extra posts and a wrong order of a stored timeline', async () => {
    const { services } = harness
    const post = { id: 'f'.repeat(24), author: 'mallory' } as PostFacts
    const foreign = { at: post.id, post, by: post.author, reason: 'POSTED' } as const
    const timeline: typeof services.feed.timeline = async (reader, request) => {
      const page = await services.feed.timeline(reader, request)
      const { strategy, items } = page
      if (reader !== 'ann' || items.length === 0) return page
      if (strategy === 'INBOX') return { ...page, items: [foreign, ...items] }
      if (strategy === 'TIME_BUCKETS') return { ...page, items: [...items].reverse() }
      if (strategy === 'SIZED_BUCKETS') return { ...page, items: [...items, ...items.slice(0, 1)] }
      return page
    }
    const { differences } = await verified({ ...services, feed: { timeline } })
    expect(differences.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()).toEqual([
      'extra ann INBOX',
      'missing ann TIME_BUCKETS',
      'order ann SIZED_BUCKETS',
      'order ann TIME_BUCKETS',
    ])
    expect(differences.find(({ kind }) => kind === 'extra')?.found).toBe(`extra 1: ${foreign.at}`)
  })
})

describe('the command on a database with differences', () => {
  const harness = useServices()

  beforeAll(async () => {
    const ids = Array.from({ length: 120 }, (_, n) => handle(`u${String(n).padStart(3, '0')}`))
    await openAccounts(harness.services, ids)
    await harness.services.collections.user_stats.deleteMany({})
  })

  test('feedline verify exits with 1 after findings, prints the first hundred, and counts all', async () => {
    const { code, out, err } = await run(harness)
    const lines = out.trim().split('\n')
    expect({ code, err, lines: lines.length }).toEqual({ code: 1, err: '', lines: 103 })
    expect(lines[0]).toBe('L3 counters  u000: expected the counters of a live account; found none')
    expect(lines.slice(-3)).toEqual([
      'and 20 more',
      expect.stringMatching(/^Checked 120 users, 0 edges, 0 posts, /),
      '120 differences, 0 in flight.',
    ])
  })

  test('feedline verify --json exits with 1 after findings, and prints the first hundred', async () => {
    const { code, out } = await run(harness, '--json')
    const object = JSON.parse(out.trim().split('\n').at(-1) ?? '')
    expect(code).toBe(1)
    expect(object).toMatchObject({ differences: 120, byKind: { 'L3 counters': 120 } })
    expect(object.sample).toHaveLength(100)
    expect(object.sample[99]).toEqual({
      law: 'L3',
      invariant: 'accounts',
      kind: 'counters',
      subject: 'u099',
      expected: 'the counters of a live account',
      found: 'none',
    })
  })

  test('feedline verify refuses an invalid number of readers', async () => {
    const { code, out, err } = await run(harness, '--readers', 'most')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('a whole number from 0 to 100000')
  })
})

async function run(harness: ServicesHarness, ...args: (string | Record<string, string>)[]) {
  const { uri, name } = harness.database
  const options = args.filter((one) => typeof one === 'string')
  const env = Object.assign({}, ...args.filter((one) => typeof one !== 'string'))
  const { code, stdout, stderr } = await runCommand(['verify', ...options], {
    MONGODB_URI: uri,
    MONGODB_DATABASE: name,
    ...env,
  })
  return { code, out: stdout, err: stderr }
}

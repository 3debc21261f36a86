import { describe, expect, test, vi } from 'vitest'
import type { PostId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import { entryContents } from '../../src/timeline/entries.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import type { Entry } from '../../src/timeline/strategies/strategy.ts'
import { describeFeedStrategy } from '../conformance/feed-strategy.ts'
import { type FeedFixture, newestFirst, useFeedFixture } from '../support/feed-fixture.ts'
import { share } from '../support/repetition.ts'
import { storeOf } from '../support/services.ts'

for (const [n, strategy] of feedStrategyNames.entries()) {
  // What stores no entries is the same whatever they hold. By day each other strategy holds one
  // sort, not all the same.
  const contents =
    strategy === 'FANOUT_ON_READ'
      ? (['author'] as const)
      : share(entryContents.length, entryContents, n)
  for (const entries of contents) describeFeedStrategy(strategy, entries, n)
}

describe('every strategy together', () => {
  const names = feedStrategyNames
  const fixture = useFeedFixture('INBOX', 'author', names)

  test('every strategy continues from the cursors of every other strategy, in both directions', async () => {
    const { reader, loud, fan } = await fixture.people('reader', 'loud', 'fan')
    for (const strategy of names) await fixture.page(reader, {}, { strategy })
    const old = await fixture.stored(loud, 30)
    for (const follower of [reader, fan]) await fixture.follow(follower, loud)
    await fixture.rest()
    const fresh: PostId[] = []
    for (const author of [loud, reader, loud, loud]) fresh.push(await fixture.post(author))
    await fixture.rest()
    const all = newestFirst(old, fresh)
    const shown = async (window: Partial<Window>, strategy: FeedStrategyName) =>
      (await fixture.page(reader, window, { strategy })).ids
    for (const [n, one] of names.entries()) {
      for (const limit of share(4, [1, 4, 5, 20], n)) {
        const first = await shown({ limit }, one)
        const last = await shown({ limit, backward: true }, one)
        expect([first, last]).toEqual([all.slice(0, limit), all.slice(-limit)])
        for (const other of names) {
          const after = { limit: 7, after: first.at(-1) }
          expect(await shown(after, other)).toEqual(all.slice(limit, limit + 7))
          const before = { limit: 7, before: last[0], backward: true }
          expect(await shown(before, other)).toEqual(all.slice(-limit - 7, -limit))
        }
      }
    }
  })
})

describe('concurrent deliveries', () => {
  /** An author without entries, and posts of the author, newest first. */
  async function scene(fixture: FeedFixture, count: number, stepMs = 1_000) {
    const { author } = await fixture.people('author')
    const all = await fixture.stored(author, count, { stepMs })
    return { author, all, entries: all.map((id): Entry => ({ id, author })) }
  }

  describe('in timed buckets', () => {
    const fixture = useFeedFixture('TIME_BUCKETS', 'author')

    test('two concurrent deliveries both store their post though one opens the bucket during the other (TIME_BUCKETS)', async () => {
      const { author, entries, all } = await scene(fixture, 2)
      const [one, other] = entries as [Entry, Entry]
      const { timed_buckets } = fixture.collections
      const store = await storeOf(fixture.services, 'TIME_BUCKETS')
      const deliver = (entry: Entry) => store.deliver(entry, [author])
      const find = timed_buckets.find.bind(timed_buckets)
      const looks = vi.spyOn(timed_buckets, 'find').mockImplementationOnce((filter, options) => {
        const cursor = find(filter as object, options)
        const toArray = cursor.toArray.bind(cursor)
        return Object.assign(cursor, { toArray: () => deliver(one).then(toArray) })
      })
      await deliver(other)
      expect(looks).toHaveBeenCalled()
      expect(await fixture.heldFor(author)).toEqual(all)
    })

    test.each([2, 3])(
      'a page shows a post though its full bucket has room again before write %i of its delivery (TIME_BUCKETS)',
      async (at) => {
        const { author, entries, all } = await scene(fixture, 2_001, 400)
        const [late, taken, ...rest] = entries as [Entry, Entry, ...Entry[]]
        const { timed_buckets } = fixture.collections
        const TIME_BUCKETS = await storeOf(fixture.services, 'TIME_BUCKETS')
        const segment = { entries: [taken, ...rest], newest: true, oldest: true }
        await TIME_BUCKETS.merge(author, segment)
        await fixture.remove(author, taken.id)
        const update = timed_buckets.updateMany.bind(timed_buckets)
        let write = 0
        const writes = vi.spyOn(timed_buckets, 'updateMany').mockImplementation(async (...args) => {
          if (++write === at) await TIME_BUCKETS.remove([author], [taken.id])
          return update(...args)
        })
        await TIME_BUCKETS.deliver(late, [author])
        writes.mockRestore()
        expect(await fixture.walked(author, {})).toEqual(all.filter((id) => id !== taken.id))
      },
    )
  })

  describe('TIME_BUCKETS with a deleted bucket', () => {
    const fixture = useFeedFixture('TIME_BUCKETS', 'author')

    test('a reader with a full bucket sees a post though the bucket of another reader is deleted during its delivery (TIME_BUCKETS)', async () => {
      const { author, all, entries } = await scene(fixture, 2_001, 400)
      const { leaver } = await fixture.people('leaver')
      const [late, ...rest] = entries as [Entry, ...Entry[]]
      const TIME_BUCKETS = await storeOf(fixture.services, 'TIME_BUCKETS')
      await TIME_BUCKETS.merge(author, { entries: rest, newest: true, oldest: true })
      await TIME_BUCKETS.merge(leaver, { entries: rest.slice(-1), newest: true, oldest: true })
      const { timed_buckets } = fixture.collections
      const find = timed_buckets.find.bind(timed_buckets)
      const looks = vi.spyOn(timed_buckets, 'find').mockImplementationOnce((filter, options) => {
        const cursor = find(filter as object, options)
        const toArray = cursor.toArray.bind(cursor)
        const leave = () => TIME_BUCKETS.deleteReader(leaver).then(toArray)
        return Object.assign(cursor, { toArray: leave })
      })
      await TIME_BUCKETS.deliver(late, [author, leaver])
      expect(looks).toHaveBeenCalled()
      expect(await fixture.walked(author, {})).toEqual(all)
    })
  })

  describe('in sized buckets', () => {
    const fixture = useFeedFixture('SIZED_BUCKETS', 'author')

    test('a post is stored once though its bucket fills between two deliveries of it (SIZED_BUCKETS)', async () => {
      const { author, entries, all } = await scene(fixture, 4)
      const [next, twice, ...before] = entries as [Entry, Entry, ...Entry[]]
      const { sized_buckets } = fixture.collections
      const store = await storeOf(fixture.services, 'SIZED_BUCKETS')
      const deliver = (entry: Entry) => store.deliver(entry, [author])
      for (const entry of before) await deliver(entry)
      const update = sized_buckets.updateMany.bind(sized_buckets)
      const writes = vi
        .spyOn(sized_buckets, 'updateMany')
        .mockImplementationOnce(async (...args) => {
          await deliver(twice)
          await deliver(next)
          return update(...args)
        })
      await deliver(twice)
      expect(writes).toHaveBeenCalled()
      expect(await fixture.heldFor(author)).toEqual(all)
    })
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import { pageOf } from '../laws/model/model.ts'
import {
  deliveryOf,
  type FeedFixture,
  newestFirst,
  periodMs,
  sizes,
} from '../support/feed-fixture.ts'

/** Pages of one timeline: their start, size and direction. */
export function describeFeedPages(fixture: FeedFixture): void {
  const { page, walked, strategy } = fixture

  describe('a timeline many times as long as a bucket or a cache', () => {
    let reader: UserId
    let all: PostId[]

    // The older half of the posts is back-filled, the newer half delivered, over many periods.
    beforeAll(async () => {
      const users = await fixture.people('reader', 'fan', 'loud', 'quiet')
      reader = users.reader
      await page(reader)
      const authors = [reader, users.loud, users.quiet]
      const old = await Promise.all(
        authors.map((author) => fixture.stored(author, 10, { stepMs: 4 * 60_000 })),
      )
      for (const [follower, followee] of [
        [users.reader, users.loud],
        [users.fan, users.loud],
        [users.reader, users.quiet],
      ] as const) {
        await fixture.follow(follower, followee)
      }
      for (const id of old[0] ?? []) await fixture.run(deliveryOf({ id, author: reader }))
      await fixture.rest()
      const fresh: PostId[] = []
      for (let n = 0; n < 10; n++) {
        for (const author of authors) fresh.push(await fixture.post(author))
        if (n % 4 === 0) await fixture.rest()
      }
      await fixture.rest()
      all = newestFirst(...old, fresh)
      expect(all).toHaveLength(60)
    })

    test(`a timeline is sorted newest first and includes the reader’s posts (${strategy})`, async () => {
      expect((await page(reader, { limit: 100 })).ids).toEqual(all)
    })

    test.each([1, 3, 4, 5, 7, 59, 60, 100])(
      `a timeline is walked to its end and back in pages of %i (${strategy})`,
      async (limit) => {
        for (const backward of [false, true]) {
          expect(await walked(reader, { limit, backward })).toEqual(all)
        }
      },
    )

    test(`every window of a timeline is as in one list, with exact page info (${strategy})`, async () => {
      const cursors = [0, 3, 4, 5, 29, 31, 59].map((at) => all[at])
      for (const cursor of [undefined, ...cursors]) {
        for (const limit of [0, 1, 4, 20]) {
          const windows: Window[] = [
            { limit, backward: false, after: cursor },
            { limit, backward: true, before: cursor },
            { limit, backward: false, before: cursor },
            { limit, backward: true, after: cursor },
            { limit, backward: false, after: cursor, before: all[40] },
            { limit, backward: true, after: all[2], before: cursor },
          ]
          for (const window of windows) {
            const { ids, next, previous } = await page(reader, window)
            expect({ window, ids, next, previous }).toEqual({ window, ...pageOf(all, window) })
          }
        }
      }
    })

    test(`a page is served by the requested strategy, or names the one that reaches further (${strategy})`, async () => {
      const whole = strategy === 'CACHE' ? 'FANOUT_ON_READ' : strategy
      const edge = sizes.cacheSize
      const windows: [Partial<Window>, string][] = [
        [{ limit: edge }, strategy],
        [{ limit: 2, after: all[edge - 3] }, strategy],
        [{ limit: 2, backward: true, before: all[1] }, strategy],
        [{ limit: 10, backward: true, before: all[0] }, strategy],
        [{ limit: edge + 1 }, whole],
        [{ limit: 1, after: all[edge] }, whole],
        [{ limit: 1, backward: true }, whole],
      ]
      for (const [window, name] of windows) {
        expect([window, (await page(reader, window)).servedBy]).toEqual([window, name])
      }
    })
  })

  test(`the timeline of a reader without followees and posts is empty (${strategy})`, async () => {
    const { reader } = await fixture.people('reader')
    for (const window of [{}, { backward: true }, { limit: 0 }]) {
      expect(await page(reader, window)).toEqual({
        ids: [],
        items: [],
        next: false,
        previous: false,
        servedBy: strategy,
      })
    }
    const own = await fixture.post(reader)
    await fixture.rest()
    expect((await page(reader)).ids).toEqual([own])
  })

  test(`polling from the newest cursor returns exactly the new posts (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    const old = await fixture.stored(author, 9)
    await fixture.follow(reader, author)
    await fixture.rest()
    let before = (await page(reader, { limit: 3 })).ids[0]
    expect(before).toBe(old[0])
    for (const count of [0, 1, 7]) {
      const fresh: PostId[] = []
      while (fresh.length < count) fresh.unshift(await fixture.post(author))
      await fixture.rest()
      for (const backward of [false, true]) {
        const found = await page(reader, { before, backward })
        expect(found).toMatchObject({ ids: fresh, next: true, previous: false })
      }
      before = fresh[0] ?? before
    }
  })

  test(`a walk has no gap and no repeat while posts arrive and are deleted (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    const old = await fixture.stored(author, 12)
    await fixture.follow(reader, author)
    await fixture.rest()
    const kept = new Set(old)
    for (const limit of [2, 4]) {
      let fresh: PostId | undefined
      const between = async () => {
        if (fresh) await fixture.remove(author, fresh)
        fresh = await fixture.post(author)
        await fixture.post(reader)
        await fixture.rest()
      }
      const seen = await walked(reader, { limit, between })
      expect(seen.filter((id) => kept.has(id))).toEqual(old)
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  test(`a cursor stays valid after its post is deleted, before and after the jobs (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    await fixture.follow(reader, author)
    const all: PostId[] = []
    while (all.length < 12) all.unshift(await fixture.post(author))
    await fixture.rest()
    for (const at of [1, 5, 8]) {
      const [cursor] = all.splice(at, 1) as [PostId]
      await fixture.remove(author, cursor)
      for (const settle of [async () => {}, fixture.rest]) {
        await settle()
        expect((await page(reader, { after: cursor })).ids).toEqual(all.slice(at))
        const newer = { before: cursor, backward: true, limit: 20 }
        expect((await page(reader, newer)).ids).toEqual(all.slice(0, at))
      }
    }
  })

  test(`periods without posts are skipped (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    const sparse = await fixture.stored(author, 12, { stepMs: 50 * periodMs + 1 })
    await fixture.follow(reader, author)
    await fixture.rest()
    for (const backward of [false, true]) {
      expect(await walked(reader, { limit: 5, backward })).toEqual(sparse)
    }
  })
}

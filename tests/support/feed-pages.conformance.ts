import { beforeAll, describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import { deliveryOf, type FeedStage, newestFirst, periodMs, sizes } from './feed-stage.ts'
import { pageOf } from './model.ts'

/** Reading one timeline: cursors, page sizes and directions. */
export function describeFeedPages(stage: FeedStage): void {
  const { page, walked, strategy } = stage

  describe('a timeline many times as long as a bucket or a cache', () => {
    let reader: UserId
    let all: PostId[]

    // Posts of two authors and the reader over many periods: the older half back-filled, the newer half delivered.
    beforeAll(async () => {
      const cast = await stage.people('reader', 'fan', 'loud', 'quiet')
      reader = cast.reader
      await page(reader)
      const authors = [reader, cast.loud, cast.quiet]
      const old = await Promise.all(
        authors.map((author) => stage.stored(author, 10, { stepMs: 4 * 60_000 })),
      )
      for (const [follower, followee] of [
        [cast.reader, cast.loud],
        [cast.fan, cast.loud],
        [cast.reader, cast.quiet],
      ] as const) {
        await stage.follow(follower, followee)
      }
      for (const id of old[0] ?? []) await stage.run(deliveryOf({ id, author: reader }))
      await stage.rest()
      const fresh: PostId[] = []
      for (let n = 0; n < 10; n++) {
        for (const author of authors) fresh.push(await stage.post(author))
        if (n % 4 === 0) await stage.rest()
      }
      await stage.rest()
      all = newestFirst(...old, fresh)
      expect(all).toHaveLength(60)
    })

    test('a long timeline is newest first and includes the reader’s own posts', async () => {
      expect((await page(reader, { limit: 100 })).ids).toEqual(all)
    })

    test.each([1, 3, 4, 5, 7, 59, 60, 100])(
      'a long timeline is read completely, forward and backward, in pages of %i',
      async (limit) => {
        for (const backward of [false, true]) {
          expect(await walked(reader, { limit, backward })).toEqual(all)
        }
      },
    )

    test('every window of a long timeline has the right posts, hasNextPage and hasPreviousPage', async () => {
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

    test('a page reports its strategy in servedBy when the requested one does not reach back far enough', async () => {
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

  test('the timeline of a reader without followees and posts is empty', async () => {
    const { reader } = await stage.people('reader')
    for (const window of [{}, { backward: true }, { limit: 0 }]) {
      expect(await page(reader, window)).toEqual({
        ids: [],
        items: [],
        next: false,
        previous: false,
        servedBy: strategy,
      })
    }
    const own = await stage.post(reader)
    await stage.rest()
    expect((await page(reader)).ids).toEqual([own])
  })

  test('polling from the newest cursor returns only new posts', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    const old = await stage.stored(author, 9)
    await stage.follow(reader, author)
    await stage.rest()
    let before = (await page(reader, { limit: 3 })).ids[0]
    expect(before).toBe(old[0])
    for (const count of [0, 1, 7]) {
      const fresh: PostId[] = []
      while (fresh.length < count) fresh.unshift(await stage.post(author))
      await stage.rest()
      for (const backward of [false, true]) {
        const found = await page(reader, { before, backward })
        expect(found).toMatchObject({ ids: fresh, next: true, previous: false })
      }
      before = fresh[0] ?? before
    }
  })

  test('a walk by cursor has no gap and no repeat while posts are created and deleted', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    const old = await stage.stored(author, 12)
    await stage.follow(reader, author)
    await stage.rest()
    const kept = new Set(old)
    for (const limit of [2, 4]) {
      let fresh: PostId | undefined
      const between = async () => {
        if (fresh) await stage.remove(author, fresh)
        fresh = await stage.post(author)
        await stage.post(reader)
        await stage.rest()
      }
      const seen = await walked(reader, { limit, between })
      expect(seen.filter((id) => kept.has(id))).toEqual(old)
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  test('a cursor stays valid after its post is deleted, before and after the jobs of the deletion', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    await stage.follow(reader, author)
    const all: PostId[] = []
    while (all.length < 12) all.unshift(await stage.post(author))
    await stage.rest()
    for (const at of [1, 5, 8]) {
      const [cursor] = all.splice(at, 1) as [PostId]
      await stage.remove(author, cursor)
      for (const settle of [async () => {}, stage.rest]) {
        await settle()
        expect((await page(reader, { after: cursor })).ids).toEqual(all.slice(at))
        const newer = { before: cursor, backward: true, limit: 20 }
        expect((await page(reader, newer)).ids).toEqual(all.slice(0, at))
      }
    }
  })

  test('a page skips periods without posts', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    const sparse = await stage.stored(author, 12, { stepMs: 50 * periodMs + 1 })
    await stage.follow(reader, author)
    await stage.rest()
    for (const backward of [false, true]) {
      expect(await walked(reader, { limit: 5, backward })).toEqual(sparse)
    }
  })
}

import { expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import {
  deliveryOf,
  type FeedFixture,
  newestFirst,
  periodMs,
  startMs,
} from '../support/feed-fixture.ts'

/** The users of a test in which two authors have posted in turn. */
interface Scene {
  readonly reader: UserId
  readonly fan: UserId
  readonly loud: UserId
  readonly quiet: UserId
  readonly byLoud: PostId[]
  readonly byQuiet: PostId[]
}

/**
 * The effects of writes on timelines: posts are hidden at once, entries are removed later, and
 * posts return.
 */
export function describeFeedWrites(fixture: FeedFixture): void {
  const { page, walked, strategy } = fixture

  /** The reader and a fan follow `loud`. Only the reader follows `quiet`. */
  async function scene(): Promise<Scene> {
    const users = await fixture.people('reader', 'fan', 'loud', 'quiet')
    const { reader, fan, loud, quiet } = users
    await page(reader)
    const [oldLoud, oldQuiet] = [await fixture.stored(loud, 5), await fixture.stored(quiet, 5)]
    for (const author of [loud, quiet]) await fixture.follow(reader, author)
    await fixture.follow(fan, loud)
    await fixture.rest()
    const [byLoud, byQuiet] = [[...oldLoud], [...oldQuiet]]
    for (let n = 0; n < 3; n++) {
      byLoud.unshift(await fixture.post(loud))
      byQuiet.unshift(await fixture.post(quiet))
    }
    await fixture.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
    return { ...users, byLoud, byQuiet }
  }

  const hiding: Record<string, (scene: Scene) => Promise<unknown>> = {
    unfollow: ({ reader, loud }) => fixture.services.follows.unfollow(reader, loud),
    mute: ({ reader, loud }) => fixture.services.restrictions.mute(reader, loud),
    block: ({ reader, loud }) => fixture.services.restrictions.block(reader, loud),
    'being blocked': ({ reader, loud }) => fixture.services.restrictions.block(loud, reader),
    'deleting the posts': ({ loud, byLoud }) =>
      Promise.all(byLoud.map((id) => fixture.remove(loud, id))),
    'deleting the author': ({ loud }) => fixture.services.users.delete(loud),
  }

  test.each(Object.entries(hiding))(
    `%s hides posts on the next timeline read, and jobs remove the entries (${strategy})`,
    async (way, hide) => {
      const given = await scene()
      const { reader, byLoud, byQuiet } = given
      await hide(given)
      const gone = new Set(byLoud)
      for (const settle of [async () => {}, fixture.rest]) {
        await settle()
        expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
        expect(await walked(reader, { limit: 100, backward: true })).toEqual(byQuiet)
      }
      const isOver = ['deleting the posts', 'deleting the author'].includes(way)
      expect(await walked(given.fan, { limit: 3 })).toEqual(isOver ? [] : byLoud)
      for (const whose of isOver ? [reader, given.fan, given.loud] : [reader]) {
        const held = await fixture.heldFor(whose)
        // A mute keeps the entries that it hides.
        if (way !== 'mute') expect(held.filter((id) => gone.has(id))).toEqual([])
      }
    },
  )

  test(`an unmute shows posts on the next timeline read, also newer posts (${strategy})`, async () => {
    const { reader, loud, byLoud, byQuiet } = await scene()
    await fixture.services.restrictions.mute(reader, loud)
    byLoud.unshift(await fixture.post(loud))
    await fixture.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
    await fixture.services.restrictions.unmute(reader, loud)
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
  })

  test(`a follow after a block shows all posts again, and an unblock alone none (${strategy})`, async () => {
    const { reader, loud, byLoud, byQuiet } = await scene()
    await fixture.services.restrictions.block(reader, loud)
    byLoud.unshift(await fixture.post(loud))
    await fixture.rest()
    await fixture.services.restrictions.unblock(reader, loud)
    await fixture.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
    await fixture.follow(reader, loud)
    await fixture.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
  })

  test(`a follow adds all 1,200 posts, an unfollow removes them, repeatedly (${strategy})`, async () => {
    const { reader, author, other } = await fixture.people('reader', 'author', 'other')
    await page(reader)
    const others = await fixture.stored(other, 5, { stepMs: 3_000_000 })
    await fixture.follow(reader, other)
    await fixture.rest()
    const theirs = await fixture.stored(author, 1_200, { stepMs: 10_000 })
    const keepsAll = !['FANOUT_ON_READ', 'CACHE'].includes(strategy)
    for (let time = 0; time < 2; time++) {
      await fixture.follow(reader, author)
      await fixture.rest()
      expect(await walked(reader, {})).toEqual(newestFirst(theirs, others))
      const held = await fixture.heldFor(reader)
      if (keepsAll) expect(held).toEqual(newestFirst(theirs, others))
      await fixture.services.follows.unfollow(reader, author)
      expect(await walked(reader, {})).toEqual(others)
      await fixture.rest()
      expect(await walked(reader, {})).toEqual(others)
      const left = await fixture.heldFor(reader)
      expect(left).toEqual(keepsAll ? others : others.filter((id) => left.includes(id)))
    }
  })

  test(`a page is full although almost all newer posts are hidden (${strategy})`, async () => {
    const { reader, loud, quiet } = await fixture.people('reader', 'loud', 'quiet')
    await page(reader)
    const wanted = await fixture.stored(quiet, 3)
    await fixture.stored(loud, 150, { fromMs: startMs + 10 * periodMs })
    for (const author of [loud, quiet]) await fixture.follow(reader, author)
    await fixture.rest()
    await fixture.services.restrictions.mute(reader, loud)
    expect(await page(reader, { limit: 2 })).toMatchObject({ ids: wanted.slice(0, 2), next: true })
    expect(await page(reader, { limit: 3 })).toMatchObject({ ids: wanted, next: false })
  })

  test(`a group’s timeline shows its members’ posts, and a changed group applies at once (${strategy})`, async () => {
    const { reader, loud, quiet, byLoud, byQuiet } = await scene()
    const { follows } = fixture.services
    const shows = async (group: string, expected: PostId[]) => {
      expect(await walked(reader, { limit: 3, group })).toEqual(expected)
      expect(await walked(reader, { limit: 100, group, backward: true })).toEqual(expected)
    }
    await fixture.post(reader)
    await fixture.rest()
    await shows('close', [])
    await follows.setGroups(reader, quiet, ['close'])
    await shows('close', byQuiet)
    await follows.setGroups(reader, loud, ['close', 'work'])
    await shows('close', newestFirst(byLoud, byQuiet))
    await shows('work', byLoud)
    await follows.setGroups(reader, loud, ['work'])
    await shows('close', byQuiet)
    await follows.unfollow(reader, quiet)
    await fixture.follow(reader, quiet)
    await shows('close', [])
  })

  test(`a deleted reader’s timeline is deleted (${strategy})`, async () => {
    const { reader } = await scene()
    await fixture.post(reader)
    await fixture.rest()
    await fixture.services.users.delete(reader)
    await fixture.rest()
    expect(await fixture.heldFor(reader)).toEqual([])
  })

  test(`posts beyond the size of a document in one period are all shown (${strategy})`, async () => {
    const { reader, late, author } = await fixture.people('reader', 'late', 'author')
    await page(reader)
    const within = { fromMs: startMs + periodMs, stepMs: 400 }
    const full = await fixture.stored(author, 2_000, within)
    const newer = await fixture.stored(author, 3, { fromMs: startMs + 5 * periodMs })
    const older = await fixture.stored(author, 3, { fromMs: startMs })
    await fixture.follow(reader, author)
    await fixture.rest()
    const reached = { limit: 5 }
    const whole = strategy === 'CACHE' ? 'FANOUT_ON_READ' : strategy
    expect((await page(reader, reached)).servedBy).toBe(whole)

    const [over] = (await fixture.stored(author, 1, { fromMs: startMs + periodMs + 200 })) as [
      PostId,
    ]
    await fixture.run(deliveryOf({ author, id: over }))
    await fixture.follow(late, author)
    await fixture.rest()
    const all = newestFirst(newer, full, older, [over])
    for (const one of [reader, late]) {
      const buckets = strategy === 'TIME_BUCKETS' ? 'FANOUT_ON_READ' : whole
      expect(await page(one, reached)).toMatchObject({ ids: all.slice(0, 5), servedBy: buckets })
      const short = await page(one, { limit: 2 })
      expect(short).toMatchObject({ ids: all.slice(0, 2), servedBy: strategy })
      expect(await walked(one, {})).toEqual(all)
    }
    expect(await walked(reader, { backward: true })).toEqual(all)
  })
}

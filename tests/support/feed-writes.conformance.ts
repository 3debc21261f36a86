import { expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { deliveryOf, type FeedStage, newestFirst, periodMs, startMs } from './feed-stage.ts'

/** The cast of a scene in which two authors have posted by turns. */
interface Scene {
  readonly reader: UserId
  readonly fan: UserId
  readonly loud: UserId
  readonly quiet: UserId
  readonly byLoud: PostId[]
  readonly byQuiet: PostId[]
}

/** How writes change timelines: they hide posts at once, remove entries later, and bring posts back. */
export function describeFeedWrites(stage: FeedStage): void {
  const { page, walked, strategy } = stage

  /** The reader and a fan follow `loud`, so HYBRID reads this author. Only the reader follows `quiet`. */
  async function scene(): Promise<Scene> {
    const cast = await stage.people('reader', 'fan', 'loud', 'quiet')
    const { reader, fan, loud, quiet } = cast
    await page(reader)
    const [oldLoud, oldQuiet] = [await stage.stored(loud, 5), await stage.stored(quiet, 5)]
    for (const author of [loud, quiet]) await stage.follow(reader, author)
    await stage.follow(fan, loud)
    await stage.rest()
    const [byLoud, byQuiet] = [[...oldLoud], [...oldQuiet]]
    for (let n = 0; n < 3; n++) {
      byLoud.unshift(await stage.post(loud))
      byQuiet.unshift(await stage.post(quiet))
    }
    await stage.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
    return { ...cast, byLoud, byQuiet }
  }

  const hiding: Record<string, (scene: Scene) => Promise<unknown>> = {
    unfollow: ({ reader, loud }) => stage.services.follows.unfollow(reader, loud),
    mute: ({ reader, loud }) => stage.services.restrictions.mute(reader, loud),
    block: ({ reader, loud }) => stage.services.restrictions.block(reader, loud),
    'being blocked': ({ reader, loud }) => stage.services.restrictions.block(loud, reader),
    'deleting the posts': ({ loud, byLoud }) =>
      Promise.all(byLoud.map((id) => stage.remove(loud, id))),
    'deleting the author': ({ loud }) => stage.services.users.delete(loud),
  }

  test.each(Object.entries(hiding))(
    '%s hides posts on the next page, before any job, and jobs remove their entries',
    async (way, hide) => {
      const given = await scene()
      const { reader, byLoud, byQuiet } = given
      await hide(given)
      const gone = new Set(byLoud)
      for (const settle of [async () => {}, stage.rest]) {
        await settle()
        expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
        expect(await walked(reader, { limit: 100, backward: true })).toEqual(byQuiet)
      }
      const isOver = ['deleting the posts', 'deleting the author'].includes(way)
      expect(await walked(given.fan, { limit: 3 })).toEqual(isOver ? [] : byLoud)
      for (const whose of isOver ? [reader, given.fan, given.loud] : [reader]) {
        const held = await stage.heldFor(whose)
        // A mute keeps the entries of the posts that it hides.
        if (way !== 'mute') expect(held.filter((id) => gone.has(id))).toEqual([])
      }
    },
  )

  test('an unmute shows posts at once, also posts created during the mute', async () => {
    const { reader, loud, byLoud, byQuiet } = await scene()
    await stage.services.restrictions.mute(reader, loud)
    byLoud.unshift(await stage.post(loud))
    await stage.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
    await stage.services.restrictions.unmute(reader, loud)
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
  })

  test('a new follow after a block brings all posts back, and an unblock alone brings none', async () => {
    const { reader, loud, byLoud, byQuiet } = await scene()
    await stage.services.restrictions.block(reader, loud)
    byLoud.unshift(await stage.post(loud))
    await stage.rest()
    await stage.services.restrictions.unblock(reader, loud)
    await stage.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(byQuiet)
    await stage.follow(reader, loud)
    await stage.rest()
    expect(await walked(reader, { limit: 3 })).toEqual(newestFirst(byLoud, byQuiet))
  })

  test('a follow adds all of 1,200 posts, an unfollow removes all, and both can be repeated', async () => {
    const { reader, author, other } = await stage.people('reader', 'author', 'other')
    await page(reader)
    const others = await stage.stored(other, 5, { stepMs: 3_000_000 })
    await stage.follow(reader, other)
    await stage.rest()
    const theirs = await stage.stored(author, 1_200, { stepMs: 10_000 })
    const keepsAll = !['FANOUT_ON_READ', 'CACHE'].includes(strategy)
    for (let time = 0; time < 2; time++) {
      await stage.follow(reader, author)
      await stage.rest()
      expect(await walked(reader, {})).toEqual(newestFirst(theirs, others))
      const held = await stage.heldFor(reader)
      if (keepsAll) expect(held).toEqual(newestFirst(theirs, others))
      await stage.services.follows.unfollow(reader, author)
      expect(await walked(reader, {})).toEqual(others)
      await stage.rest()
      expect(await walked(reader, {})).toEqual(others)
      const left = await stage.heldFor(reader)
      expect(left).toEqual(keepsAll ? others : others.filter((id) => left.includes(id)))
    }
  })

  test('a page is full though almost all newer posts are hidden', async () => {
    const { reader, loud, quiet } = await stage.people('reader', 'loud', 'quiet')
    await page(reader)
    const wanted = await stage.stored(quiet, 3)
    await stage.stored(loud, 150, { fromMs: startMs + 10 * periodMs })
    for (const author of [loud, quiet]) await stage.follow(reader, author)
    await stage.rest()
    await stage.services.restrictions.mute(reader, loud)
    expect(await page(reader, { limit: 2 })).toMatchObject({ ids: wanted.slice(0, 2), next: true })
    expect(await page(reader, { limit: 3 })).toMatchObject({ ids: wanted, next: false })
  })

  test('the timeline of a group shows the posts of its members, and a change of the group applies at once', async () => {
    const { reader, loud, quiet, byLoud, byQuiet } = await scene()
    const { follows } = stage.services
    const shows = async (group: string, expected: PostId[]) => {
      expect(await walked(reader, { limit: 3, group })).toEqual(expected)
      expect(await walked(reader, { limit: 100, group, backward: true })).toEqual(expected)
    }
    await stage.post(reader)
    await stage.rest()
    await shows('close', [])
    await follows.setGroups(reader, quiet, ['close'])
    await shows('close', byQuiet)
    await follows.setGroups(reader, loud, ['close', 'work'])
    await shows('close', newestFirst(byLoud, byQuiet))
    await shows('work', byLoud)
    await follows.setGroups(reader, loud, ['work'])
    await shows('close', byQuiet)
    await follows.unfollow(reader, quiet)
    await stage.follow(reader, quiet)
    await shows('close', [])
  })

  test('a timeline is deleted with its account, and the next owner of the handle starts without posts', async () => {
    const { reader, loud, byLoud } = await scene()
    await stage.post(reader)
    await stage.rest()
    await stage.services.users.delete(reader)
    await stage.rest()
    expect(await stage.heldFor(reader)).toEqual([])
    await stage.services.users.create(reader, { name: 'another' })
    expect(await page(reader)).toMatchObject({ ids: [], next: false, servedBy: strategy })
    await stage.follow(reader, loud)
    const own = await stage.post(reader)
    await stage.rest()
    expect(await walked(reader, { limit: 3 })).toEqual([own, ...byLoud])
  })

  test('a timeline shows all posts of a period with more posts than one document contains', async () => {
    const { reader, late, author } = await stage.people('reader', 'late', 'author')
    await page(reader)
    const within = { fromMs: startMs + periodMs, stepMs: 400 }
    const full = await stage.stored(author, 2_000, within)
    const newer = await stage.stored(author, 3, { fromMs: startMs + 5 * periodMs })
    const older = await stage.stored(author, 3, { fromMs: startMs })
    await stage.follow(reader, author)
    await stage.rest()
    const reached = { limit: 5 }
    const whole = strategy === 'CACHE' ? 'FANOUT_ON_READ' : strategy
    expect((await page(reader, reached)).servedBy).toBe(whole)

    const [over] = (await stage.stored(author, 1, { fromMs: startMs + periodMs + 200 })) as [PostId]
    await stage.run(deliveryOf({ author, id: over }))
    await stage.follow(late, author)
    await stage.rest()
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

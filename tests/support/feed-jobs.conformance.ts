import { describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { deliveryOf, type FeedStage, type Job, newestFirst, startMs } from './feed-stage.ts'

/** The timelines after jobs, in any order and number of runs (law L4). */
const ended = (jobs: readonly Job[]) => jobs.filter(({ kind }) => kind === 'follow.ended')

export function describeFeedJobs(stage: FeedStage): void {
  const { page, walked } = stage

  /** Expects each visible post once, and no other. */
  async function holdsOnly(reader: UserId, seen: readonly PostId[]) {
    const held = await stage.heldFor(reader)
    expect(held).toEqual(seen.filter((id) => held.includes(id)))
    return held
  }

  test('a late post takes its position between older and newer posts', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    await stage.follow(reader, author)
    await stage.rest()
    const all = await stage.stored(author, 15, { stepMs: 4 * 60_000 })
    const order = [...all.slice(0, 6), ...all.slice(9), ...all.slice(6, 9)]
    for (const id of order) {
      await stage.run(deliveryOf({ author, id }))
      const seen = await walked(reader, {})
      expect(seen).toContain(id)
      expect(seen).toEqual(all.filter((one) => seen.includes(one)))
    }
    expect(await walked(reader, { limit: 2 })).toEqual(all)
  })

  test('a delivery reaches every follower though some of them have the post already', async () => {
    const cast = await stage.people('author', 'before', 'between', 'later')
    const { author, before, between, later } = cast
    for (const one of Object.values(cast)) await page(one)
    for (const follower of [before, later]) await stage.follow(follower, author)
    await stage.rest()
    for (let n = 1; n <= 4; n++) {
      const [id] = (await stage.stored(author, 1, { fromMs: startMs + n * 1_000 })) as [PostId]
      await stage.follow(between, author)
      await stage.rest()
      await stage.run(deliveryOf({ author, id }))
      const seen = await Promise.all(Object.values(cast).map((one) => walked(one, {})))
      expect(seen.map((ids) => [ids.length, ids[0]])).toEqual(Array(4).fill([n, id]))
      await stage.services.follows.unfollow(between, author)
      await stage.rest()
    }
  })

  test('the removal of a former followee that runs late, twice at once, hides no post of the new edge', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    const { follows, restrictions } = stage.services
    await page(reader)
    await stage.follow(reader, author)
    await stage.rest()
    const posts = [await stage.post(author), await stage.post(author), await stage.post(author)]
    await stage.rest()
    for (const end of [
      () => follows.unfollow(reader, author),
      () => restrictions.block(author, reader),
    ]) {
      await end()
      await restrictions.unblock(author, reader)
      await stage.follow(reader, author)
      const jobs = await stage.takeJobs()
      const [late, others] = [ended(jobs), jobs.filter((job) => !ended(jobs).includes(job))]
      for (const job of others) await stage.run(job)
      let isOver = false
      const purged = Promise.all([...late, ...late].map(stage.run)).finally(() => {
        isOver = true
      })
      do expect((await page(reader)).ids).toEqual(newestFirst(posts))
      while (!isOver)
      await purged
      expect((await page(reader)).ids).toEqual(newestFirst(posts))
      expect(await stage.takeJobs()).toEqual([])
    }
  })

  test('concurrent deliveries of one post store it once', async () => {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    await stage.follow(reader, author)
    await stage.rest()
    const posts: PostId[] = []
    const once = async () => {
      for (const one of [reader, author]) {
        expect(await walked(one, { limit: 2 })).toEqual(newestFirst(posts))
        await holdsOnly(one, newestFirst(posts))
      }
    }
    for (let n = 0; n < 5; n++) {
      posts.push(await stage.post(author))
      const [job] = await stage.takeJobs()
      await Promise.all([job, job, job].map((one) => stage.run(one as Job)))
      await once()
    }
    for (let n = 0; n < 8; n++) posts.push(await stage.post(author))
    const jobs = await stage.takeJobs()
    await Promise.all([...jobs, ...jobs].map(stage.run))
    await once()
  })

  describe('every job of a history', () => {
    const orders: Record<string, (jobs: readonly Job[]) => Job[]> = {
      'as it was promised': (jobs) => [...jobs],
      'the last one first': (jobs) => [...jobs].reverse(),
      'by turns from both ends': (jobs) =>
        jobs.map((_, n) => jobs[n % 2 ? n >> 1 : jobs.length - 1 - (n >> 1)] as Job),
    }

    test.each(Object.entries(orders))(
      'the jobs of a history lead to the same timeline when run %s, and repeated',
      async (_, order) => {
        const { reader, expected, jobs } = await history()
        for (const job of order(jobs)) await stage.run(job)
        await stage.rest()
        expect(await walked(reader, { limit: 2 })).toEqual(expected)
        const held = await holdsOnly(reader, expected)
        for (const job of [...jobs].reverse()) {
          await stage.run(job)
          await stage.run(job)
          const seen = await walked(reader, {})
          expect(seen).toEqual(expected.filter((id) => seen.includes(id)))
        }
        await stage.rest()
        expect(await walked(reader, { limit: 2 })).toEqual(expected)
        expect(await stage.heldFor(reader)).toEqual(held)
      },
    )

    /** Writes of every kind, before any job has run. */
    async function history() {
      const cast = await stage.people('reader', 'fan', 'loud', 'quiet', 'gone', 'left')
      const { reader, fan, loud, quiet, gone, left } = cast
      const { follows, users } = stage.services
      await stage.rest()
      await page(reader)
      for (const followee of [loud, quiet, gone, left]) await stage.follow(reader, followee)
      await stage.follow(fan, loud)
      const seen: PostId[] = []
      for (let n = 0; n < 3; n++) {
        for (const author of [loud, quiet, reader]) seen.push(await stage.post(author))
        for (const author of [gone, left]) await stage.post(author)
      }
      for (const author of [loud, quiet, reader]) {
        await stage.remove(author, seen.shift() as PostId)
      }
      await follows.unfollow(reader, quiet)
      await follows.follow(reader, quiet)
      await follows.unfollow(reader, left)
      await users.delete(gone)
      return { reader, expected: newestFirst(seen), jobs: await stage.takeJobs() }
    }
  })
}

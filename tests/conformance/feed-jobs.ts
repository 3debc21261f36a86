import { describe, expect, test } from 'vitest'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import {
  deliveryOf,
  type FeedFixture,
  type Job,
  newestFirst,
  startMs,
} from '../support/feed-fixture.ts'

/** The effects of jobs at any time and for any number of runs (law L4). */
const ended = (jobs: readonly Job[]) => jobs.filter(({ kind }) => kind === 'follow.ended')

export function describeFeedJobs(fixture: FeedFixture): void {
  const { page, walked, strategy } = fixture

  /** Expects that no post is shown twice, and no hidden post at all. */
  async function holdsOnly(reader: UserId, seen: readonly PostId[]) {
    const held = await fixture.heldFor(reader)
    expect(held).toEqual(seen.filter((id) => held.includes(id)))
    return held
  }

  test(`a late delivery sorts its post among earlier and later posts (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    await fixture.follow(reader, author)
    await fixture.rest()
    const all = await fixture.stored(author, 15, { stepMs: 4 * 60_000 })
    const order = [...all.slice(0, 6), ...all.slice(9), ...all.slice(6, 9)]
    for (const id of order) {
      await fixture.run(deliveryOf({ author, id }))
      const seen = await walked(reader, {})
      expect(seen).toContain(id)
      expect(seen).toEqual(all.filter((one) => seen.includes(one)))
    }
    expect(await walked(reader, { limit: 2 })).toEqual(all)
  })

  test(`a delivery reaches all followers although some already have the post (${strategy})`, async () => {
    const users = await fixture.people('author', 'before', 'between', 'later')
    const { author, before, between, later } = users
    for (const one of Object.values(users)) await page(one)
    for (const follower of [before, later]) await fixture.follow(follower, author)
    await fixture.rest()
    for (let n = 1; n <= 4; n++) {
      const [id] = (await fixture.stored(author, 1, { fromMs: startMs + n * 1_000 })) as [PostId]
      await fixture.follow(between, author)
      await fixture.rest()
      await fixture.run(deliveryOf({ author, id }))
      const seen = await Promise.all(Object.values(users).map((one) => walked(one, {})))
      expect(seen.map((ids) => [ids.length, ids[0]])).toEqual(Array(4).fill([n, id]))
      await fixture.services.follows.unfollow(between, author)
      await fixture.rest()
    }
  })

  test(`a purge of an edge that exists again, twice at once, never hides a post (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    const { follows, restrictions } = fixture.services
    await page(reader)
    await fixture.follow(reader, author)
    await fixture.rest()
    const posts = [
      await fixture.post(author),
      await fixture.post(author),
      await fixture.post(author),
    ]
    await fixture.rest()
    for (const end of [
      () => follows.unfollow(reader, author),
      () => restrictions.block(author, reader),
    ]) {
      await end()
      await restrictions.unblock(author, reader)
      await fixture.follow(reader, author)
      const jobs = await fixture.takeJobs()
      const [late, others] = [ended(jobs), jobs.filter((job) => !ended(jobs).includes(job))]
      for (const job of others) await fixture.run(job)
      let isOver = false
      const purged = Promise.all([...late, ...late].map(fixture.run)).finally(() => {
        isOver = true
      })
      do expect((await page(reader)).ids).toEqual(newestFirst(posts))
      while (!isOver)
      await purged
      expect((await page(reader)).ids).toEqual(newestFirst(posts))
      expect(await fixture.takeJobs()).toEqual([])
    }
  })

  test(`concurrent deliveries of one post store it once (${strategy})`, async () => {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    await fixture.follow(reader, author)
    await fixture.rest()
    const posts: PostId[] = []
    const once = async () => {
      for (const one of [reader, author]) {
        expect(await walked(one, { limit: 2 })).toEqual(newestFirst(posts))
        await holdsOnly(one, newestFirst(posts))
      }
    }
    for (let n = 0; n < 5; n++) {
      posts.push(await fixture.post(author))
      // None under FANOUT_ON_READ alone.
      const jobs = await fixture.takeJobs()
      await Promise.all([...jobs, ...jobs, ...jobs].map(fixture.run))
      await once()
    }
    for (let n = 0; n < 8; n++) posts.push(await fixture.post(author))
    const jobs = await fixture.takeJobs()
    await Promise.all([...jobs, ...jobs].map(fixture.run))
    await once()
  })

  describe('every job of a history', () => {
    const orders: Record<string, (jobs: readonly Job[]) => Job[]> = {
      'in their order': (jobs) => [...jobs],
      'in reverse order': (jobs) => [...jobs].reverse(),
      'in turn from both ends': (jobs) =>
        jobs.map((_, n) => jobs[n % 2 ? n >> 1 : jobs.length - 1 - (n >> 1)] as Job),
    }

    test.each(Object.entries(orders))(
      `the jobs of a history give one timeline when run %s, also twice (${strategy})`,
      async (_, order) => {
        const { reader, expected, jobs } = await history()
        for (const job of order(jobs)) await fixture.run(job)
        await fixture.rest()
        expect(await walked(reader, { limit: 2 })).toEqual(expected)
        const held = await holdsOnly(reader, expected)
        for (const job of [...jobs].reverse()) {
          await fixture.run(job)
          await fixture.run(job)
          const seen = await walked(reader, {})
          expect(seen).toEqual(expected.filter((id) => seen.includes(id)))
        }
        await fixture.rest()
        expect(await walked(reader, { limit: 2 })).toEqual(expected)
        expect(await fixture.heldFor(reader)).toEqual(held)
      },
    )

    /** Writes of every kind, without running their jobs. */
    async function history() {
      const actors = await fixture.people('reader', 'fan', 'loud', 'quiet', 'gone', 'left')
      const { reader, fan, loud, quiet, gone, left } = actors
      const { follows, users } = fixture.services
      await fixture.rest()
      await page(reader)
      for (const followee of [loud, quiet, gone, left]) await fixture.follow(reader, followee)
      await fixture.follow(fan, loud)
      const seen: PostId[] = []
      for (let n = 0; n < 3; n++) {
        for (const author of [loud, quiet, reader]) seen.push(await fixture.post(author))
        for (const author of [gone, left]) await fixture.post(author)
      }
      for (const author of [loud, quiet, reader]) {
        await fixture.remove(author, seen.shift() as PostId)
      }
      await follows.unfollow(reader, quiet)
      await follows.follow(reader, quiet)
      await follows.unfollow(reader, left)
      await users.delete(gone)
      return { reader, expected: newestFirst(seen), jobs: await fixture.takeJobs() }
    }
  })
}

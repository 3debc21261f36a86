import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tooLate, writesSettleMs } from '../../src/db/deadline.ts'
import type { DomainError } from '../../src/errors.ts'
import type { Pause } from '../../src/jobs/runner.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { Call } from '../support/intercept.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { gate } from '../support/jobs.ts'
import { useLateWrites } from '../support/late-writes.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, settleDeletions } from '../support/services.ts'

const { harness, newScene, watched } = useLateWrites()

test('the time until a handle is free begins after the commit of the deletion', async () => {
  const { ben } = await newScene(0)
  const slow = watched(async ({ collection, method }) => {
    if (collection === 'outbox' && method === 'bulkWrite') await sleep(1_000)
  })
  await slow.users.delete(ben)
  const pass = async () => {
    const pause = await harness.services.tasks['user.deleted']?.({ user: ben }, joblessRun())
    return (pause as Pause | undefined)?.continuesInMs
  }
  expect(await pass()).toBeGreaterThan(writesSettleMs - 900)
  // The database's clock was a day ahead, and was set right.
  const settlesAt = new Date(Date.now() + 86_400_000)
  await harness.services.collections.users.updateOne({ _id: ben }, { $set: { settlesAt } })
  expect(await pass()).toBe(writesSettleMs)
  await settleDeletions(harness.services.collections)
  expect(await pass()).toBeUndefined()
  await harness.services.users.create(ben, { name: 'Next' })
})

test('a follow whose deadline passes while its batch commits write by write is refused', async () => {
  const { post, ben } = await newScene(0)
  const followee = post.author
  const [first, damaged] = [handle(`${ben}-first`), handle(`${ben}-damaged`)]
  await openAccounts(harness.services, [first, damaged])
  await harness.services.follows.follow(damaged, followee)
  await harness.services.collections.followers.deleteOne({ user: followee, follower: damaged })
  let aheadMs = 0
  const [reached, going] = [gate(), gate()]
  let isFirst = true
  const before = async ({ collection, method }: Call) => {
    if (collection !== 'followers') return
    if (method === 'insertMany' && isFirst) {
      isFirst = false
      reached.open()
      await going.opened
    }
    // The repair of the damaged edge takes long.
    if (method === 'deleteMany') aheadMs += 13_000
  }
  const slow = watched(before, () => aheadMs)
  const one = slow.follows.follow(first, followee)
  await reached.opened
  const others = Promise.allSettled([damaged, ben].map((who) => slow.follows.follow(who, followee)))
  going.open()
  await one
  const [repaired, late] = await others
  expect(repaired).toMatchObject({ status: 'fulfilled', value: { changed: true } })
  expect(late).toMatchObject({ reason: { code: 'UNAVAILABLE', message: tooLate().message } })
  const { followers } = harness.services.collections
  expect(await followers.countDocuments({ user: followee, follower: ben })).toBe(0)
})

test.each(share(3, ['unlike', 'follow', 'post'] as const))(
  'the owner of a hot key refuses a write whose deadline has passed: %s',
  async (kind) => {
    const { post, ben } = await newScene(0)
    const others = Array.from({ length: 1_900 }, (_, n) => handle(`${ben}-${kind}${n}`))
    await openAccounts(harness.services, others)
    // The first likes leave the list within its post.
    for (const one of others.slice(0, 2)) await harness.services.engagements.add('likes', one, post)
    const next = others.slice(2).values()
    const keepHot = ({ engagements, follows, posts }: Services) => {
      const user = next.next().value as UserId
      if (kind === 'unlike') return engagements.add('likes', user, post)
      if (kind === 'follow') return follows.follow(user, post.author)
      return posts.create(post.author, { text: 'hello' })
    }
    const processes = Array.from({ length: 4 }, () => watched(async () => {}))
    for (let round = 0; round < 12; round++) await Promise.all(processes.map(keepHot))
    // When the owner sees the writes of this process, their deadlines have passed.
    const behind = watched(
      async () => {},
      () => -13_000,
    )
    const lateWrite = (n: number) =>
      kind === 'unlike'
        ? behind.engagements.remove('likes', others[n] as UserId, post)
        : keepHot(behind)
    let refusal: unknown
    let ends = false
    const load = Promise.all(
      processes.map(async (one) => {
        for (let n = 0; n < 400 && !ends; n++) {
          // A process whose clock is behind takes part, so on a busy machine a write may wait too long.
          await keepHot(one).catch((error: DomainError) => expect(error.code).toBe('UNAVAILABLE'))
        }
      }),
    )
    // Otherwise the process whose clock is behind could become the owner.
    const key = { _id: { $regex: post.author }, until: { $gt: new Date() } }
    const { hot_keys } = harness.services.collections
    await expect.poll(() => hot_keys.countDocuments(key)).toBeGreaterThan(0)
    for (let n = 0; n < 200 && !refusal; n++) {
      await lateWrite(n).catch((error: DomainError) => {
        // On a busy machine, other writes may lock the data for too long.
        expect(error.code).toBe('UNAVAILABLE')
        if (error.message === tooLate().message) refusal = error
      })
    }
    ends = true
    await load
    expect(refusal).toBeDefined()
  },
)

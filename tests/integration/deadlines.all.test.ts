import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tooLate, writesSettleMs } from '../../src/db/deadline.ts'
import type { Pause } from '../../src/jobs/runner.ts'
import type { Call } from '../support/intercept.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { gate } from '../support/jobs.ts'
import { useLateWrites } from '../support/late-writes.ts'
import { handle, openAccounts, settleDeletions, subjectOf } from '../support/services.ts'

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
  // Then its subject is free.
  harness.clock.advance(60_000)
  await harness.services.users.register(subjectOf(ben), { name: 'Next' })
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

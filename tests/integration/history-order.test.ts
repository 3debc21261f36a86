import { describe, expect, test } from 'vitest'
import type { FollowEventDoc } from '../../src/db/collections.ts'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const harness = useServices('collection', engagement)

/** The services of a process whose clock is ahead of the database's; negative: behind it. */
function process(aheadMs: number) {
  const clock = { now: () => Date.now() + aheadMs, advance: () => {} }
  return servicesOver(harness.database, clock, engagement)
}

let scenes = 0
async function twoAccounts() {
  const [ann, ben] = [handle(`ann${++scenes}`), handle(`ben${scenes}`)]
  await openAccounts(harness.services, [ann, ben])
  return { ann, ben }
}

/**
 * The history of a pair in its order, and whether each event's time follows that of the one before.
 */
async function historyOf(user: string, followee: string): Promise<FollowEventDoc['type'][]> {
  const events = await harness.database.collections.follow_events
    .find({ user, followee })
    .sort({ _id: 1 })
    .toArray()
  return events.map(({ type }) => type)
}

const fullTurn = ['FOLLOWED', 'UNFOLLOWED', 'FOLLOWED', 'UNFOLLOWED'] as const

describe.each([100, -100, 3_600_000, -3_600_000])(
  'with two processes whose clocks are %i ms apart',
  (apartMs) => {
    const [one, other] = [() => process(apartMs), () => process(0)]

    test('the follow history has the order of the writes, with two clocks apart', async () => {
      const { ann, ben } = await twoAccounts()
      const [here, there] = [one(), other()]
      await here.follows.follow(ann, ben)
      await there.follows.unfollow(ann, ben)
      await there.follows.follow(ann, ben)
      await here.follows.unfollow(ann, ben)
      expect(await historyOf(ann, ben)).toEqual(fullTurn)
    })

    test('a block ends both follows in the history, and a later follow is after it, with two clocks apart', async () => {
      const { ann, ben } = await twoAccounts()
      const [here, there] = [one(), other()]
      await here.follows.follow(ann, ben)
      await here.follows.follow(ben, ann)
      await there.restrictions.block(ben, ann)
      await there.restrictions.unblock(ben, ann)
      await there.follows.follow(ann, ben)
      expect(await historyOf(ann, ben)).toEqual(['FOLLOWED', 'UNFOLLOWED', 'FOLLOWED'])
      expect(await historyOf(ben, ann)).toEqual(['FOLLOWED', 'UNFOLLOWED'])
    })
  },
)

test('follows that share a transaction are later than the history of each pair', async () => {
  const { ann: followee } = await twoAccounts()
  const followers = Array.from({ length: 20 }, (_, n) => handle(`fan${n}`))
  await openAccounts(harness.services, followers)
  const [ahead, here] = [process(3_600_000), process(0)]
  for (const services of [ahead, here]) {
    await Promise.all(followers.map((fan) => services.follows.follow(fan, followee)))
    await Promise.all(followers.map((fan) => services.follows.unfollow(fan, followee)))
  }
  for (const fan of followers) expect(await historyOf(fan, followee)).toEqual(fullTurn)
})

test('the read of a pair’s history examines no event older than its own new id', async () => {
  const { ann, ben } = await twoAccounts()
  const { services, database } = harness
  for (let turn = 0; turn < 10; turn++) {
    await services.follows.follow(ann, ben)
    await services.follows.unfollow(ann, ben)
  }
  const { commands } = await recorded(database.client, () => services.follows.follow(ann, ben))
  const [look] = commands.filter(
    ({ name, collection }) => name === 'find' && collection === 'follow_events',
  )
  const { filter, hint, projection } = look?.command ?? {}
  const explained = await database.db.command({
    explain: { find: 'follow_events', filter, hint, projection },
    verbosity: 'executionStats',
  })
  // Of the twenty events before it examines none; what it meets now is the event that followed the
  // look.
  expect(explained.executionStats).toMatchObject({ nReturned: 1, totalDocsExamined: 0 })
  expect(explained.executionStats.totalKeysExamined).toBeLessThanOrEqual(2)
})

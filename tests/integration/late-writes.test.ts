import { expect, test } from 'vitest'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { persist } from '../support/eventually.ts'
import type { Call } from '../support/intercept.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { gate } from '../support/jobs.ts'
import { useLateWrites } from '../support/late-writes.ts'
import { failCommand } from '../support/mongo.ts'
import { handle, openAccounts, settleDeletions } from '../support/services.ts'

const { harness, newScene, watched, likersOf } = useLateWrites()
/** Removes an account in these services. On a busy machine it may end and be tried again, as jobs are. */
const remove = ({ tasks }: Pick<Services, 'tasks'>, user: UserId) =>
  persist(async () => tasks['user.deleted']?.({ user }, joblessRun()))

test.each([0, 3])('a like that arrives too late is refused, next to %d likes', async (likes) => {
  const { post, ben, fans, likers } = await newScene(likes)
  // A write that is delayed for 13 seconds has an id of 13 seconds ago.
  const held = watched(
    async () => {},
    () => -13_000,
  )
  await expect(held.engagements.add('likes', ben, post)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('Nothing was changed'),
  })
  expect((await likers()).sort()).toEqual([...fans].sort())
  const { engagements_by_user } = harness.services.collections
  expect(await engagements_by_user.countDocuments({ user: ben })).toBe(0)
})

test('a like that fails leaves no by-user entry', async () => {
  const { post, ben, likers } = await newScene(0)
  const { engagements, collections } = harness.services
  {
    await using _ = await failCommand(harness.database.client, {
      failCommands: ['commitTransaction'],
      errorCode: 8000,
    })
    await expect(engagements.add('likes', ben, post)).rejects.toThrow()
  }
  expect(await likers()).toEqual([])
  expect(await collections.engagements_by_user.countDocuments({ user: ben })).toBe(0)
})

test('a purge that is delayed past its lease deletes nothing of the next owner', async () => {
  const { post, ben } = await newScene(0)
  const { services } = harness
  const other = handle(`${ben}-other`)
  await openAccounts(services, [other])
  await services.engagements.add('likes', ben, post)
  await services.restrictions.block(ben, other)
  await services.users.delete(ben)
  await settleDeletions(services.collections)
  // One purge is held before it deletes a block, another before it removes the like.
  const moments = [
    ({ collection, method }: Call) => collection === 'restrictions' && method === 'deleteMany',
    ({ collection, method }: Call) => collection === 'posts' && method === 'bulkWrite',
  ]
  const stale: Promise<unknown>[] = []
  const goOn: (() => void)[] = []
  for (const isMoment of moments) {
    const [reached, going] = [gate(), gate()]
    const held = watched(async (call) => {
      if (!isMoment(call)) return
      reached.open()
      await going.opened
    })
    stale.push(remove(held, ben))
    await reached.opened
    goOn.push(going.open)
    // The second purge is held at the like only after another purge deleted the block.
    if (stale.length === 1) {
      await services.collections.restrictions.deleteMany({ owner: ben })
      await services.collections.restrictions.deleteMany({ owner: other })
    }
  }
  await harness.rest()
  await services.users.create(ben, { name: 'Another Ben' })
  await services.engagements.add('likes', ben, post)
  await services.restrictions.block(ben, other)
  for (const open of goOn) open()
  await Promise.all(stale)
  expect(await likersOf(post)).toEqual([ben])
  expect(await services.collections.engagements_by_user.countDocuments({ user: ben })).toBe(1)
  const { restrictions } = services.collections
  expect(await restrictions.countDocuments({ owner: other, other: ben, kind: 'BLOCKED_BY' })).toBe(
    1,
  )
  expect((await services.posts.byRefs([post])).get(post.id)?.likeCount).toBe(1)
})

test('a delayed purge does not release the handle of a next owner who is also deleted', async () => {
  const { ben } = await newScene(0)
  const { services } = harness
  await services.users.delete(ben)
  await settleDeletions(services.collections)
  const [reached, going] = [gate(), gate()]
  const held = watched(async ({ collection, method }) => {
    if (collection !== 'users' || method !== 'deleteOne') return
    reached.open()
    await going.opened
  })
  const stale = remove(held, ben)
  await reached.opened
  await harness.rest()
  await services.users.create(ben, { name: 'Another Ben' })
  await services.users.delete(ben)
  going.open()
  await stale
  expect(await services.collections.users.countDocuments({ _id: ben })).toBe(1)
  await harness.rest()
  expect(await services.collections.users.countDocuments({ _id: ben })).toBe(0)
})

test('a like whose transaction is open is never the like of the next owner of the handle', async () => {
  const { post, ben, fans, likers } = await newScene(1)
  const [reached, going] = [gate(), gate()]
  const held = watched(async ({ collection, method }) => {
    if (collection !== 'engagements_by_user' || method !== 'insertMany') return
    reached.open()
    await going.opened
  })
  const like = persist(() => held.engagements.add('likes', ben, post)).then(
    () => 'stored',
    ({ code }) => code,
  )
  await reached.opened
  await harness.services.users.delete(ben)
  const pause = await remove(harness.services, ben)
  expect(pause).toEqual({ continuesInMs: expect.any(Number) })
  await expect(harness.services.users.create(ben, { name: 'Next' })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  going.open()
  expect(['stored', 'NOT_FOUND']).toContain(await like)
  await settleDeletions(harness.services.collections)
  await harness.rest()
  await harness.services.users.create(ben, { name: 'Next' })
  expect((await likers()).sort()).toEqual([...fans].sort())
})

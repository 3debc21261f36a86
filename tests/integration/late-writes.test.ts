import { expect, onTestFinished, test } from 'vitest'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { persist } from '../support/eventually.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { gate } from '../support/jobs.ts'
import { useLateWrites } from '../support/late-writes.ts'
import { keepMemory } from '../support/memory.ts'
import { failCommand } from '../support/mongo.ts'
import { keyOf, settleDeletions, subjectOf } from '../support/services.ts'

const { harness, newScene, watched } = useLateWrites()
/**
 * Removes an account in these services. On a busy machine it may end and be tried again, as jobs
 * are.
 */
const remove = ({ tasks }: Pick<Services, 'tasks'>, user: UserId) =>
  persist(async () => tasks['user.deleted']?.({ user }, joblessRun()))

test.each([
  [0, 'reads before it adds'],
  [0, 'adds at once'],
  [3, 'reads before it adds'],
] as const)(
  'a like next to %d likes that arrives too late is refused, by a process that %s',
  async (likes, how) => {
    const { post, ben, fans, likers } = await newScene(likes)
    // A write that is delayed for 13 seconds has an id of 13 seconds ago.
    const held = watched(
      async () => {},
      () => -13_000,
    )
    if (how === 'adds at once') await keepMemory(held)
    onTestFinished(() => held.memory.close())
    await expect(held.engagements.add('likes', ben, post)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('Nothing was changed'),
    })
    expect((await likers()).sort()).toEqual([...fans].sort())
    const { engagements_by_user } = harness.services.collections
    expect(await engagements_by_user.countDocuments({ user: ben })).toBe(0)
  },
)

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

test('a delayed purge takes neither the handle nor the subject from the next account', async () => {
  const { ben } = await newScene(0)
  const { users, collections } = harness.services
  await users.delete(ben)
  await settleDeletions(collections)
  const [reached, going] = [gate(), gate()]
  const held = watched(async ({ collection, method }) => {
    if (collection !== 'subjects' || method !== 'updateOne') return
    reached.open()
    await going.opened
  })
  const stale = remove(held, ben)
  await reached.opened
  await harness.rest()
  const next = await users.register(subjectOf(ben), { name: 'Next' })
  going.open()
  await stale
  const named = { account: next?.id }
  expect(await collections.handles.findOne({ _id: ben })).toEqual({ _id: ben, ...named })
  expect(await collections.subjects.findOne({ _id: keyOf(ben) })).toEqual({
    ...{ _id: keyOf(ben), ...named },
  })
})

test('a like whose transaction is open at the deletion does not stay', async () => {
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
  going.open()
  expect(['stored', 'NOT_FOUND']).toContain(await like)
  await settleDeletions(harness.services.collections)
  await harness.rest()
  expect((await likers()).sort()).toEqual([...fans].sort())
})

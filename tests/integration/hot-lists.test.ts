import { beforeAll, expect, test } from 'vitest'
import { UserEngagementIndex } from '../../src/engagement/user-index.ts'
import type { EngagementId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { engagementProblems, sameLimits, strays, walked } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = { threshold: 1, capacity: 50 }
const harness = useServices('collection', sameLimits(limits))
const [star, blocked, leaver] = ['hl-star', 'hl-blocked', 'hl-leaver'].map(handle) as [
  UserId,
  UserId,
  UserId,
]
const fans = Array.from({ length: 400 }, (_, n) => handle(`hl-fan${n}`))
let processes: readonly Services[]
let post: PostRef
let next = 0

/** Adds a like of a new user in every process, concurrently. */
const likeTogether = () =>
  Promise.all(
    processes.map(({ engagements }) =>
      engagements.add('likes', fans[next++] as UserId, post).then(({ changed }) => {
        expect(changed).toBe(true)
      }),
    ),
  )

beforeAll(async () => {
  processes = Array.from({ length: 4 }, () =>
    servicesOver(harness.database, harness.clock, sameLimits(limits)),
  )
  await openAccounts(harness.services, [star, blocked, leaver, ...fans])
  const { id } = await harness.services.posts.create(star, { text: 'hot' })
  post = { id, author: star }
  await harness.services.restrictions.block(star, blocked)
  await harness.services.users.delete(leaver)
})

test('the owner of a hot post checks the likes of all processes in three commands', async () => {
  // Repeats until every process knows that the post is hot.
  for (let round = 0; round < 12; round++) await likeTogether()
  const { commands } = await recorded(harness.database.client, async () => {
    for (let round = 0; round < 20; round++) await likeTogether()
  })
  const sent = (name: string, collection?: string) =>
    commands.filter((one) => one.name === name && (!collection || one.collection === collection))
  const asked = sent('update', 'hot_writes').filter(
    ({ command }) => command.autocommit === undefined,
  )
  expect(asked.length).toBeGreaterThan(30)
  const logged = sent('insert', 'engagements_by_user').length
  // On a busy machine a batch may be tried again, after its transaction collided with one of a process that was not the owner.
  const tries = sent('commitTransaction').length + sent('abortTransaction').length
  expect(logged).toBeLessThanOrEqual(tries)
  expect(sent('find', 'restrictions')).toHaveLength(logged)
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
})

test('the owner of a hot post refuses only likes across a block or without an account', async () => {
  const before = (await walked(harness.services, 'likes', post)).length
  for (let round = 0; round < 5; round++) {
    await Promise.all([
      likeTogether(),
      ...processes.map(async ({ engagements }) => {
        for (const user of [blocked, leaver]) {
          await expect(engagements.add('likes', user, post)).rejects.toMatchObject({
            code: 'NOT_FOUND',
          })
        }
      }),
    ])
  }
  expect(await walked(harness.services, 'likes', post)).toHaveLength(before + 20)
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  expect(await strays(harness.services, [post])).toEqual([])
})

test('a by-user entry of an earlier try stays, and the others of the batch are inserted', async () => {
  const { collections } = harness.services
  const userIndex = new UserEngagementIndex(collections.engagements_by_user)
  const entry = (n: number) => ({
    id: `${n}`.padStart(24, 'e') as EngagementId,
    user: handle('hl-again'),
    kind: 'likes' as const,
    post,
  })
  await userIndex.write([entry(1)], [])
  await userIndex.write([entry(1), entry(2)], [])
  const stored = await userIndex.readBatch(handle('hl-again'), 10)
  expect(stored).toHaveLength(2)
  expect(stored).toEqual(expect.arrayContaining([entry(1), entry(2)]))
  await userIndex.write([], [entry(1), entry(2)])
})

import { ObjectId } from 'mongodb'
import { expect, test } from 'vitest'
import { deadlineOf } from '../../src/db/deadline.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { EngagementId, UserId } from '../../src/lib/ids.ts'
import { sameLimits } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = sameLimits({ threshold: 1, capacity: 50 })
const harness = useServices('collection', limits)

test('the by-user entry of a write that its process withdrew from the owner of a hot key is removed', async () => {
  const { database, clock, services } = harness
  const { engagements_by_user, hot_keys, hot_writes } = services.collections
  const users = Array.from({ length: 900 }, (_, n) => handle(`hka-u${n}`))
  const [star, ben, ...fans] = users as [UserId, UserId, ...UserId[]]
  await openAccounts(services, users)
  const { id } = await services.posts.create(star, { text: 'hot' })
  const post = { id, author: star }
  const like = { id: services.mint.next<EngagementId>(), request: new ObjectId() }
  const entry = { _id: toObjectId(like.id), actor: ben }
  let isWithdrawn = false
  const before = async ({ collection, args }: Call) => {
    if (collection !== 'engagements_by_user' || !JSON.stringify(args).includes(like.id)) return
    await hot_writes.deleteOne({ _id: like.request })
    isWithdrawn = true
  }
  const { client, db } = database
  const processes = Array.from({ length: 3 }, () =>
    servicesOver({ client, db: intercepted(db, { before }) }, clock, limits),
  )
  const queue = [...fans]
  let ends = false
  const load = Promise.all(
    processes.map(async ({ engagements }) => {
      for (let fan = queue.pop(); fan && !ends; fan = queue.pop())
        await engagements.add('likes', fan, post)
    }),
  )
  const key = `lists/${star}/${id}`
  await expect.poll(() => hot_keys.countDocuments({ _id: key })).toBe(1)
  const write = { kind: 'likes', add: entry, needsAdmission: true }
  const op = { post, write, deadline: deadlineOf(clock.now()) }
  await hot_writes.insertOne({ _id: like.request, key, ops: [op], at: new Date(clock.now()) })
  await expect.poll(() => isWithdrawn).toBe(true)
  ends = true
  await load
  const entries = () => engagements_by_user.countDocuments({ _id: entry._id })
  await expect.poll(entries).toBe(1)
  for (const { engagements } of processes) await engagements.unsure.settle(0)
  expect(await entries()).toBe(0)
})

import { expect, test } from 'vitest'
import { useJobs } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
const jobs = useJobs()

test('each job is on the shard of the user whose documents its transaction writes', async () => {
  const { services } = harness
  const [ann, ben] = [handle('ann'), handle('ben')]
  await openAccounts(services, [ann, ben])
  const { id } = await services.posts.create(ann, { text: 'hello' })
  await services.engagements.add('likes', ben, { id, author: ann })
  await services.follows.follow(ben, ann)
  await services.posts.delete(ann, { id, author: ann })
  await services.restrictions.block(ann, ben)
  await services.users.delete(ben)
  const stored = await services.collections.outbox.find().toArray()
  expect(stored.map(({ kind, about }) => `${kind} ${about}`).sort()).toEqual([
    `engagements.orphaned ${ann}`,
    `follow.created ${ben}`,
    `follow.ended ${ben}`,
    `post.created ${ann}`,
    `post.deleted ${ann}`,
    `user.deleted ${ben}`,
  ])
})

test('each command on one job carries its shard key', async () => {
  await jobs.append('greet', { author: 'ann' })
  const queue = jobs.newQueue()
  const { commands } = await recorded(jobs.database.client, async () => {
    const job = await jobs.claimed(queue)
    await queue.extend(job)
    await queue.release(await queue.save(job, 1))
    await queue.complete(await jobs.claimed(queue))
  })
  const filters = commands.flatMap(({ command }) =>
    [...(command.updates ?? []), ...(command.deletes ?? [])].map(({ q }) => q),
  )
  expect(filters.length).toBeGreaterThan(3)
  for (const filter of filters) {
    const shards = filter.about?.$in ?? [filter.about]
    expect({ ...filter, shards }).toMatchObject({ shards: ['ann'], _id: expect.anything() })
  }
})

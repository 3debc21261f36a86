import { expect, test, vi } from 'vitest'
import type { Job } from '../../src/jobs/queue.ts'
import { handle, openAccounts, settleDeletions, useServices } from '../support/services.ts'

const [author, ...followers] = [handle('author'), handle('ann'), handle('ben'), handle('cat')]
const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })

const runOnce = async (job: Job) => {
  const { tasks, queue } = harness.services
  const save = async (checkpoint: unknown, tx?: object) => {
    await queue.save(job, checkpoint, tx as never)
  }
  const { signal } = new AbortController()
  return tasks[job.kind]?.(job.payload, {
    ...{ job, checkpoint: job.checkpoint, save, signal, inline: false },
  })
}

test('a delivery that overlaps the purge of its author leaves no entry', async () => {
  const { services } = harness
  const { posts, inbox, outbox } = services.collections
  await openAccounts(services, [author, ...followers])
  for (const follower of followers) await services.follows.follow(follower, author)
  await harness.rest()
  await services.posts.create(author, { text: 'hello' })
  const [delivery] = await services.queue.claim(30_000)
  await services.users.delete(author)
  await settleDeletions(services.collections)
  const [purge] = await services.queue.claim(30_000)
  if (delivery?.kind !== 'post.created' || purge?.kind !== 'user.deleted')
    throw new Error('the delivery and the purge are not due')
  // The whole delivery runs right before the post is deleted: it still finds the post after it wrote its entries.
  const deleteMany = posts.deleteMany.bind(posts)
  const spy = vi.spyOn(posts, 'deleteMany').mockImplementationOnce(async (...given) => {
    await runOnce(delivery)
    await services.queue.complete(delivery)
    return deleteMany(...given)
  })
  await runOnce(purge)
  expect(spy).toHaveBeenCalledTimes(1)
  spy.mockRestore()
  expect(await inbox.countDocuments()).toBe(followers.length + 1)
  await services.queue.release(purge)
  await harness.rest()
  expect(await inbox.countDocuments()).toBe(0)
  expect(await outbox.countDocuments()).toBe(0)
})

import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Job } from '../../src/jobs/queue.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { failCommand } from '../support/mongo.ts'
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
  // The whole delivery runs right before the post is deleted: it still finds the post after it
  // wrote its entries.
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

/** Runs the jobs that are due. Those that a test has claimed are not. */
async function runDue() {
  const { queue, tasks } = harness.services
  const options = { concurrency: 1, pollMs: 20, leaseMs: 30_000 }
  await new Worker(queue, tasks, pino({ level: 'silent' }), options).drain()
}

const claimOnly = async (kind: string) => {
  const [job] = await harness.services.queue.claim(30_000)
  if (job?.kind !== kind) throw new Error(`${kind} is not due`)
  return job
}

test('a retraction that waits, and a delivery that was interrupted, leave no entry of an account that was removed before them', async () => {
  const { services } = harness
  const { posts, inbox, outbox, users } = services.collections
  const user = handle('waiting')
  await openAccounts(services, [user])
  for (const follower of followers) await services.follows.follow(follower, user)
  const deleted = await services.posts.create(user, { text: 'hello' })
  await harness.rest()
  const interrupted = await services.posts.create(user, { text: 'hello' })
  const delivery = await claimOnly('post.created')
  await runOnce(delivery)
  // As if its retraction had passed right before these entries were written.
  await posts.deleteOne({ author: user, _id: toObjectId(interrupted.id) })
  await services.posts.delete(user, { author: user, id: deleted.id })
  const retraction = await claimOnly('post.deleted')
  expect(await inbox.countDocuments({ author: user })).toBe(2 * (followers.length + 1))
  await services.users.delete(user)
  await settleDeletions(services.collections)
  await runDue()
  for (const job of [delivery, retraction]) {
    await runOnce(job)
    await services.queue.release(job).catch(() => {})
  }
  await harness.rest()
  expect(await inbox.countDocuments({ author: user })).toBe(0)
  expect([await outbox.countDocuments(), await users.countDocuments({ _id: user })]).toEqual([0, 0])
})

test('a post that is committed during the removal of its author’s account leaves no entry', async () => {
  const { services } = harness
  const { posts, inbox, followers: edges } = services.collections
  const user = handle('busy')
  await openAccounts(services, [user])
  for (const follower of followers) await services.follows.follow(follower, user)
  const { id } = await services.posts.create(user, { text: 'hello' })
  await harness.rest()
  const late = await posts.findOneAndDelete({ author: user, _id: toObjectId(id) })
  await services.users.delete(user)
  await runDue()
  await posts.insertOne(late as never)
  await harness.rest()
  expect(await inbox.countDocuments({ author: user })).toBe(0)
  expect(await edges.countDocuments({ user })).toBe(0)
})

test('a removal whose split fails has no checkpoint of it', async () => {
  const { services, database } = harness
  const { outbox, posts } = services.collections
  const gone = handle('gone')
  await openAccounts(services, [gone])
  await services.posts.create(gone, { text: 'bye' })
  await harness.rest()
  await services.users.delete(gone)
  const job = await claimOnly('user.deleted')
  {
    const failure = { failCommands: ['commitTransaction'], errorCode: 8 }
    await using _failpoint = await failCommand(database.client, failure)
    await expect(runOnce(job)).rejects.toThrow()
  }
  expect((await outbox.findOne({ kind: 'user.deleted' }))?.checkpoint).toBeUndefined()
  await services.queue.release(job)
  await harness.rest()
  expect(await posts.countDocuments({ author: gone })).toBe(0)
})

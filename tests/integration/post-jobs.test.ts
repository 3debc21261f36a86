import { expect, test } from 'vitest'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()

test.each([
  [2_000, 'QUICK'],
  [2_001, 'BULK'],
])(
  'the deletion of a post of an author with %d followers is a %s job',
  async (followers, queue) => {
    const { collections, posts } = harness.services
    const author = handle(`author${followers}`)
    await openAccounts(harness.services, [author])
    await collections.user_stats.updateOne({ _id: author }, { $set: { followers } })
    const { id } = await posts.create(author, { text: 'hello' })
    await collections.outbox.deleteMany({})
    expect(await posts.delete(author, { id, author })).toBe(true)
    const jobs = await collections.outbox.find({ 'payload.author': author }).toArray()
    expect(jobs.map((job) => `${job.kind} ${job.queue}`)).toEqual([`post.deleted ${queue}`])
  },
)

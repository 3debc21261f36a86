import { beforeAll, describe, expect, test } from 'vitest'
import type { PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { manyFollowers, openFollowedAuthor } from '../support/followed-author.ts'
import { share } from '../support/repetition.ts'
import { handle, settleDeletions, useServices } from '../support/services.ts'

const author = handle('author')
const followerCount = 8_500
const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })
const collections = () => harness.services.collections

beforeAll(() => openFollowedAuthor(harness, author, manyFollowers(followerCount)))

const publish = async (): Promise<PostId> =>
  (await harness.services.posts.create(author, { text: 'hello' })).id
const countEntries = () =>
  collections().inbox.countDocuments({ '_id.reader': { $gte: 'f', $lt: 'g' } })

/** Runs the job that is due first, once. */
async function runOnce({ queue, tasks }: Services, kind: string): Promise<void> {
  const [job] = await queue.claim(30_000)
  if (job?.kind !== kind) throw new Error(`${kind} is not due`)
  let claimed = job
  await tasks[kind]?.(job.payload, {
    ...{ job, checkpoint: job.checkpoint, inline: false, signal: new AbortController().signal },
    save: async (checkpoint, tx) => {
      claimed = await queue.save(claimed, checkpoint, tx)
    },
  })
  await queue.release(claimed)
}

/**
 * Runs the oldest job of a kind until it is split. Then a range of it is parked, and an operator
 * drops it.
 */
async function dropRangeOf(services: Services, kind: string): Promise<void> {
  const { collections, queue } = services
  await settleDeletions(collections)
  await runOnce(services, kind)
  const range = { kind: `${kind}.range` }
  expect(await collections.outbox.countDocuments(range)).toBeGreaterThan(1)
  const parked = await collections.outbox.findOneAndUpdate(range, { $set: { state: 'PARKED' } })
  expect(await queue.drop(parked?._id.toHexString() as never)).toBe(true)
}

/** The split jobs: how one begins, and how many followers store the post at the end. */
const splitJobs: Readonly<Record<string, { begin: () => Promise<void>; entries: number }>> = {
  'post.created': { begin: async () => void (await publish()), entries: followerCount },
  'post.deleted': {
    async begin() {
      const id = await publish()
      await harness.rest()
      await harness.services.posts.delete(author, { id, author })
    },
    entries: 0,
  },
  'strategy.backfill': {
    async begin() {
      await publish()
      await harness.rest()
      await collections().inbox.deleteMany({})
      expect(await harness.services.registrations.rebuild('INBOX')).toBe(true)
    },
    entries: followerCount,
  },
  'user.deleted': {
    async begin() {
      await publish()
      await harness.rest()
      await harness.services.users.delete(author)
    },
    entries: 0,
  },
}

// The removal of the account comes last.
test.each(share(2, Object.entries(splitJobs)))(
  '%s begins again after an operator dropped one of its ranges, and misses no follower',
  async (kind, { begin, entries }) => {
    for (const name of ['inbox', 'posts'] as const) await collections()[name].deleteMany({})
    await begin()
    await dropRangeOf(harness.services, kind)
    await harness.rest()
    expect(await countEntries()).toBe(entries)
    const isRemoved = kind === 'user.deleted'
    const left = await collections().followers.countDocuments({ user: author })
    expect(left).toBe(isRemoved ? 0 : followerCount)
    expect(await collections().users.countDocuments({ _id: author })).toBe(isRemoved ? 0 : 1)
  },
)

describe('the removal of an account without posts', () => {
  const other = useServices()

  test('leaves the queue of ranges after an operator dropped a range of its edges, before it goes on', async () => {
    const { services } = other
    const { outbox, followers, users } = services.collections
    await openFollowedAuthor(other, author, manyFollowers(followerCount))
    await services.users.delete(author)
    const kind = 'user.deleted'
    await dropRangeOf(services, kind)
    const queueOf = async () => (await outbox.findOne({ kind }))?.queue
    expect(await queueOf()).toBe('RANGE')
    // Other ranges have removed most edges, and the rest is too few for another split.
    await followers.deleteMany({ user: author, follower: { $gt: 'f00100' } })
    await outbox.updateOne({ kind }, { $set: { runAt: new Date(0) } })
    await runOnce(services, kind)
    expect(await queueOf()).toBe('BULK')
    expect(await followers.countDocuments({ user: author })).toBe(101)
    await other.rest()
    expect(await followers.countDocuments({ user: author })).toBe(0)
    expect(await users.countDocuments({ _id: author })).toBe(0)
  })
})

import { beforeAll, expect, test } from 'vitest'
import type { PostId } from '../../src/lib/ids.ts'
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

/** Runs the oldest job of a kind until it is split. Then a range of it is parked, and an operator drops it. */
async function dropRangeOf(kind: string): Promise<void> {
  const { queue, tasks } = harness.services
  const { outbox } = collections()
  await settleDeletions(collections())
  const [job] = await queue.claim(30_000)
  if (job?.kind !== kind) throw new Error(`${kind} is not due`)
  let claimed = job
  await tasks[kind]?.(job.payload, {
    ...{ job, checkpoint: undefined, inline: false, signal: new AbortController().signal },
    save: async (checkpoint, tx) => {
      claimed = await queue.save(claimed, checkpoint, tx)
    },
  })
  await queue.release(claimed)
  const range = { kind: `${kind}.range` }
  expect(await outbox.countDocuments(range)).toBeGreaterThan(1)
  const parked = await outbox.findOneAndUpdate(range, { $set: { state: 'PARKED' } })
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
    await dropRangeOf(kind)
    await harness.rest()
    expect(await countEntries()).toBe(entries)
    const isRemoved = kind === 'user.deleted'
    const left = await collections().followers.countDocuments({ user: author })
    expect(left).toBe(isRemoved ? 0 : followerCount)
    expect(await collections().users.countDocuments({ _id: author })).toBe(isRemoved ? 0 : 1)
  },
)

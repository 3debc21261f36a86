import { beforeAll, expect, test } from 'vitest'
import type { PostId } from '../../src/lib/ids.ts'
import { handle, openAccounts, settleDeletions, useServices } from '../support/services.ts'

const author = handle('author')
const followerCount = 8_500
const followers = Array.from({ length: followerCount }, (_, n) =>
  handle(`f${String(n).padStart(5, '0')}`),
)
const harness = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })
const collections = () => harness.services.collections

beforeAll(async () => {
  const { services } = harness
  await openAccounts(services, [author, ...followers])
  const edges = followers.map((follower) => ({ follower, source: 'IMPORT' as const }))
  const { followers: back, following, user_stats } = services.collections
  await back.insertMany(edges.map((edge) => ({ ...edge, user: author })) as never[])
  await following.insertMany(
    edges.map(({ follower, source }) => ({ user: follower, followee: author, source })) as never[],
  )
  await user_stats.updateOne({ _id: author }, { $set: { followers: followerCount } })
  await user_stats.updateMany({ _id: { $in: followers } }, { $set: { following: 1 } })
})

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

test('a delivery, a retraction and a rebuild begin again after an operator dropped one of their ranges, and miss no follower', async () => {
  const { services } = harness
  const id = await publish()
  await dropRangeOf('post.created')
  await harness.rest()
  expect(await countEntries()).toBe(followerCount)
  await services.posts.delete(author, { id, author })
  await dropRangeOf('post.deleted')
  await harness.rest()
  expect(await countEntries()).toBe(0)
  await publish()
  await harness.rest()
  await collections().inbox.deleteMany({})
  expect(await services.registrations.rebuild('INBOX')).toBe(true)
  await dropRangeOf('strategy.backfill')
  await harness.rest()
  expect((await services.registry.read()).get('INBOX')).toMatchObject({ complete: true })
  expect(await countEntries()).toBe(followerCount)
})

test('the removal of an account misses no follower after an operator dropped one of its ranges', async () => {
  await publish()
  await harness.rest()
  await harness.services.users.delete(author)
  await dropRangeOf('user.deleted')
  await harness.rest()
  expect(await collections().users.countDocuments({ _id: author })).toBe(0)
  expect(await collections().followers.countDocuments({ user: author })).toBe(0)
  expect(await countEntries()).toBe(0)
})

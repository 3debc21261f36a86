import { expect, test, vi } from 'vitest'
import type { TimelinesPlaceDoc } from '../../src/db/collections.ts'
import type { Tx } from '../../src/db/transaction.ts'
import { emptyCluster, placeId, placesIn } from '../../src/feed/registry/place.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { runCommand } from '../support/command-line.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { failCommand } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts } from '../support/services.ts'

const separate = useSeparateTimelines({ maintained: ['FANOUT_ON_READ', 'INBOX'] })
const [reader, author] = [handle('reader'), handle('author')] as [UserId, UserId]
const posts: PostId[] = []
const waitMsMax = { timeout: patient(60_000), interval: 100 }

const publish = async () => {
  posts.unshift((await separate.services.posts.create(author, { text: 'hello' })).id)
}
const places = () => placesIn(separate.services.collections)
const placeNow = async () => (await places().findOne({ _id: placeId })) as TimelinesPlaceDoc
const epochNow = async () =>
  (await separate.services.registry.read()).get('INBOX')?.epoch.toHexString()

/** The strategy that serves the reader's page, which has all posts unless it says that some are pending. */
async function servedBy(): Promise<string> {
  const { items, pending, servedBy } = await separate.services.feed.timeline(reader, {
    window: { limit: 50, backward: false },
    ...{ projection: 'ref', strategy: 'INBOX', pending: true },
  })
  if (!pending) expect(items.map(({ id }) => id)).toEqual(posts)
  return servedBy
}

/** Waits until the timelines are complete, and used. */
const recovered = () =>
  expect
    .poll(async () => {
      await separate.services.clusterRepair.run().catch(() => {})
      await separate.rest()
      return servedBy()
    }, waitMsMax)
    .toBe('INBOX')

test('a process that is late with an empty cluster deletes no timeline of the process that was faster', async () => {
  const { services, cluster } = separate
  // A mover that stalls must not delete what a later one stores in a collection that was empty.
  expect([...(await cluster.loadContent()).collections.keys()]).toEqual(['timeline_marks'])
  await openAccounts(services, [reader, author])
  await services.follows.follow(reader, author)
  await publish()
  await separate.rest()
  const late = await cluster.loadContent()
  await cluster.db.dropDatabase()
  const epoch = await epochNow()
  await recovered()
  expect(await epochNow()).not.toBe(epoch)
  const [entries, mark] = [
    await services.collections.inbox.find().toArray(),
    await cluster.loadMark(),
  ]
  const contents = [
    late,
    // Another one found no collection when it began, and one found collections that were empty later, and were kept.
    { collections: new Map(), mark: undefined },
    { ...(await cluster.loadContent()), mark: { _id: 'cluster', value: 'before' } },
  ]
  for (const content of contents) {
    const spy = vi.spyOn(cluster, 'loadContent').mockResolvedValueOnce(content)
    expect(await emptyCluster(cluster, places(), await placeNow(), Date.now())).toBeUndefined()
    expect(spy).toHaveBeenCalledTimes(1)
    spy.mockRestore()
    expect((await placeNow()).preparing).toBeUndefined()
  }
  expect(await services.collections.inbox.find().toArray()).toEqual(entries)
  expect(await cluster.loadMark()).toEqual(mark)
  expect(await servedBy()).toBe('INBOX')
})

test('one process at a time begins on an empty cluster, and the next one takes over after the lease', async () => {
  const { cluster } = separate
  const place = await placeNow()
  const [now, later] = [1_000_000, 1_030_000]
  await places().updateOne(
    { _id: placeId },
    { $set: { preparing: { mark: 'other', until: new Date(now + 20_000) } } },
  )
  expect(await emptyCluster(cluster, places(), place, now)).toBeUndefined()
  expect(
    await emptyCluster(cluster, places(), { ...place, value: 'before' }, later),
  ).toBeUndefined()
  await cluster.db.dropDatabase()
  await expect.poll(() => emptyCluster(cluster, places(), place, later)).not.toBe('other')
  await recovered()
})

test('a mark of a process that lost its lease is not accepted', async () => {
  const { cluster } = separate
  const marks = cluster.db.collection<{ _id: string; value: string }>('timeline_marks')
  const epoch = await epochNow()
  await marks.updateOne({ _id: 'cluster' }, { $set: { value: 'late' } })
  await expect.poll(async () => (await placeNow()).value).not.toBe('late')
  await recovered()
  expect((await cluster.loadMark())?.value).toBe((await placeNow()).value)
  expect((await placeNow()).value).not.toBe('late')
  expect(await epochNow()).not.toBe(epoch)
})

test('a process whose primary is outdated serves FANOUT_ON_READ, and ends no delivery', async () => {
  const { services } = separate
  const { election, value: mark } = await placeNow()
  const elect = async (next: string) => {
    await places().updateOne({ _id: placeId }, { $set: { election: next } })
    const cluster = { mark, election: next }
    await services.collections.strategies.updateMany({}, { $set: { cluster } })
    await services.registrations.restoreCopies()
  }
  expect(await servedBy()).toBe('INBOX')
  await publish()
  // Another process has noted a later primary, which this process does not see.
  await elect(`f${election}`)
  expect(await servedBy()).toBe('FANOUT_ON_READ')
  const job = await services.collections.outbox.findOne({ kind: 'post.created' })
  expect(await services.tasks['post.created']?.(job?.payload ?? {}, joblessRun())).toEqual({
    continuesInMs: expect.any(Number),
  })
  await services.clusterRepair.run()
  expect((await placeNow()).election).toBe(`f${election}`)
  await elect(election)
  await recovered()
})

test('a cluster that is restored from its files is not used before timelines move', async () => {
  const { set, database } = separate
  await set.kill()
  await set.save()
  await set.start()
  await recovered()
  await publish()
  await separate.rest()
  expect(await servedBy()).toBe('INBOX')
  await set.kill()
  await set.start('saved')
  const { cluster, placement } = { ...separate, ...separate.services }
  await expect.poll(() => cluster.primary !== undefined, waitMsMax).toBe(true)
  const before = await epochNow()
  for (let n = 0; n < 10; n++) {
    await separate.services.clusterRepair.run().catch(() => {})
    expect(await servedBy()).toBe('FANOUT_ON_READ')
  }
  expect([placement.isAway, await epochNow()]).toEqual([true, before])
  const { code } = await runCommand(['timelines', 'move'], {
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.name,
    TIMELINES_URI: set.uri,
  })
  expect(code).toBe(0)
  await recovered()
})

test('a job whose split fails has no checkpoint of it', async () => {
  const { services, database } = separate
  const gone = handle('gone')
  await openAccounts(services, [gone])
  await services.posts.create(gone, { text: 'bye' })
  await separate.rest()
  await services.users.delete(gone)
  const [job] = await services.queue.claim(30_000)
  if (job?.kind !== 'user.deleted') throw new Error('the removal is not due')
  const save = async (checkpoint: unknown, tx?: Tx) => {
    await services.queue.save(job, checkpoint, tx)
  }
  const { signal } = new AbortController()
  {
    const failure = { failCommands: ['commitTransaction'], errorCode: 8 }
    await using _failpoint = await failCommand(database.client, failure)
    const run = { job, checkpoint: undefined, save, signal, inline: false }
    await expect(services.tasks[job.kind]?.(job.payload, run)).rejects.toThrow()
  }
  const [left] = await services.collections.outbox.find({ kind: 'user.deleted' }).toArray()
  expect(left?.checkpoint).toBeUndefined()
  await services.queue.release(job)
  await separate.rest()
  expect(await services.collections.posts.countDocuments({ author: gone })).toBe(0)
})

import { BSON, type CommandStartedEvent } from 'mongodb'
import { describe, expect, test, vi } from 'vitest'
import { lowestId, toObjectId } from '../../src/db/object-id.ts'
import { IdMint, type PostId, type TimeId, type UserId } from '../../src/lib/ids.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { labelOf, shardProblemOf } from '../support/commands.ts'
import { type FeedFixture, type Job, useFeedFixture } from '../support/feed-fixture.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts } from '../support/services.ts'

const [batchSize, windowSize] = [500, 2_000]
const text = 'x'.repeat(100)
/** The first reads of a delivery, including the first 2,000 followers. */
const facts = 'read strategies, posts, followers'

/** The commands of one delivery to a batch of readers, in order. */
interface Cost {
  /** To readers without a stored timeline. */
  readonly first: readonly string[]
  /** To readers with room in their stored timeline. */
  readonly steady: readonly string[]
  /** To readers who have the post already. */
  readonly again: readonly string[]
  /** The retraction of the post. */
  readonly back: readonly string[]
  /** The most bytes of a command, for each reader. */
  readonly bytesEach: number
}

const of = (collection: string, ...names: string[]) => names.map((name) => `${name} ${collection}`)

const costs: Readonly<Record<MaterialisedName, Cost>> = {
  TIME_BUCKETS: {
    first: of('timed_buckets', 'update', 'read', 'insert'),
    steady: of('timed_buckets', 'update'),
    again: of('timed_buckets', 'update', 'read'),
    back: of('timed_buckets', 'update'),
    bytesEach: 250,
  },
  SIZED_BUCKETS: {
    first: of('sized_buckets', 'read', 'update', 'read', 'update', 'insert'),
    steady: of('sized_buckets', 'read', 'update'),
    again: of('sized_buckets', 'read', 'update', 'read'),
    back: of('sized_buckets', 'update', 'delete'),
    bytesEach: 300,
  },
  CACHE: {
    first: of('timeline_cache', 'update'),
    steady: of('timeline_cache', 'update'),
    again: of('timeline_cache', 'update'),
    back: of('timeline_cache', 'update'),
    bytesEach: 100,
  },
  INBOX: {
    first: of('inbox', 'insert'),
    steady: of('inbox', 'insert'),
    again: of('inbox', 'insert'),
    back: of('inbox', 'delete'),
    bytesEach: 250,
  },
}

/**
 * An author with `count` followers. Their edges exist only in the collection that a delivery reads.
 */
async function crowdOf(fixture: FeedFixture, count: number) {
  const author = handle(`author-${count}`)
  const mint = new IdMint(fixture.harness.clock.now)
  const readers = Array.from({ length: count }, (_, n) => handle(`r${count}-${n}`))
  await openAccounts(fixture.services, [author])
  const edges = readers.map((follower) => ({
    _id: toObjectId(mint.next<TimeId>()),
    user: author,
    follower,
    source: 'IMPORT' as const,
  }))
  const { followers, user_stats, timeline_cache, strategies } = fixture.collections
  if (count > 0) await followers.insertMany(edges)
  await user_stats.updateOne({ _id: author }, { $set: { followers: count } })
  // Only readers who read their timeline have a cache.
  if (fixture.strategy === 'CACHE') {
    const registered = await strategies.findOne({ _id: 'CACHE' })
    const epoch = registered?.epoch ?? lowestId
    const empty = { epoch, entries: [], floor: lowestId, expiresAt: new Date(4e12) }
    await timeline_cache.insertMany([author, ...readers].map((_id) => ({ _id, ...empty })))
  }
  return { author, readers: [author, ...readers] }
}

/** The commands of a job, without those that finish it. */
async function sentBy(fixture: FeedFixture, job: Job): Promise<readonly RecordedCommand[]> {
  // On a busy machine, a job that holds its worker for long would yield and read its facts again.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  const run = () => fixture.run(job).finally(() => clock.mockRestore())
  return (await recorded(fixture.harness.database.client, run)).commands
}

/** Delivers a new post. */
async function delivered(
  fixture: FeedFixture,
  author: UserId,
): Promise<[Job, readonly RecordedCommand[]]> {
  await fixture.post(author, text)
  const [job] = (await fixture.takeJobs()) as [Job]
  return [job, await sentBy(fixture, job)]
}

const labels = (commands: readonly RecordedCommand[]) => commands.map(labelOf).sort()

/** The length of the longest list in a command. */
function longestIn(value: unknown): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.map(longestIn))
  const isPlain = typeof value === 'object' && value?.constructor === Object
  return isPlain ? Math.max(0, ...Object.values(value).map(longestIn)) : 0
}

/** The most concurrent writes during `work`. */
async function writesAtOnce(fixture: FeedFixture, work: () => Promise<unknown>): Promise<number> {
  const { client } = fixture.harness.database
  const running = new Set<number>()
  let most = 0
  const started = ({ commandName, requestId }: CommandStartedEvent) => {
    if (['insert', 'update', 'delete'].includes(commandName)) running.add(requestId)
    most = Math.max(most, running.size)
  }
  const ended = ({ requestId }: { requestId: number }) => running.delete(requestId)
  client.on('commandStarted', started).on('commandSucceeded', ended)
  try {
    await work()
  } finally {
    client.off('commandStarted', started).off('commandSucceeded', ended)
  }
  return most
}

describe.each(share(2, Object.entries(costs) as [MaterialisedName, Cost][]))(
  'a delivery under %s',
  (strategy, cost) => {
    const fixture = useFeedFixture(strategy, 'text', ['FANOUT_ON_READ', strategy], {
      sizedBucketSize: 50,
      timeBucketDays: 7,
    })
    // After each window, whether the post is still there.
    const begin = [facts, 'read posts']

    const sent = (batches: number, some: readonly string[], ...more: readonly string[]) =>
      [...more, ...Array.from({ length: batches }, () => some).flat()].sort()

    test.each([0, 1, 500, 1_200])(
      'a delivery costs one batch for each 500 of the author and %i followers',
      async (count) => {
        const { author, readers } = await crowdOf(fixture, count)
        const batches = Math.ceil((1 + count) / batchSize)
        const all = (some: readonly string[]) => sent(batches, some, ...begin)
        const [, first] = await delivered(fixture, author)
        expect(labels(first)).toEqual(all(cost.first))
        const [job, steady] = await delivered(fixture, author)
        expect(labels(steady)).toEqual(all(cost.steady))
        const again = await sentBy(fixture, job)
        expect(labels(again)).toEqual(all(cost.again))

        for (const reader of [readers[0], readers.at(-1)]) {
          expect(await fixture.heldFor(reader as UserId)).toHaveLength(2)
        }

        await fixture.remove(author, job.payload.post as PostId)
        const [undo] = await fixture.takeJobs()
        const taken = await sentBy(fixture, undo as Job)
        const apart = 1 + Math.ceil(count / batchSize)
        const walk = ['read strategies', 'read followers']
        expect(labels(taken)).toEqual(sent(apart, cost.back, ...walk))
        const every = [...first, ...steady, ...again, ...taken]
        expect(every.flatMap((one) => shardProblemOf(one) ?? [])).toEqual([])
      },
    )

    test('a delivery walks 5,000 followers in windows of 2,000, and writes at most one window at once', async () => {
      const { author } = await crowdOf(fixture, 5_000)
      for (const some of [cost.first, cost.steady]) {
        let commands: readonly RecordedCommand[] = []
        const most = await writesAtOnce(fixture, async () => {
          commands = (await delivered(fixture, author))[1]
        })
        // Four batches of followers, and one for the author.
        expect(most).toBeLessThanOrEqual(5)
        // It counts the followers, to find whether the job is split.
        const walk = [
          ...of('followers', 'read', 'read'),
          ...of('posts', 'read', 'read'),
          'read user_stats',
        ]
        expect(labels(commands)).toEqual(sent(11, some, ...begin, ...walk))
        const [known] = commands.filter((one) => labelOf(one) === facts)
        expect(JSON.stringify(known?.command)).toContain(`"$limit":${windowSize}`)
        const windows = commands.filter((one) => labelOf(one) === 'read followers')
        expect(windows.map(({ command }) => command.limit)).toEqual([windowSize, windowSize])
        const longest = commands.map(({ command }) => longestIn(command))
        expect(Math.max(...longest)).toBe(batchSize)
        const bytes = Math.max(...commands.map(({ command }) => BSON.calculateObjectSize(command)))
        expect(bytes).toBeLessThanOrEqual(cost.bytesEach * batchSize)
      }
    })
  },
)

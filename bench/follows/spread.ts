import { randomUUID } from 'node:crypto'
import { ObjectId } from 'mongodb'
import { applyIndexes } from '../../src/db/indexes.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { type BenchDatabase, copyCollections, openBenchDatabase } from '../database.ts'
import { createAccounts, userAt } from '../engagement/feedline.ts'
import { storePosts } from '../feeds/bulk-data.ts'
import { createWorker, runDueJobs, serviceLog } from '../feeds/feeds-database.ts'
import { waitForEmptyOutbox } from '../feeds/mixed-workload-systems.ts'
import { newKey } from '../idempotency.ts'
import { type LoadResult, runClosedLoop } from '../load.ts'
import { type BenchOptions, sizeOf } from '../options.ts'

/** The clients of each load. */
export const clients = 64
const standardAccounts = 20_001
const postsPerAccount = 2

/** The follow number `at`: each pair once, by other accounts than those before and after it. */
export function pairAt(
  at: number,
  accounts = standardAccounts,
): readonly [follower: number, followee: number] {
  const follower = at % accounts
  // 7,919 is prime, so it visits each other account once.
  const distance = 1 + (((follower + Math.floor(at / accounts)) * 7_919) % (accounts - 1))
  return [follower, (follower + distance) % accounts]
}

/** Follows of different accounts. A rate counts until all jobs have ended. */
export type SpreadRound = Readonly<Record<'feedline' | 'bare', LoadResult>>

/** What each side promises. */
export const spreadPromises: Readonly<Record<keyof SpreadRound, string>> = {
  feedline:
    'durable, atomic, once for each clientMutationId; checks blocks, keeps the history, and fills timelines by jobs',
  bare: 'durable, atomic, once for each key; both edges and both counters, nothing else',
}

/**
 * Measures follows of different accounts by 64 clients, each with a key: Feedline's service with
 * INBOX, whose jobs add the posts of the followee to the timeline, and one transaction for each
 * follow.
 * @throws if edges or counters differ from the acknowledged follows.
 */
export async function measureSpreadFollows(options: BenchOptions): Promise<SpreadRound[]> {
  const { rounds: count, ms, warmUpMs, log } = options
  const accounts = sizeOf(options, standardAccounts, 501)
  const env = { FEED_STRATEGY: 'INBOX', FEED_MAINTAINED: 'INBOX' }
  await using database = await openBenchDatabase(log, env)
  const { services } = database
  await registerStrategies(services, ['INBOX'])
  log(`creating ${accounts} accounts with posts`)
  await createAccounts(services, accounts)
  const users = Array.from({ length: accounts }, (_, at) => userAt(at))
  await storePosts(database, users, postsPerAccount)
  await runDueJobs(services)
  await using bare = await openBareFollows(database)
  const worker = createWorker(services)
  worker.start()
  services.inline.start(services.tasks, serviceLog)
  const sides = { feedline: followWith(services), bare: bare.follow }
  const next = { feedline: 0, bare: 0 }
  const measure = async (name: keyof SpreadRound, loadMs: number): Promise<LoadResult> => {
    const begin = performance.now()
    let acknowledged = 0
    const load = await runClosedLoop(clients, loadMs, async () => {
      const [follower, followee] = pairAt(next[name]++, accounts)
      if (await sides[name](userAt(follower), userAt(followee))) acknowledged++
    })
    await waitForEmptyOutbox(services)
    const seconds = (performance.now() - begin) / 1_000
    return { ...load, perSecond: acknowledged / seconds }
  }
  const rounds: SpreadRound[] = []
  try {
    for (const name of ['feedline', 'bare'] as const) {
      log(`follows of different accounts: warm-up, ${name}`)
      await measure(name, warmUpMs)
    }
    for (let round = 1; round <= count; round++) {
      log(`round ${round} of ${count}: follows of different accounts`)
      const order =
        round % 2 === 1 ? (['feedline', 'bare'] as const) : (['bare', 'feedline'] as const)
      const results: Partial<Record<keyof SpreadRound, LoadResult>> = {}
      for (const name of order) results[name] = await measure(name, ms)
      rounds.push(results as SpreadRound)
    }
  } finally {
    await worker.stop()
  }
  await verifyEdges(database.db, next.feedline)
  await verifyEdges(bare.db, next.bare)
  return rounds
}

const followWith =
  ({ follows }: Services) =>
  async (actor: UserId, followee: UserId): Promise<boolean> =>
    (await follows.follow(actor, followee, newKey(actor, 'followUser'))).changed

/**
 * One transaction for each follow, of six commands: key, edge in both directions, both counters,
 * and the commit.
 */
async function openBareFollows({ client, db: { databaseName }, db: from }: BenchDatabase) {
  const db = client.db(`${databaseName}_bare`)
  await copyCollections(from, db.databaseName, ['user_stats'])
  await applyIndexes(db, 'collection')
  const keys = db.collection<{ _id: string; at: Date }>('idempotency_keys')
  const [followers, following] = [db.collection('followers'), db.collection('following')]
  const stats = db.collection<{ _id: string }>('user_stats')
  const follow = async (actor: string, followee: string): Promise<boolean> => {
    const [_id, source] = [new ObjectId(), 'FEEDLINE']
    const key = { _id: `${actor} ${randomUUID()}`, at: new Date() }
    await client.withSession((session) =>
      session.withTransaction(async () => {
        await keys.insertOne(key, { session })
        await followers.insertOne({ _id, user: followee, follower: actor, source }, { session })
        await following.insertOne({ _id, user: actor, followee, source }, { session })
        const { matchedCount } = await stats.bulkWrite(
          [
            { updateOne: { filter: { _id: actor }, update: { $inc: { following: 1 } } } },
            { updateOne: { filter: { _id: followee }, update: { $inc: { followers: 1 } } } },
          ],
          { session },
        )
        if (matchedCount < 2) throw new Error('one of both has no account')
      }),
    )
    return true
  }
  const drop = async () => void (await db.dropDatabase())
  return { db, follow, [Symbol.asyncDispose]: drop }
}

/** @throws unless both directions and both counters have all follows. */
async function verifyEdges(db: BenchDatabase['db'], follows: number): Promise<void> {
  const [sums] = await db
    .collection('user_stats')
    .aggregate([
      {
        $group: { _id: null, followers: { $sum: '$followers' }, following: { $sum: '$following' } },
      },
    ])
    .toArray()
  const stored = {
    followers: await db.collection('followers').countDocuments(),
    following: await db.collection('following').countDocuments(),
    counted: { followers: Number(sums?.followers), following: Number(sums?.following) },
  }
  const { followers, following, counted } = stored
  if ([followers, following, counted.followers, counted.following].some((n) => n !== follows))
    throw new Error(`${follows} follows were acknowledged, but there are ${JSON.stringify(stored)}`)
}

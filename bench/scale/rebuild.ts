import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../packages/drive/random.ts'
import type { InboxDoc } from '../../src/db/collections.ts'
import { createCollection } from '../../src/db/indexes.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { buildServer } from '../feeds/build.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import type { Graph } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { defineSide } from './side.ts'
import { startWorkers } from './workers.ts'

const [userCounts, edgeCounts, postsPerUser] = [[37_700, 600], [289_003, 3_000], 5] as const
/** A number without a common factor with the number of users. */
const rankStep = 7_919
const entriesPerInsert = 1_000
/** Number of entries that are inserted post by post, which is much slower. */
const byPostMax = 500_000
const workerCount = 2

/**
 * Registers INBOX in a database of 578,006 follows and 188,500 posts, and measures its back-fill by
 * two worker processes. Beside it: the same entries, inserted in the same order without reading
 * anything. That is what the database permits.
 */
export const rebuildSide = defineSide({
  name: 'rebuild',
  keys: {
    rebuild_entries_per_second: {
      meaning: 'entries of INBOX that two worker processes store',
      wanted: { least: 50_000 },
    },
    rebuild_vs_bare_inserts: { meaning: 'the same, over bare inserts of the same entries' },
    inserts_by_post_vs_by_reader: {
      meaning: 'bare inserts, post by post, over those reader by reader',
    },
  },
  measure: measureRebuild,
})

async function measureRebuild(options: BenchOptions) {
  const { rounds, log } = options
  const [userCount, edgeCount] = [sizeOf(options, ...userCounts), sizeOf(options, ...edgeCounts)]
  const graph = createMutualGraph(userCount, edgeCount)
  await using database = await openBenchDatabase(log, { FEED_MAINTAINED: 'INBOX' })
  log(`storing ${2 * edgeCount} follows`)
  await storeGraph(database, graph)
  await storePosts(database, graph.users, postsPerUser)
  const buildFolder = await buildServer()
  const expected = postsPerUser * (userCount + 2 * edgeCount)
  const values = {
    rebuild_entries_per_second: [] as number[],
    rebuild_vs_bare_inserts: [] as number[],
    inserts_by_post_vs_by_reader: [] as number[],
  }
  for (let round = 1; round <= rounds; round++) {
    const seconds = await rebuildInbox(database, buildFolder)
    const byReader = await database.services.collections.inbox.find().sort({ _id: 1 }).toArray()
    const entries = byReader.length
    if (entries !== expected) throw new Error(`${entries} of ${expected} entries are stored`)
    const bareSeconds = await insertBarely(database, byReader)
    // Not sorted by the database, which would take longer than a command may.
    const byPost = byReader
      .sort((a, b) => Buffer.compare(a._id.post.id, b._id.post.id))
      .slice(0, byPostMax)
    const byPostSeconds = await insertBarely(database, byPost)
    const [rate, bareRate] = [entries / seconds, entries / bareSeconds]
    const byPostRate = byPost.length / byPostSeconds
    log(
      `round ${round}: ${rate.toFixed(0)} entries/s; bare inserts ${bareRate.toFixed(0)}/s, ` +
        `by post ${byPostRate.toFixed(0)}/s`,
    )
    values.inserts_by_post_vs_by_reader.push(byPostRate / bareRate)
    values.rebuild_entries_per_second.push(rate)
    values.rebuild_vs_bare_inserts.push(rate / bareRate)
  }
  return values
}

/** @returns the seconds from the registration until it covers all readers. */
async function rebuildInbox(
  { uri, db, services: { collections, registrations } }: BenchDatabase,
  buildFolder: string,
): Promise<number> {
  await registrations.drop('INBOX')
  await collections.inbox.drop()
  await createCollection(db, 'inbox', true)
  await using _ = await startWorkers(buildFolder, { uri, name: db.databaseName }, workerCount)
  const begin = performance.now()
  await registrations.register('INBOX', {})
  while (!(await collections.strategies.findOne({ _id: 'INBOX', complete: true }))) await sleep(20)
  return (performance.now() - begin) / 1000
}

/** Inserts entries into an empty collection, in their order. @returns the seconds. */
async function insertBarely({ db }: BenchDatabase, entries: readonly InboxDoc[]): Promise<number> {
  const bare = db.collection('bare')
  await createCollection(db, 'bare', true)
  const begin = performance.now()
  const running = new Set<Promise<unknown>>()
  for (const batch of chunks(entries, entriesPerInsert)) {
    const insert = bare
      .insertMany(batch as never[], { ordered: false })
      .finally(() => running.delete(insert))
    running.add(insert)
    if (running.size >= 4) await Promise.race(running)
  }
  await Promise.all(running)
  const seconds = (performance.now() - begin) / 1000
  await bare.drop()
  return seconds
}

/** A graph of mutual follows, in which some users have many friends. It is the same in each run. */
function createMutualGraph(userCount: number, edgeCount: number): Graph {
  const users = Array.from(
    { length: userCount },
    (_, at) => `u${at.toString(36).padStart(4, '0')}` as UserId,
  )
  const followers = new Map(users.map((user) => [user, new Set<UserId>()]))
  // Users with many friends are spread over all handles.
  const ranked = (rank: number) => users[(rank * rankStep) % userCount] as UserId
  for (let at = 0, stored = 0; stored < edgeCount; at++) {
    const [a, b] = [
      ranked(Math.floor(userCount * randomAt(1, at, 0) ** 3)),
      ranked(Math.floor(userCount * randomAt(1, at, 1))),
    ]
    if (a === b || followers.get(a)?.has(b)) continue
    followers.get(a)?.add(b)
    followers.get(b)?.add(a)
    stored++
  }
  return {
    name: 'mutual',
    users,
    followers: new Map([...followers].map(([user, some]) => [user, [...some]])),
  }
}

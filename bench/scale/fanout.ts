import { setTimeout as sleep } from 'node:timers/promises'
import type { UserId } from '../../src/lib/ids.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { buildServer } from '../feeds/build.ts'
import { storeGraph } from '../feeds/bulk-data.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { startLatencyProxy } from './latency-proxy.ts'
import { defineSide } from './side.ts'
import { startWorkers } from './workers.ts'

const followerCounts = [100_000, 1_000] as const
const workerCount = 4
/** How much later each byte arrives, in each direction, in milliseconds. */
const latencyMs = 5
const author = 'celebrity' as UserId

/**
 * Delivers a post to 100,000 followers by one worker process, and by four. Each worker has 5 ms of
 * network latency to the database. The time ends when the delivery has ended. A first post is not
 * measured, because a worker whose code Node has yet to compile takes twice the processor time.
 */
export const fanoutSide = defineSide({
  name: 'fanout',
  keys: {
    fanout_4_workers_vs_1_latency5: {
      meaning: 'deliveries to 100,000 followers by four workers, over one',
      wanted: { least: 3 },
    },
    fanout_1_worker_latency5_seconds: { meaning: 'the same by one worker, s' },
    fanout_4_workers_latency5_seconds: { meaning: 'the same by four workers, s' },
  },
  measure: measureFanout,
})

async function measureFanout(options: BenchOptions) {
  const { rounds, log } = options
  await using database = await openBenchDatabase(log, { FEED_MAINTAINED: 'INBOX' })
  const followers = Array.from(
    { length: sizeOf(options, ...followerCounts) },
    (_, at) => `f${at.toString().padStart(6, '0')}` as UserId,
  )
  const users = [author, ...followers]
  await storeGraph(database, { name: 'fanout', users, followers: new Map([[author, followers]]) })
  await database.services.registrations.register('INBOX', {})
  const { strategies, outbox } = database.services.collections
  await strategies.updateOne({ _id: 'INBOX' }, { $set: { complete: true } })
  await outbox.deleteMany({})
  const buildFolder = await buildServer()
  const port = Number(new URL(database.uri).port)
  await using proxy = await startLatencyProxy(port, latencyMs)
  const values = {
    fanout_4_workers_vs_1_latency5: [] as number[],
    fanout_1_worker_latency5_seconds: [] as number[],
    fanout_4_workers_latency5_seconds: [] as number[],
  }
  for (let round = 1; round <= rounds; round++) {
    const seconds = { 1: 0, [workerCount]: 0 }
    // Alternates the order.
    for (const count of round % 2 === 1 ? [1, workerCount] : [workerCount, 1]) {
      seconds[count as 1] = await measureDelivery(database, buildFolder, {
        ...{ port: proxy.port, workers: count, followers: followers.length },
      })
      log(`round ${round} of ${rounds}: ${count} workers ${seconds[count as 1].toFixed(2)} s`)
    }
    values.fanout_1_worker_latency5_seconds.push(seconds[1])
    values.fanout_4_workers_latency5_seconds.push(seconds[workerCount] as number)
    values.fanout_4_workers_vs_1_latency5.push(seconds[1] / (seconds[workerCount] as number))
  }
  return values
}

/** @returns the seconds from the second post until its delivery has ended. */
async function measureDelivery(
  { db, services: { posts, collections } }: BenchDatabase,
  buildFolder: string,
  { port, workers, followers }: Record<'port' | 'workers' | 'followers', number>,
): Promise<number> {
  const uri = `mongodb://127.0.0.1:${port}/?directConnection=true`
  await using _ = await startWorkers(buildFolder, { uri, name: db.databaseName }, workers)
  const deliver = async () => {
    const begin = performance.now()
    const { id } = await posts.create(author, { text: 'hello' })
    while (await collections.outbox.findOne({ 'payload.post': id })) await sleep(10)
    return (performance.now() - begin) / 1000
  }
  await deliver()
  const seconds = await deliver()
  const entries = await collections.inbox.countDocuments()
  if (entries !== 2 * (followers + 1)) throw new Error(`${entries} entries are stored`)
  await collections.inbox.deleteMany({})
  return seconds
}

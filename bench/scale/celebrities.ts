import { ObjectId } from 'mongodb'
import { applyIndexes } from '../../src/db/indexes.ts'
import { setMarks } from '../../src/db/marks.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type BenchDatabase, openBenchDatabase, openServices } from '../database.ts'
import { insertInBatches, storeGraph, storePosts } from '../feeds/bulk-data.ts'
import { runDueJobs } from '../feeds/feeds-database.ts'
import { readPage } from '../feeds/pages.ts'
import { runClosedLoop } from '../load.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { readMongodCpuUs } from '../reads/feedline-side.ts'
import { collectRounds, defineSide, type ScaleKey } from './side.ts'

const celebrities = [100_000, 1_000] as const
const clients = 8
const reader = 'reader' as UserId
const followees = Array.from({ length: 40 }, (_, at) => `followee${at}` as UserId)
const postsPerFollowee = 5
const env = { FEED_MAINTAINED: 'INBOX', FEED_STRATEGY: 'INBOX' }

const keys = {
  page_cost_100k_celebrities_vs_0: {
    meaning: 'processor time of an INBOX page with 100,000 celebrities in the database, over none',
    wanted: { most: 1.1 },
  },
  page_us_at_0_celebrities: { meaning: 'processor time of the page, in Node and mongod, µs' },
} satisfies Record<string, ScaleKey>

/** The page of one reader in two databases of one mongod, in turn. The reader follows no celebrity. */
export const celebritiesSide = defineSide({
  name: 'celebrities',
  keys,
  measure: async (options: BenchOptions) => {
    const { rounds, ms, log } = options
    await using many = await openBenchDatabase(log, env)
    const name = `${many.db.databaseName}_none`
    const opened = await openServices(many.uri, name, env)
    await using _ = { [Symbol.asyncDispose]: () => opened.client.close() }
    await applyIndexes(opened.db, 'collection')
    await setMarks(opened.db)
    const none = { ...opened, uri: many.uri }
    for (const database of [none, many]) await storeTimeline(database)
    await storeCelebrities(many, sizeOf(options, ...celebrities))
    const sides = { none, many }
    const order = Object.keys(sides) as (keyof typeof sides)[]
    for (const side of order) await measurePageUs(sides[side], ms)
    const measured: Record<keyof typeof keys, number>[] = []
    for (let round = 1; round <= rounds; round++) {
      const us = { none: 0, many: 0 }
      for (const side of round % 2 === 1 ? order : order.toReversed())
        us[side] = await measurePageUs(sides[side], ms)
      log(`round ${round} of ${rounds}: ${us.none.toFixed(0)} µs, ${us.many.toFixed(0)} µs`)
      measured.push({
        page_cost_100k_celebrities_vs_0: us.many / us.none,
        page_us_at_0_celebrities: us.none,
      })
    }
    await none.db.dropDatabase()
    return collectRounds(measured)
  },
})

type Database = Pick<BenchDatabase, 'uri' | 'client' | 'db' | 'services'>

async function storeTimeline(database: Database): Promise<void> {
  const { services } = database
  await registerStrategies(services, ['INBOX'])
  const followers = new Map(followees.map((followee) => [followee, [reader]]))
  const target = { ...database, [Symbol.asyncDispose]: async () => {} }
  await storeGraph(target, { name: 'celebrities', users: [reader, ...followees], followers })
  await storePosts(target, followees, postsPerFollowee)
  await services.registrations.rebuild('INBOX')
  await runDueJobs(services)
  // Otherwise the first pages know the registration from before the back-fill.
  await services.registry.read()
}

/** Stores celebrities that the reader does not follow. */
async function storeCelebrities({ services }: Database, count: number): Promise<void> {
  const readFrom = new ObjectId()
  const names = Array.from({ length: count }, (_, at) => `celebrity${at}`)
  const { strategies, celebrities: stored } = services.collections
  await insertInBatches(stored, names, (_id) => ({ _id, readFrom }))
  await services.registrations.runExclusive((tx) =>
    strategies.updateOne({ _id: 'INBOX' }, { $set: { celebrities: readFrom } }, tx),
  )
  // Otherwise the first pages know no celebrities.
  await services.registry.read()
}

/** The processor time of a page in this process and in mongod, in microseconds. */
async function measurePageUs(database: Database, ms: number): Promise<number> {
  const [before, databaseUs] = [process.cpuUsage(), await readMongodCpuUs(database)]
  let pages = 0
  await runClosedLoop(clients, ms, async () => {
    const posts = await readPage(database as BenchDatabase, reader, 'INBOX', undefined)
    if (posts.length !== 50) throw new Error(`a page has ${posts.length} posts`)
    pages++
  })
  const { user, system } = process.cpuUsage(before)
  return (user + system + (await readMongodCpuUs(database)) - databaseUs) / pages
}

import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { openBenchDatabase, openServices } from '../database.ts'
import { userAt } from '../engagement/feedline.ts'
import { insertInBatches, storeAccounts } from '../feeds/bulk-data.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { defineSide } from './side.ts'

const accounts = [1_000_000, 3_000] as const
const strategies = ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE'] as const

/**
 * Registers all strategies that store timelines, as a process does at its start, in a database of
 * 1,000,000 accounts and beside it in one of 1,000. A registration is one transaction each, and its
 * back-fill is a job.
 */
export const registerSide = defineSide({
  name: 'register',
  keys: {
    register_at_1m_accounts_seconds: {
      meaning: 'four strategies at 1,000,000 accounts, s',
      wanted: { most: 2 },
    },
    register_1m_vs_1k_accounts: { meaning: 'the same, over 1,000 accounts' },
  },
  measure: measureRegistration,
})

async function measureRegistration(options: BenchOptions) {
  const { rounds, log } = options
  const values = {
    register_at_1m_accounts_seconds: [] as number[],
    register_1m_vs_1k_accounts: [] as number[],
  }
  await using small = await openAccounts(1_000, log)
  await using large = await openAccounts(sizeOf(options, ...accounts), log)
  for (let round = 1; round <= rounds; round++) {
    const [few, many] = [await small.register(), await large.register()]
    log(`round ${round} of ${rounds}: ${many.toFixed(2)} s, at 1,000 accounts ${few.toFixed(2)} s`)
    values.register_at_1m_accounts_seconds.push(many)
    values.register_1m_vs_1k_accounts.push(many / few)
  }
  return values
}

/** A new database with `count` accounts. */
async function openAccounts(count: number, log: (line: string) => void) {
  const database = await openBenchDatabase(log)
  const { uri, db } = database
  log(`storing ${count.toLocaleString('en')} accounts`)
  const bulk = await connect(uri, 'bulk')
  const collections = openCollections(bulk.db(db.databaseName))
  const ids = Array.from({ length: count }, (_, at) => userAt(at))
  await storeAccounts(collections, ids, new Date())
  await insertInBatches(collections.user_stats, ids, (_id) => {
    return { _id, followers: 0, following: 0, posts: 0 }
  })
  await bulk.close()
  return {
    /** The time that a new process takes to register all strategies, in seconds. */
    register: async () => {
      const { client, services } = await openServices(uri, db.databaseName)
      await services.collections.strategies.deleteMany({})
      await services.collections.outbox.deleteMany({})
      const startedAt = performance.now()
      await registerStrategies(services, strategies)
      const seconds = (performance.now() - startedAt) / 1000
      const registered = await services.collections.strategies.countDocuments()
      await client.close()
      if (registered !== strategies.length) throw new Error(`${registered} strategies registered`)
      return seconds
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

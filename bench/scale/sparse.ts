import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../packages/drive/random.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { startChild } from '../child-process.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { buildServer } from '../feeds/build.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import type { Graph } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { openFeedlineSide } from '../reads/feedline-side.ts'
import { measure, type Visit } from '../reads/measure.ts'
import { collectRounds, defineSide } from './side.ts'
import { startWorkers } from './workers.ts'

const [accountCounts, postsPerAccount] = [[100_000, 400], 5] as const
/** How many readers visit in turn. */
const readerCounts = { few: [1_000, 20], many: [4_000, 40], most: [16_000, 80] } as const
type Readers = keyof typeof readerCounts
/**
 * Numbers without a common factor with the number of accounts, so that two readers seldom share
 * followees.
 */
const followeeSteps = [7, 61, 397, 1_009, 3_001, 7_919, 12_553, 27_449, 39_119, 48_611] as const

/** Stored timelines are measured beside, on the same data. */
const strategies = ['FANOUT_ON_READ', 'INBOX'] as const satisfies readonly FeedStrategyName[]

/**
 * First and second visits of readers whose followees hardly overlap, by FANOUT_ON_READ from memory
 * and by INBOX: at what size a graph outgrows the memory of a process. Processor time, of server
 * and database together.
 */
export const sparseSide = defineSide({
  name: 'sparse',
  isLong: true,
  keys: {
    sparse_first_visit_us: { meaning: 'a first page, FANOUT_ON_READ, 16,000 readers of 100,000' },
    sparse_first_visit_inbox_us: { meaning: 'the same, INBOX' },
    sparse_second_visit_1000_vs_inbox: {
      meaning: 'time of INBOX over FANOUT_ON_READ, second visits of 1,000 readers',
    },
    sparse_second_visit_4000_vs_inbox: { meaning: 'the same, 4,000 readers' },
    sparse_second_visit_16000_vs_inbox: { meaning: 'the same, 16,000 readers' },
  },
  measure: measureSparse,
})

async function measureSparse(options: BenchOptions) {
  const { rounds, log } = options
  const graph = createSparseGraph(sizeOf(options, ...accountCounts))
  await using database = await openBenchDatabase(
    log,
    { FEED_MAINTAINED: 'INBOX' },
    { socketTimeoutMS: 60_000 },
  )
  const { registrations, configured } = database.services
  // Without accounts, it waits for no post of a transaction.
  await registrations.register('INBOX', configured.INBOX)
  log(`storing ${graph.users.length} accounts, each of which follows ${followeeSteps.length}`)
  await storeGraph(database, graph)
  await storePosts(database, graph.users, postsPerAccount)
  const buildFolder = await buildServer()
  log('filling the timelines of INBOX')
  await fillInbox(database, buildFolder)
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  const measured = []
  for (let round = 1; round <= rounds; round++) {
    const first = new Map<string, number>()
    const second = new Map<string, number>()
    for (const size of Object.keys(readerCounts) as Readers[]) {
      const [standard, smallest] = readerCounts[size]
      const readers = pickReaders(graph.users, sizeOf(options, standard, smallest), round)
      for (const strategy of strategies) {
        const side = await openFeedlineSide(database, strategy, buildFolder)
        try {
          first.set(`${strategy} ${size}`, await measureUs({ side, load }, readers))
          second.set(`${strategy} ${size}`, await measureUs({ side, load }, readers))
        } finally {
          for (const server of side.servers) await server[Symbol.asyncDispose]()
        }
        const [visit, next] = [first, second].map((us) => us.get(`${strategy} ${size}`)?.toFixed(0))
        log(`round ${round}: ${strategy}, ${readers.length} readers: ${visit} µs, then ${next} µs`)
      }
    }
    const ratioOf = (size: Readers) =>
      (second.get(`INBOX ${size}`) ?? 0) / (second.get(`FANOUT_ON_READ ${size}`) ?? 1)
    measured.push({
      sparse_first_visit_us: first.get('FANOUT_ON_READ most') ?? 0,
      sparse_first_visit_inbox_us: first.get('INBOX most') ?? 0,
      sparse_second_visit_1000_vs_inbox: ratioOf('few'),
      sparse_second_visit_4000_vs_inbox: ratioOf('many'),
      sparse_second_visit_16000_vs_inbox: ratioOf('most'),
    })
  }
  return collectRounds(measured)
}

/** Waits until two worker processes have filled all timelines of INBOX. */
async function fillInbox({ uri, db, services }: BenchDatabase, buildFolder: string): Promise<void> {
  const { registrations, collections } = services
  await registrations.rebuild('INBOX')
  await using _ = await startWorkers(buildFolder, { uri, name: db.databaseName }, 2)
  while (!(await collections.strategies.findOne({ _id: 'INBOX', complete: true }))) await sleep(100)
}

/** @returns the processor time of a first page, in microseconds. */
async function measureUs(
  visit: Pick<Visit, 'side' | 'load'>,
  readers: readonly UserId[],
): Promise<number> {
  const requests = readers.map((reader) => visit.side.requests.page(reader))
  const { serverUs, databaseUs } = await measure(visit, [requests])
  return serverUs + databaseUs
}

/** Different readers, spread over all. */
const pickReaders = (users: readonly UserId[], count: number, round: number): UserId[] => {
  const first = Math.floor(users.length * randomAt(1, round, 0))
  const step = Math.floor(users.length / count)
  return Array.from(
    { length: count },
    (_, at) => users[(first + at * step) % users.length] as UserId,
  )
}

/** A graph in which each account follows ten others. It is the same in each run. */
function createSparseGraph(count: number): Graph {
  const users = Array.from(
    { length: count },
    (_, at) => `s${at.toString(36).padStart(4, '0')}` as UserId,
  )
  const followers = new Map(
    users.map((user, at) => {
      const all = new Set(followeeSteps.map((step) => users[(at + step) % count] as UserId))
      all.delete(user)
      return [user, [...all]]
    }),
  )
  return { name: 'sparse', users, followers }
}

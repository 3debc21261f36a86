import type { Db } from 'mongodb'
import type { UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import type { BenchOptions } from '../options.ts'
import { quantile } from '../statistics.ts'
import { postText, storeGraph, storePosts } from './bulk-data.ts'
import { countCommands, recordCommands } from './command-recorder.ts'
import {
  backfill,
  collectionNames,
  entryPaths,
  type FeedsDatabase,
  maintainOnly,
  openFeedsDatabase,
  openMonitored,
  runDueJobs,
} from './feeds-database.ts'
import { type Graph, sampleAuthors } from './graph.ts'
import { readPage } from './pages.ts'
import { formatTable } from './report.ts'

/** The strategies in the table. */
export const comparedStrategies = [
  'FANOUT_ON_READ',
  'TIME_BUCKETS',
  'SIZED_BUCKETS',
  'CACHE',
  'INBOX',
] as const
type ComparedStrategy = (typeof comparedStrategies)[number]

/** A row of the table. */
export interface GrowthRow {
  readonly dimension: 'followed' | 'history' | 'followers'
  readonly size: number
  readonly strategy: ComparedStrategy
  /** Commands of the first page, or of all deliveries of a post. */
  readonly commands: number
  /** Milliseconds per page, or microseconds per delivery. */
  readonly time: number
  /** Bytes stored for the reader, or per delivery. */
  readonly bytes: number
}

const followeeCounts = [10, 100, 1_000] as const
const historyLengths = [50, 500, 5_000] as const
const postsPerAuthor = 5
const pagesPerMeasurement = 40

/**
 * Measures the cost of a first page by the number of followees, with five posts each, and by the
 * number of posts of ten followees.
 */
export async function measurePageGrowth({ log }: Pick<BenchOptions, 'log'>): Promise<GrowthRow[]> {
  await using database = await openFeedsDatabase(log)
  const readers = [
    ...followeeCounts.map((size) => describeReader('followed', size, size, postsPerAuthor)),
    ...historyLengths.map((size) => describeReader('history', size, 10, size / 10)),
  ]
  const users = readers.flatMap(({ reader, authors }) => [reader, ...authors])
  const followers = new Map(
    readers.flatMap(({ reader, authors }) => authors.map((author) => [author, [reader]])),
  )
  await storeGraph(database, { name: 'growth', users, followers })
  for (const { authors, postsEach } of readers) await storePosts(database, authors, postsEach)
  await backfill(database)
  await using monitored = await openMonitored(database)
  const rows: GrowthRow[] = []
  for (const { dimension, size, reader } of readers) {
    log(`growth: ${dimension} ${size}`)
    for (const strategy of comparedStrategies) {
      rows.push({
        dimension,
        size,
        strategy,
        ...(await measurePageCost(monitored, reader, strategy)),
      })
    }
  }
  return rows
}

/**
 * Describes a reader with `count` followees that only this reader follows. Each has `postsEach`
 * posts.
 */
function describeReader(
  dimension: 'followed' | 'history',
  size: number,
  count: number,
  postsEach: number,
) {
  const reader = `${dimension}-${size}` as UserId
  const authors = Array.from({ length: count }, (_, at) => `${reader}-${at}` as UserId)
  return { dimension, size, reader, authors, postsEach }
}

async function measurePageCost(
  database: BenchDatabase,
  reader: UserId,
  strategy: ComparedStrategy,
) {
  const page = () => readPage(database, reader, strategy, undefined)
  await page()
  const commands = countCommands(await recordCommands(database, page))
  const latenciesMs: number[] = []
  for (let call = 0; call < pagesPerMeasurement; call++) latenciesMs.push(await measureMs(page))
  return {
    commands,
    time: quantile(latenciesMs, 0.5),
    bytes: await measureBytes(database.db, strategy, reader),
  }
}

/** Measures the cost of the deliveries of a post by the number of the author's followers. */
export async function measureDeliveryGrowth(
  database: FeedsDatabase,
  graph: Graph,
  { log }: Pick<BenchOptions, 'log'>,
): Promise<GrowthRow[]> {
  await using monitored = await openMonitored(database)
  const { services, db } = monitored
  const rows: GrowthRow[] = []
  for (const author of Object.values(sampleAuthors)) {
    const size = graph.followers.get(author)?.length ?? 0
    log(`growth: followers ${size}`)
    for (const strategy of comparedStrategies) {
      await maintainOnly(database, strategy === 'FANOUT_ON_READ' ? [] : [strategy])
      const before = await measureBytes(db, strategy)
      await services.posts.create(author, { text: postText(0) })
      let ms = 0
      const groups = await recordCommands(monitored, async () => {
        ms = await measureMs(() => runDueJobs(services))
      })
      const bytes = ((await measureBytes(db, strategy)) - before) / size
      rows.push({
        dimension: 'followers',
        size,
        strategy,
        commands: countCommands(groups),
        time: (ms * 1000) / size,
        bytes,
      })
    }
  }
  return rows
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Measures the documents of a strategy, of one reader or of all, in bytes before compression. */
async function measureBytes(db: Db, strategy: ComparedStrategy, reader?: UserId): Promise<number> {
  if (strategy === 'FANOUT_ON_READ') return 0
  const name = collectionNames[strategy]
  const pipeline = reader
    ? [
        { $match: { [entryPaths(strategy)[1]]: reader } },
        { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ]
    : [{ $collStats: { storageStats: {} } }, { $project: { bytes: '$storageStats.size' } }]
  const [found] = await db.collection(name).aggregate<{ bytes: number }>(pipeline).toArray()
  return found?.bytes ?? 0
}

/** Formats the table: a row per size, a column per strategy. */
export function formatGrowthTable(rows: readonly GrowthRow[]): string {
  const first = rows.filter(({ strategy }) => strategy === comparedStrategies[0])
  const lines = first.map(({ dimension, size }) => {
    const sameSize = rows.filter((row) => row.dimension === dimension && row.size === size)
    const cells = comparedStrategies.map((name) =>
      formatCell(sameSize.find(({ strategy }) => strategy === name)),
    )
    return [`${labels[dimension]} ${size.toLocaleString('en')}`, ...cells]
  })
  return formatTable(['what grows', ...comparedStrategies], lines)
}

const labels = {
  followed: 'page: followed',
  history: 'page: posts in the timeline',
  followers: 'post: followers',
} as const

function formatCell(row: GrowthRow | undefined): string {
  if (!row) return ''
  const { dimension, commands, time, bytes } = row
  const latency = dimension === 'followers' ? `${time.toFixed(0)} µs each` : `${time.toFixed(1)} ms`
  const size =
    dimension === 'followers' ? `${bytes.toFixed(0)} B each` : `${(bytes / 1024).toFixed(1)} KB`
  return `${commands} commands, ${latency}, ${size}`
}

import type { Db } from 'mongodb'
import type { UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { quantile } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { commandsOf, countOf } from './commands.ts'
import { authorsOf, type Graph } from './graph.ts'
import {
  backfill,
  drain,
  type FeedsDatabase,
  maintain,
  openFeeds,
  openWatched,
  places,
  stored,
} from './ours.ts'
import { pageOf } from './pages.ts'
import { table } from './report.ts'
import { storeGraph, storePosts, textOf } from './store.ts'

/** Those that the table compares. */
export const compared = [
  'FANOUT_ON_READ',
  'TIME_BUCKETS',
  'SIZED_BUCKETS',
  'CACHE',
  'INBOX',
] as const
type Compared = (typeof compared)[number]

/** One line of the table. */
export interface Growth {
  readonly what: 'followed' | 'history' | 'followers'
  readonly size: number
  readonly strategy: Compared
  /** Of the first page, or of a post's deliveries. */
  readonly commands: number
  /** Milliseconds of a page, or microseconds of a delivery. */
  readonly time: number
  /** Stored for the reader, or for one delivery. */
  readonly bytes: number
}

const followed = [10, 100, 1_000] as const
const histories = [50, 500, 5_000] as const
const postsEach = 5
const pagesEach = 40

/** What a page costs a reader who follows so many, five posts each, and one of ten followees with so much history. */
export async function measurePageGrowth({ say }: Pick<BenchOptions, 'say'>): Promise<Growth[]> {
  await using database = await openFeeds(say)
  const readers = [
    ...followed.map((size) => readerOf('followed', size, size, postsEach)),
    ...histories.map((size) => readerOf('history', size, 10, size / 10)),
  ]
  const people = readers.flatMap(({ reader, authors }) => [reader, ...authors])
  const followers = new Map(
    readers.flatMap(({ reader, authors }) => authors.map((author) => [author, [reader]])),
  )
  await storeGraph(database, { name: 'growth', people, followers })
  for (const { authors, each } of readers) await storePosts(database, authors, each)
  await backfill(database)
  await using watched = await openWatched(database)
  const rows: Growth[] = []
  for (const { what, size, reader } of readers) {
    say(`growth: ${what} ${size}`)
    for (const strategy of compared) {
      rows.push({ what, size, strategy, ...(await pageCost(watched, reader, strategy)) })
    }
  }
  return rows
}

/** A reader of so many authors of their own, each with so many posts. */
function readerOf(what: 'followed' | 'history', size: number, count: number, each: number) {
  const reader = `${what}-${size}` as UserId
  const authors = Array.from({ length: count }, (_, at) => `${reader}-${at}` as UserId)
  return { what, size, reader, authors, each }
}

async function pageCost(database: BenchDatabase, reader: UserId, strategy: Compared) {
  const page = () => pageOf(database, reader, strategy, undefined)
  await page()
  const commands = countOf(await commandsOf(database, page))
  const took: number[] = []
  for (let call = 0; call < pagesEach; call++) took.push(await msOf(page))
  return {
    commands,
    time: quantile(took, 0.5),
    bytes: await bytesOf(database.db, strategy, reader),
  }
}

/** What a post costs to deliver, by the number of its author's followers. */
export async function measureDeliveryGrowth(
  database: FeedsDatabase,
  graph: Graph,
  { say }: Pick<BenchOptions, 'say'>,
): Promise<Growth[]> {
  await using watched = await openWatched(database)
  const { services, db } = watched
  const rows: Growth[] = []
  for (const author of Object.values(authorsOf)) {
    const size = graph.followers.get(author)?.length ?? 0
    say(`growth: followers ${size}`)
    for (const strategy of compared) {
      await maintain(database, strategy === 'FANOUT_ON_READ' ? [] : [strategy])
      const before = await bytesOf(db, strategy)
      await services.posts.create(author, { text: textOf(0) })
      let ms = 0
      const stages = await commandsOf(watched, async () => {
        ms = await msOf(() => drain(services))
      })
      const bytes = ((await bytesOf(db, strategy)) - before) / size
      rows.push({
        what: 'followers',
        size,
        strategy,
        commands: countOf(stages),
        time: (ms * 1000) / size,
        bytes,
      })
    }
  }
  return rows
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** The bytes of a strategy's documents, before compression; a reader's, or all. */
async function bytesOf(db: Db, strategy: Compared, reader?: UserId): Promise<number> {
  if (strategy === 'FANOUT_ON_READ') return 0
  const name = stored[strategy]
  const pipeline = reader
    ? [
        { $match: { [places[name][1]]: reader } },
        { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ]
    : [{ $collStats: { storageStats: {} } }, { $project: { bytes: '$storageStats.size' } }]
  const [found] = await db.collection(name).aggregate<{ bytes: number }>(pipeline).toArray()
  return found?.bytes ?? 0
}

/** The table of growth: a line for each size, a column for each strategy. */
export function growthTable(rows: readonly Growth[]): string {
  const first = rows.filter(({ strategy }) => strategy === compared[0])
  const lines = first.map(({ what, size }) => {
    const those = rows.filter((row) => row.what === what && row.size === size)
    const cells = compared.map((name) => cellOf(those.find(({ strategy }) => strategy === name)))
    return [`${labels[what]} ${size.toLocaleString('en')}`, ...cells]
  })
  return table(['what grows', ...compared], lines)
}

const labels = {
  followed: 'page: followed',
  history: 'page: posts in the timeline',
  followers: 'post: followers',
} as const

function cellOf(row: Growth | undefined): string {
  if (!row) return ''
  const { what, commands, time, bytes } = row
  const took = what === 'followers' ? `${time.toFixed(0)} µs each` : `${time.toFixed(1)} ms`
  const kept =
    what === 'followers' ? `${bytes.toFixed(0)} B each` : `${(bytes / 1024).toFixed(1)} KB`
  return `${commands} commands, ${took}, ${kept}`
}

import type { InboxDoc } from '../../src/db/collections.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { storeGraph } from './bulk-data.ts'
import { deliveriesPerSecond, measureFeedline } from './deliveries.ts'
import { clearBuckets, type FeedsDatabase, openFeedsDatabase } from './feeds-database.ts'
import type { Graph } from './graph.ts'

/** The audiences to which deliveries are measured: of 30 followers each, and of 100,000. */
export const audiences = ['30', '100k'] as const
export type Audience = (typeof audiences)[number]
const audienceSizes = (options: Pick<BenchOptions, 'isSmallest'>) => ({
  '30': 30,
  '100k': sizeOf(options, 100_000, 1_000),
})

/** Entries per second of both sides. */
export interface InboxRates {
  readonly workers: number
  readonly bareInsert: number
}
export type InboxRound = Readonly<Record<Audience, InboxRates>>

/** Authors with a small audience. Their audiences differ. */
const smallAuthors = 200
const celebrity = 'celebrity' as UserId
/** Documents of a bare command, and commands at a time, as many as a worker has jobs. */
const [insertSize, insertsAtOnce] = [1_000, 4]

/** A celebrity that all readers follow, and authors that thirty readers follow. */
export function createAudiences(options: Pick<BenchOptions, 'isSmallest'>): Graph {
  const sizes = audienceSizes(options)
  const readers = Array.from(
    { length: sizes['100k'] },
    (_, at) => `f${at.toString().padStart(6, '0')}` as UserId,
  )
  const small = Array.from({ length: smallAuthors }, (_, author): [UserId, UserId[]] => [
    `a${author}` as UserId,
    Array.from(
      { length: sizes['30'] },
      (_, at) => readers[(author * 487 + at * 3_301) % readers.length] as UserId,
    ),
  ])
  return {
    name: 'audiences',
    users: [celebrity, ...small.map(([author]) => author), ...readers],
    followers: new Map([[celebrity, readers], ...small]),
  }
}

/**
 * Measures the deliveries of posts by a worker under INBOX, to audiences of 30 and of 100,000, and
 * the insert of the same documents by bare commands.
 * @throws unless each follower has each post, or if the posts were delivered without a worker.
 */
export async function measureInboxDeliveries(options: BenchOptions): Promise<InboxRound[]> {
  const { rounds: count, ms, warmUpMs, log } = options
  const sizes = audienceSizes(options)
  await using database = await openFeedsDatabase(log)
  const graph = createAudiences(options)
  log(`storing ${graph.users.length} users with audiences of 30 and of 100,000`)
  await storeGraph(database, graph)
  const small = [...graph.followers.keys()].filter((author) => author !== celebrity)
  const posts = Math.ceil((ms * deliveriesPerSecond) / 1_000 / sizes['30'])
  const authors: Readonly<Record<Audience, readonly UserId[]>> = {
    '30': Array.from({ length: posts }, (_, at) => small[at % small.length] as UserId),
    '100k': [celebrity],
  }
  const stored: Partial<Record<Audience, InboxDoc[]>> = {}
  const measureWorkers = async (name: Audience): Promise<number> => {
    await clearBuckets(database)
    const { seconds, entries } = await measureFeedline(database, 'INBOX', authors[name])
    const expected = authors[name].length * sizes[name]
    if (entries !== expected) throw new Error(`${entries} of ${expected} entries are stored`)
    stored[name] = await database.services.collections.inbox.find().sort({ _id: 1 }).toArray()
    return stored[name].length / seconds
  }
  const measureBare = (name: Audience) => insertBare(database, stored[name] ?? [])
  log('warm-up, deliveries by a worker and bare inserts')
  for (const measure of [measureWorkers, measureBare]) {
    const begin = performance.now()
    do for (const name of audiences) await measure(name)
    while (performance.now() - begin < warmUpMs)
  }
  const rounds: InboxRound[] = []
  for (let round = 1; round <= count; round++) {
    const results: Partial<Record<Audience, InboxRates>> = {}
    for (const name of audiences) {
      // Alternates the order. The bare inserts take the documents of the last deliveries.
      const first = round % 2 === 1 ? undefined : await measureBare(name)
      const workers = await measureWorkers(name)
      const bareInsert = first ?? (await measureBare(name))
      const rates = `${Math.round(workers)} by a worker, ${Math.round(bareInsert)} bare`
      log(`round ${round} of ${count}: entries/s to audiences of ${name}: ${rates}`)
      results[name] = { workers, bareInsert }
    }
    rounds.push(results as InboxRound)
  }
  return rounds
}

/** Inserts documents into an empty collection. @returns documents per second. */
async function insertBare(database: FeedsDatabase, docs: readonly InboxDoc[]): Promise<number> {
  await clearBuckets(database)
  const { inbox } = database.services.collections
  // All inserts take their batches from one iterator.
  const batches = [...chunks(docs, insertSize)].values()
  const begin = performance.now()
  const insert = async () => {
    for (const batch of batches) await inbox.insertMany([...batch], { ordered: false })
  }
  await Promise.all(Array.from({ length: insertsAtOnce }, insert))
  const seconds = (performance.now() - begin) / 1_000
  if ((await inbox.countDocuments()) !== docs.length) throw new Error('documents are missing')
  return docs.length / seconds
}

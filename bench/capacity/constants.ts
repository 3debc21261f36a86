import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { constants as known } from '../../packages/capacity/constants.ts'
import { randomAt } from '../../packages/drive/random.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { startChild } from '../child-process.ts'
import { buildServer } from '../feeds/build.ts'
import type { FeedsDatabase } from '../feeds/feeds-database.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { createConstantsGraph } from './graphs.ts'
import { requests } from './requests.ts'
import { accountCollections, bytesPerDocument, edgeCollections, measureStorage } from './storage.ts'
import { storeGraph, storeHistory } from './store.ts'
import { format, measureStrategy, type StrategyContext } from './strategy-costs.ts'
import {
  type Cost,
  divideCost,
  openCapacityDatabase,
  prepareStrategy,
  startMeasuredServer,
} from './system.ts'

const postsEach = [6, 1] as const
const likeCounts = [3_000, 100] as const

/**
 * Measures the constants of the capacity model: the bytes on disk of each stored document, and the
 * processor time and oplog bytes of each operation. The command's JSON is the file
 * packages/capacity/constants.json.
 * @param options `sides` selects parts: `graph`, `likes`, or strategies. The others keep their
 *   values.
 */
export async function benchmarkConstants(options: BenchOptions) {
  const { log, sides, isSmallest } = options
  const isWanted = (part: string) => sides.length === 0 || sides.includes(part)
  const built = await buildServer()
  await using database = await openCapacityDatabase(log)
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  const graph = createConstantsGraph(options)
  await storeGraph(database, graph, log)
  const history = await storeHistory(database, graph.ordinary, sizeOf(options, ...postsEach))
  const context = { database, graph, history, load, built, isSmallest, log }
  const { version } = await database.client.db('admin').command({ buildInfo: 1 })
  const run = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GB, Node.js ${process.versions.node}, MongoDB ${version}`,
  }
  let { bytes, like } = known
  const runs: Record<string, typeof run> = { ...known.runs }
  if (isWanted('graph')) {
    bytes = { ...bytes, ...(await measureBaseBytes(database)) }
    runs.graph = run
  }
  const strategies = { ...known.strategies }
  for (const name of feedStrategyNames.filter(isWanted)) {
    strategies[name] = await measureStrategy(name, context)
    runs[name] = run
  }
  if (isWanted('likes')) {
    const measured = await measureLikes(context)
    like = measured.cost
    bytes = { ...bytes, like: measured.bytes }
    runs.likes = run
  }
  const command = 'npm run bench -- constants --json'
  return roundAll({ command, runs, units, bytes, like, strategies })
}

const units = {
  serverUs: 'microseconds of processor time of the server process, for one operation',
  mongodUs: 'microseconds of processor time of mongod, for one operation',
  oplogBytes: 'bytes of the oplog, for one operation',
  writes: 'documents that one operation inserts, updates or deletes',
  bytes: 'bytes on disk with indexes, for one document',
  bytesPerStored: 'bytes on disk, for one entry or one cache of a timeline',
}

/** Rounds all numbers to four significant digits: the measurement is not more precise. */
const roundAll = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(4)) : one)),
  )

/** The bytes on disk of one user, edge and post, with their indexes. */
async function measureBaseBytes(database: FeedsDatabase) {
  const names = [...accountCollections, ...edgeCollections, 'posts'] as const
  const stored = await measureStorage(database, names)
  const bytesOf = (collections: readonly (typeof names)[number][]) =>
    collections.reduce((sum, name) => sum + bytesPerDocument(stored[name]), 0)
  return {
    user: bytesOf(accountCollections),
    edge: bytesOf(edgeCollections),
    post: bytesOf(['posts']),
  }
}

/** Measures likes of random posts: most posts have one. */
async function measureLikes(context: StrategyContext) {
  const { database, graph, history, load, built, log } = context
  const likes = sizeOf(context, ...likeCounts)
  await prepareStrategy(database, 'FANOUT_ON_READ')
  const names = ['posts', 'engagements_by_user'] as const
  const before = await measureStorage(database, names)
  await using server = await startMeasuredServer(database, load, 'FANOUT_ON_READ', {
    ...{ built, pageCacheMb: 0 },
  })
  const all = Array.from({ length: likes }, (_, at) => {
    const user = graph.ordinary[Math.floor(randomAt(5, at, 0) * graph.ordinary.length)] as UserId
    return requests.like(user, history[Math.floor(randomAt(5, at, 1) * history.length)] as PostRef)
  })
  const cost: Cost = divideCost(await server.measure(all), likes)
  const after = await measureStorage(database, names)
  const { engagements_by_user: byUser, posts } = after
  const compressed = posts.data / posts.uncompressed
  const inPost = ((posts.uncompressed - before.posts.uncompressed) / likes) * compressed
  log(`a like ${format(cost)}`)
  return { cost, bytes: bytesPerDocument(byUser) + inPost }
}

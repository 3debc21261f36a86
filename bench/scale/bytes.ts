import type { Db } from 'mongodb'
import { importGraph } from '../../packages/import/import-graph.ts'
import { catalogue, driverKey } from '../../src/db/collections.ts'
import { applyIndexes, buildAfterImport } from '../../src/db/indexes.ts'
import { mintUserId } from '../../src/lib/ids.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { type BenchDatabase, openBenchDatabase, openServices } from '../database.ts'
import { postText, storeGraph } from '../feeds/bulk-data.ts'
import { runDueJobs } from '../feeds/feeds-database.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { writeEdgeFile } from './edge-file.ts'
import { defineSide, type ScaleKey } from './side.ts'

/** The followers of the author, and the posts that are delivered to all of them. */
const [followers, posts] = [[20_000, 500], 5] as const
/** The share of the graph of the side `import` whose follows are measured. */
const graphShares = [0.2, 0.01] as const
const edgeCollections = ['followers', 'following', 'follow_events'] as const

const keys = {
  bytes_per_delivery: { meaning: 'an INBOX entry on disk, bytes' },
  oplog_bytes_per_delivery: { meaning: 'the same in the oplog, before compression' },
  journal_bytes_per_delivery: { meaning: 'the same in the journal' },
  bytes_per_follow: { meaning: 'both directions and the history of a follow on disk, bytes' },
  bytes_per_follow_vs_full_group_indexes: {
    meaning: 'the same, over group indexes with an entry for each follow',
    wanted: { most: 5 / 6 },
  },
  bytes_per_loaded_follow: {
    meaning:
      'a follow of a new database, as feedline load stores it with indexes at the end, bytes',
  },
  bytes_per_loaded_follow_vs_full_group_indexes: {
    meaning: 'the same, over all indexes from the start, with full group indexes',
  },
  oplog_bytes_per_follow: { meaning: 'an imported follow in the oplog, before compression' },
} satisfies Record<string, ScaleKey>

/**
 * What a delivery and a follow take on disk after a checkpoint. Bytes are the same in each round:
 * one is measured.
 */
export const bytesSide = defineSide({
  name: 'bytes',
  keys,
  measure: async (options: BenchOptions) => {
    const { log } = options
    await using database = await openBenchDatabase(log, { FEED_MAINTAINED: 'INBOX' })
    const values = {
      ...(await measureDeliveries(database, sizeOf(options, ...followers))),
      ...(await measureFollows(database, sizeOf(options, ...graphShares))),
    }
    log(JSON.stringify(values))
    const entries = Object.entries(values).map(([key, value]) => [key, [value]])
    return Object.fromEntries(entries) as Record<keyof typeof keys, number[]>
  },
})

async function measureDeliveries(database: BenchDatabase, fanCount: number) {
  const { services, db } = database
  await registerStrategies(services, ['INBOX'])
  const author = mintUserId()
  const fans = Array.from({ length: fanCount }, () => mintUserId())
  const graph = { name: 'bytes', users: [author, ...fans], followers: new Map([[author, fans]]) }
  await storeGraph(database, graph)
  const before = await readWritten(db)
  for (let at = 0; at < posts; at++) await services.posts.create(author, { text: postText(at) })
  await runDueJobs(services)
  const entries = await services.collections.inbox.countDocuments()
  if (entries < fanCount * posts) throw new Error(`only ${entries} entries were delivered`)
  const after = await readWritten(db)
  return {
    bytes_per_delivery: (await readDiskBytes(db, ['inbox'])) / entries,
    oplog_bytes_per_delivery: (after.oplog - before.oplog) / entries,
    journal_bytes_per_delivery: (after.journal - before.journal) / entries,
  }
}

/**
 * Imports the same graph into three databases. One has group indexes without a filter, as before
 * version 1. One builds its indexes at the end, as `feedline load` does.
 */
async function measureFollows({ uri, db }: BenchDatabase, graphShare: number) {
  await using file = await writeEdgeFile(graphShare)
  const bytes = { partial: 0, full: 0, loaded: 0 }
  let oplog = 0
  for (const kind of ['partial', 'full', 'loaded'] as const) {
    const { client, db: target, services } = await openServices(uri, `${db.databaseName}_${kind}`)
    await applyIndexes(target, 'collection', undefined, { forImport: kind === 'loaded' })
    if (kind === 'full') await replaceGroupIndexes(target)
    const before = await readWritten(target)
    const { written } = await importGraph(services, { file: file.path, mutual: true })
    if (kind === 'loaded') await buildAfterImport(target, 'collection')
    if (kind === 'partial')
      oplog = ((await readWritten(target)).oplog - before.oplog) / written.edges
    bytes[kind] = (await readDiskBytes(target, edgeCollections)) / written.edges
    await target.dropDatabase()
    await client.close()
  }
  return {
    bytes_per_follow: bytes.partial,
    bytes_per_follow_vs_full_group_indexes: bytes.partial / bytes.full,
    bytes_per_loaded_follow: bytes.loaded,
    bytes_per_loaded_follow_vs_full_group_indexes: bytes.loaded / bytes.full,
    oplog_bytes_per_follow: oplog,
  }
}

/**
 * Replaces the partial indexes of groups by indexes with the same keys that hold an entry for each
 * edge.
 */
async function replaceGroupIndexes(db: Db): Promise<void> {
  for (const { key, name, partialFilterExpression } of catalogue('collection').following.indexes) {
    if (!partialFilterExpression || !name) continue
    await db.collection('following').dropIndex(name)
    await db.collection('following').createIndex(driverKey({ key }))
  }
}

/** What the database has written so far, in bytes. */
async function readWritten(db: Db) {
  const { size } = await db.client.db('local').command({ collStats: 'oplog.rs' })
  const { wiredTiger } = await db.admin().serverStatus()
  return { oplog: Number(size), journal: Number(wiredTiger.log['log bytes written']) }
}

/** The files of collections and their indexes after a checkpoint, in bytes. */
async function readDiskBytes(db: Db, names: readonly string[]): Promise<number> {
  await db.admin().command({ fsync: 1 })
  const stats = await Promise.all(names.map((name) => db.command({ collStats: name })))
  return stats.reduce((sum, { totalSize }) => sum + Number(totalSize), 0)
}

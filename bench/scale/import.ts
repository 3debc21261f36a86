import type { Db } from 'mongodb'
import { EdgeList } from '../../packages/import/edge-list.ts'
import { importGraph } from '../../packages/import/import-graph.ts'
import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { applyIndexes, buildAfterImport } from '../../src/db/indexes.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { batches } from '../../src/lib/batch.ts'
import { type EdgeId, mintUserId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { materialisedNames } from '../../src/timeline/strategies/list.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { feedEnv } from '../feeds/feeds-database.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { readMongodCpuUs } from '../reads/feedline-side.ts'
import { type EdgeFile, writeEdgeFile } from './edge-file.ts'
import { collectRounds, defineSide, type ScaleKey } from './side.ts'

/**
 * The lines of a bare batch: 4,000 documents for each of three collections, in three concurrent
 * commands.
 */
const bareLines = 2_000

const keys = {
  import_edges_per_second: {
    meaning:
      'follows imported with history, counters and accounts, and indexes built; five strategies are kept',
    wanted: { least: 20_000 },
  },
  import_vs_bare_inserts: {
    meaning: 'the same, over bare inserts of the same documents into all indexes',
  },
  import_node_us_per_edge: { meaning: 'processor time of the importer per follow, µs' },
  import_mongod_us_per_edge: { meaning: 'processor time of mongod per follow, µs' },
  bare_mongod_us_per_edge: { meaning: 'the same of the bare inserts, µs' },
} satisfies Record<string, ScaleKey>
type Key = keyof typeof keys

export const importSide = defineSide({ name: 'import', keys, measure: measureImports })

async function measureImports(options: BenchOptions): Promise<Record<Key, number[]>> {
  const { rounds, log } = options
  await using file = await writeEdgeFile(sizeOf(options, 1, 0.01))
  const measured: Record<Key, number>[] = []
  for (let round = 1; round <= rounds; round++) {
    const values = await measureRound(file, log)
    log(`round ${round} of ${rounds}: ${JSON.stringify(values)}`)
    measured.push(values)
  }
  return collectRounds(measured)
}

async function measureRound(file: EdgeFile, log: (line: string) => void) {
  await using database = await openBenchDatabase(log, feedEnv, { socketTimeoutMS: 60_000 })
  const { services, db } = database
  await prepareAsLoad(db)
  await registerStrategies(services, materialisedNames)
  let edges = 0
  const graph = await measure(database, async () => {
    edges = (await importGraph(services, { file: file.path, mutual: true })).written.edges
    await buildAfterImport(db, 'collection')
  })
  if (edges !== 2 * file.lines) throw new Error(`${edges} edges were imported`)
  const bare = await measure(database, () => insertBare(database, file))
  return {
    import_edges_per_second: edges / graph.seconds,
    import_vs_bare_inserts: bare.seconds / graph.seconds,
    import_node_us_per_edge: graph.nodeUs / edges,
    import_mongod_us_per_edge: graph.mongodUs / edges,
    bare_mongod_us_per_edge: bare.mongodUs / edges,
  }
}

/** Begins again with the database, as `feedline load` prepares a new one. */
async function prepareAsLoad(db: Db): Promise<void> {
  await db.dropDatabase()
  await applyIndexes(db, 'collection', undefined, { forImport: true })
}

async function measure(database: BenchDatabase, work: () => Promise<void>) {
  const [startedAt, cpu, mongodUs] = [
    performance.now(),
    process.cpuUsage(),
    await readMongodCpuUs(database),
  ]
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { seconds, nodeUs: user + system, mongodUs: (await readMongodCpuUs(database)) - mongodUs }
}

/**
 * Inserts the edges of the file, in both directions and with their history, into the same indexes,
 * and nothing else.
 */
export async function insertBare({ uri, db }: BenchDatabase, { path }: EdgeFile): Promise<void> {
  const client = await connect(uri, 'bulk')
  const target = client.db(`${db.databaseName}_bare`)
  await applyIndexes(target, 'collection')
  const { followers, following, follow_events } = openCollections(target)
  const accounts = new Map<string, UserId>()
  const accountOf = (name: string) => {
    const account = accounts.get(name) ?? mintUserId()
    accounts.set(name, account)
    return account
  }
  const [source, at, createdMs] = ['IMPORT' as const, new Date(), Date.now()]
  for await (const lines of batches((await EdgeList.open(path)).rows(), bareLines)) {
    const edges = lines.flatMap(({ line, from, to }) => {
      const [a, b] = [accountOf(from), accountOf(to)]
      return [
        { _id: idAt(createdMs, 2 * line), follower: a, followee: b },
        { _id: idAt(createdMs, 2 * line + 1), follower: b, followee: a },
      ]
    })
    const type = 'FOLLOWED' as const
    await Promise.all([
      followers.insertMany(
        edges.map(({ _id, follower, followee }) => ({ _id, user: followee, follower, source })),
        { ordered: false },
      ),
      following.insertMany(
        edges.map(({ _id, follower, followee }) => ({ _id, user: follower, followee, source })),
        { ordered: false },
      ),
      follow_events.insertMany(
        edges.map(({ _id, follower, followee }) => {
          return { _id, user: follower, followee, type, source, at }
        }),
        { ordered: false },
      ),
    ])
  }
  await target.dropDatabase()
  await client.close()
}

const idAt = (atMs: number, place: number) =>
  toObjectId(timeIdAt<EdgeId>(atMs, place.toString(16).padStart(12, '0')))

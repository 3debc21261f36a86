import type { FollowingMode } from '../../src/config.ts'
import { collectionNames } from '../../src/db/collections.ts'
import { isRouter } from '../../src/db/deployment.ts'
import { isExistingCollection } from '../../src/db/errors.ts'
import type { Db, Document, MongoClient } from '../../src/db/mongo.ts'
import { type ClusterState, type PlannedCommand, ShardingError, type ShardState } from './plan.ts'
import type { ZoneRange } from './zone-ranges.ts'

/** What the config database and `listShards` answer about a database. */
export interface ClusterAnswers {
  /** The answer of `listShards`. */
  readonly listShards: Document
  /** Documents of `config.collections`, of all databases. */
  readonly sharded: readonly Document[]
  /** Documents of `config.tags`, of all databases. */
  readonly tags: readonly Document[]
  /** The names of the indexes of each existing collection of the database. */
  readonly indexes: ReadonlyMap<string, ReadonlySet<string>>
}

/** The state of a cluster from its answers. */
export function toClusterState(database: string, answers: ClusterAnswers): ClusterState {
  // MongoDB 8.0 also lists collections that are on one shard.
  const sharded = answers.sharded.filter(({ dropped, unsplittable }) => !dropped && !unsplittable)
  const keys = new Map(sharded.map(({ _id, key }) => [_id, key]))
  const shards = (answers.listShards.shards as Document[]).map(
    ({ _id, tags = [], draining = false }): ShardState => ({ name: _id, zones: tags, draining }),
  )
  const collections = new Map(
    collectionNames.map((name) => {
      const namespace = `${database}.${name}`
      const zoneRanges = answers.tags
        .filter(({ ns }) => ns === namespace)
        .map(({ min, max, tag }): ZoneRange => ({ min, max, zone: tag }))
      const indexNames = answers.indexes.get(name)
      const shardKey = keys.get(namespace)
      const state = { exists: indexNames !== undefined, zoneRanges, ...(shardKey && { shardKey }) }
      return [name, { ...state, indexNames: indexNames ?? new Set<string>() }] as const
    }),
  )
  return { shards, collections }
}

/**
 * Loads the state of the cluster. Writes nothing. Four commands, and one for each collection.
 * @throws {ShardingError} if the client is not connected to a router of a sharded cluster.
 */
export async function loadClusterState(client: MongoClient, db: Db): Promise<ClusterState> {
  await checkRouter(db)
  const config = client.db('config')
  const present = await db.listCollections({}, { nameOnly: true }).toArray()
  const declared = new Set<string>(collectionNames)
  const indexes = new Map<string, ReadonlySet<string>>()
  for (const { name } of present.filter(({ name }) => declared.has(name))) {
    const found = await db.collection(name).indexes()
    indexes.set(name, new Set(found.map((index) => index.name ?? '')))
  }
  return toClusterState(db.databaseName, {
    listShards: await client.db('admin').command({ listShards: 1 }),
    sharded: await config.collection('collections').find().toArray(),
    tags: await config.collection('tags').find().toArray(),
    indexes,
  })
}

/** @throws {ShardingError} unless the database answers through a router. One command. */
async function checkRouter(db: Db): Promise<void> {
  if (await isRouter(db)) return
  throw new ShardingError(
    'MONGODB_URI names a replica set, and only a sharded cluster can be sharded: connect to a mongos.',
  )
}

/**
 * @throws {ShardingError} for edges in one collection: every page would ask all shards for its
 *   reader's follows.
 */
export function checkShardable(following: FollowingMode): void {
  if (following === 'collection') return
  throw new ShardingError(
    'A database with FOLLOWING=reverse-index cannot be sharded, because every page would ask all shards: load the data into a database with FOLLOWING=collection.',
  )
}

/**
 * Runs the commands one after the other. A repeat after a failure issues those that are missing.
 */
export async function applySharding(
  client: MongoClient,
  commands: readonly PlannedCommand[],
  onDone: (command: PlannedCommand) => void,
): Promise<void> {
  for (const planned of commands) {
    try {
      await client.db(planned.database).command(planned.command)
    } catch (error) {
      // A server that starts at this moment creates the same collections.
      if (!isExistingCollection(error)) throw error
    }
    onDone(planned)
  }
}

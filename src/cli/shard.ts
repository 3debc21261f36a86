import { Command } from 'commander'
import type { Config } from '../config.ts'
import {
  type CollectionName,
  catalogue,
  collectionNames,
  timelineCollectionNames,
} from '../db/collections.ts'
import type { Db } from '../db/mongo.ts'
import { openSchema } from '../db/schema-version.ts'
import {
  applySharding,
  checkRouter,
  checkShardable,
  isRouter,
  loadClusterState,
} from '../db/sharding/cluster.ts'
import { mongoshLine, planSharding, ShardingError } from '../db/sharding/plan.ts'
import { configFor } from '../environment.ts'
import { openDatabase } from '../open-database.ts'
import { log } from './database.ts'

interface ShardOptions {
  readonly dryRun?: true
}

/** Collections that one cluster shards. */
interface Part {
  readonly db: Db
  readonly names: readonly CollectionName[]
  /** What the collections hold, for the last line. */
  readonly what: string
}

/** `feedline shard`: distributes all collections over the shards of a cluster. */
export const shardCommand = (): Command =>
  new Command('shard')
    .description('Create, pre-split and shard all collections on a sharded cluster.')
    .option('--dry-run', 'print the commands as lines for mongosh, and change nothing')
    .addHelpText('after', help)
    .action(run)

const help = `
Ranges of handles decide the shard, the same ranges in all collections. So the profile, counters,
edges, posts, timelines and jobs of one user are on one shard. The ranges are zones of MongoDB.
You can interrupt and repeat the command. The repeat issues only what is missing.

Run it on an empty database, or let the balancer move existing data. After you add a shard, run it
again: the new shard gets its share of the ranges, and no other range moves. With access control, its
user needs the roles clusterManager and readWrite. docs/operations.md describes all steps.
With TIMELINES_URI it shards each of the two clusters that is a sharded one. Run it again after the
timelines cluster was lost.

Examples:
  $ feedline shard --dry-run
  $ feedline shard`

async function run({ dryRun }: ShardOptions): Promise<void> {
  const config = configFor('database')
  if (config.database.uri === undefined) {
    throw new ShardingError('The embedded MongoDB cannot be sharded: set MONGODB_URI to a mongos.')
  }
  const options = { profile: 'bulk', prepare: false, log } as const
  await using database = await openDatabase(config, options)
  const { db, cluster } = database
  const ofTimelines: readonly CollectionName[] = cluster ? timelineCollectionNames : []
  const parts: Part[] = []
  if (cluster && (await isRouter(cluster.db)))
    parts.push({ db: cluster.db, names: ofTimelines, what: 'timelines' })
  // With a sharded timelines cluster, all other data may be on a replica set.
  if (parts.length === 0) await checkRouter(db)
  if (await isRouter(db)) {
    checkShardable(config.following)
    const names = collectionNames.filter((name) => !ofTimelines.includes(name))
    parts.unshift({ db, names, what: 'collections' })
  }
  for (const part of parts) await shard(part, db, config, dryRun)
}

async function shard(
  { db, names, what }: Part,
  accounts: Db,
  { following }: Config,
  dryRun: true | undefined,
): Promise<void> {
  const specs = catalogue(following)
  const declared = Object.fromEntries(names.map((name) => [name, specs[name]]))
  const state = await loadClusterState(db.client, db, accounts)
  const commands = planSharding(db.databaseName, declared, state)
  const shards = state.shards.length
  if (commands.length === 0) {
    console.log(`All ${what} are sharded over ${shards} shards. There is nothing to do.`)
  } else if (dryRun) {
    for (const command of commands) console.log(mongoshLine(command))
  } else {
    if (db === accounts) await openSchema(db, following)
    await applySharding(db.client, commands, (command) => log(mongoshLine(command)))
    console.log(`All ${what} are sharded over ${shards} shards: ${commands.length} commands.`)
  }
}

import { Command } from 'commander'
import { log } from '../../src/cli/database.ts'
import { catalogue } from '../../src/db/collections.ts'
import { openSchema } from '../../src/db/schema-version.ts'
import { configFor } from '../../src/environment.ts'
import { extend } from '../../src/extensions.ts'
import { openDatabase } from '../../src/open-database.ts'
import { applySharding, checkShardable, loadClusterState } from './cluster.ts'
import { mongoshLine, planSharding, ShardingError } from './plan.ts'

interface ShardOptions {
  readonly dryRun?: true
}

/** `feedline shard`: distributes all collections over the shards of a cluster. */
const shardCommand = (): Command =>
  new Command('shard')
    .description('Create, pre-split and shard all collections on a sharded cluster.')
    .option('--dry-run', 'print the commands as lines for mongosh, and change nothing')
    .addHelpText('after', help)
    .action(run)

extend({ command: shardCommand })

const help = `
Ranges of handles decide the shard, the same ranges in all collections. So the profile, counters,
edges, posts, timelines and jobs of one user are on one shard. The ranges are zones of MongoDB.
You can interrupt and repeat the command. The repeat issues only what is missing.

Run it on an empty database, or let the balancer move existing data. After you add a shard, run it
again: the new shard gets its share of the ranges, and no other range moves. With access control, its
user needs the roles clusterManager and readWrite. docs/how-to/sharded-cluster.md describes all steps.

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
  const { client, db } = database
  const state = await loadClusterState(client, db)
  checkShardable(config.following)
  const commands = planSharding(db.databaseName, catalogue(config.following), state)
  const shards = state.shards.length
  if (commands.length === 0) {
    console.log(`All collections are sharded over ${shards} shards. There is nothing to do.`)
  } else if (dryRun) {
    for (const command of commands) console.log(mongoshLine(command))
  } else {
    await openSchema(db, config.following)
    await applySharding(client, commands, (command) => log(mongoshLine(command)))
    console.log(`All collections are sharded over ${shards} shards: ${commands.length} commands.`)
  }
}

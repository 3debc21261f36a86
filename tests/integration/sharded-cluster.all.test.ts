import { describe, expect, test } from 'vitest'
import { loadClusterState } from '../../packages/shard/cluster.ts'
import { catalogue } from '../../src/db/collections.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'

/**
 * `.ci/sharded` runs this file and others on a cluster of two shards. No other MongoDB has shards.
 */
describe.runIf(process.env.TEST_SHARDED)('on a sharded cluster', () => {
  const database = useDatabase()

  test('each collection is sharded by its key, with ranges on both shards', async () => {
    const { shards, collections } = await loadClusterState(database.client, database.db)
    expect(shards).toHaveLength(2)
    for (const [name, { shardKey, accountIn }] of Object.entries(catalogue('collection'))) {
      const state = collections.get(name)
      expect(state?.shardKey, name).toEqual(shardKey)
      const zones = new Set(state?.zoneRanges.map(({ zone }) => zone))
      expect(zones.size, name).toBe(accountIn ? 2 : 0)
    }
  })

  test('a second run of feedline shard has nothing to do', async () => {
    const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
    const outcome = await runCommand(['shard', '--dry-run'], env)
    expect(outcome).toMatchObject({
      code: 0,
      stdout: 'All collections are sharded over 2 shards. There is nothing to do.\n',
    })
  })

  test('a query by handle asks one shard, and one without it asks both', async () => {
    const shardsOf = async (filter: object) => {
      const plan = await database.db.collection('posts').find(filter).explain('queryPlanner')
      return plan.queryPlanner.winningPlan.shards.length
    }
    expect(await shardsOf({ author: 'ann' })).toBe(1)
    expect(await shardsOf({ text: 'x' })).toBe(2)
  })
})

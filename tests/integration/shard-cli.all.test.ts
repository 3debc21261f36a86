import { expect, test } from 'vitest'
import { applySharding, checkShardable, loadClusterState } from '../../packages/shard/cluster.ts'
import { planSharding } from '../../packages/shard/plan.ts'
import { catalogue } from '../../src/db/collections.ts'
import { indexPlan } from '../../src/db/indexes.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()

const plannedFor = (name: string) =>
  planSharding(name, catalogue('collection'), {
    shards: [{ name: 'a', zones: [] }],
    collections: new Map(),
  })

test.each([[], ['--dry-run']])(
  'feedline shard %s refuses a replica set and writes nothing',
  async (...args) => {
    const name = `${database.name}_new`
    const outcome = await runCommand(['shard', ...args], {
      MONGODB_URI: database.uri,
      MONGODB_DATABASE: name,
    })
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'feedline: MONGODB_URI names a replica set, and only a sharded cluster can be sharded: connect to a mongos.\n',
    })
    expect(await database.client.db(name).listCollections().toArray()).toEqual([])
  },
)

test('feedline shard refuses the embedded MongoDB without starting it', async () => {
  const outcome = await runCommand(['shard'], { FEEDLINE_DATA: '/nonexistent' })
  expect(outcome.stderr).toBe(
    'feedline: The embedded MongoDB cannot be sharded: set MONGODB_URI to a mongos.\n',
  )
})

test('the state of a cluster is not read from a replica set', async () => {
  await expect(loadClusterState(database.client, database.db)).rejects.toThrow(
    /connect to a mongos/,
  )
})

test('a database with edges in one collection is refused', () => {
  expect(() => checkShardable('reverse-index')).toThrow(/FOLLOWING=collection/)
  expect(() => checkShardable('collection')).not.toThrow()
})

test('the planned collections and indexes are those that a server creates', async () => {
  const { client } = database
  const db = client.db(`${database.name}_sharded`)
  const own = plannedFor(db.databaseName).filter((planned) => planned.database !== 'admin')
  try {
    await applySharding(client, own, () => {})
    // A repeat meets collections that exist, as beside a server that starts.
    await applySharding(client, own, () => {})
    const made = (await db.listCollections({}, { nameOnly: false }).toArray()).map(
      ({ name, options }) => {
        return { name, clustered: options?.clusteredIndex !== undefined }
      },
    )
    const declared = Object.entries(catalogue('collection'))
    expect(made.sort(byName)).toEqual(
      declared
        .map(([name, { clustered }]) => ({ name, clustered: clustered === true }))
        .sort(byName),
    )
    expect((await indexPlan(db, 'collection', {})).flatMap(({ build }) => build)).toEqual([])
  } finally {
    await db.dropDatabase()
  }
})

test('a command that the cluster refuses ends the run before the next one', async () => {
  const done: string[] = []
  const commands = plannedFor(database.name)
  await expect(
    applySharding(database.client, commands, ({ command }) => {
      done.push(Object.keys(command)[0] as string)
    }),
  ).rejects.toThrow(/addShardToZone/)
  expect(done).toEqual([])
})

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)

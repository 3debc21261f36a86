import fc from 'fast-check'
import { MaxKey, MinKey } from 'mongodb'
import { expect, test } from 'vitest'
import { mongoshLine, rangesPerShard } from '../../packages/shard/plan.ts'
import { splitAccounts } from '../../packages/shard/split-accounts.ts'
import { type CollectionName, type CollectionSpec, catalogue } from '../../src/db/collections.ts'
import { mintUserId } from '../../src/lib/ids.ts'
import { Cluster, placeOf, textOf } from '../support/cluster-state.ts'

const specs = catalogue('collection')
const ranged = Object.entries(specs).filter(([, { accountIn }]) => accountIn) as [
  CollectionName,
  CollectionSpec,
][]
const database = 'feedline'

const accounts = fc.array(fc.stringMatching(/^[A-Z][A-Za-z0-9]{10}$/), { maxLength: 20 })
const shardNames = (count: number) => Array.from({ length: count }, (_, n) => `shard${n}`)

test('a plan covers every key of every ranged collection once, in order, on every shard', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), (count) => {
      const cluster = new Cluster(...shardNames(count))
      cluster.run()
      for (const [name, { shardKey = {} }] of ranged) {
        const ranges = cluster.ranges(name)
        expect(Object.keys(cluster.countsOf(name)).sort()).toEqual(
          shardNames(count).map((shard) => `feedline_${shard}`),
        )
        for (const field of Object.keys(shardKey)) {
          expect(ranges[0]?.min[field]).toBeInstanceOf(MinKey)
          expect(ranges.at(-1)?.max[field]).toBeInstanceOf(MaxKey)
        }
        for (const [n, { min, max }] of ranges.entries()) {
          expect(Object.keys(min)).toEqual(Object.keys(shardKey))
          expect(placeOf(min) < placeOf(max)).toBe(true)
          if (n > 0) expect(min).toEqual(ranges[n - 1]?.max)
        }
      }
    }),
    { numRuns: 40 },
  )
})

/** The zone of a document of an account: the last range that begins at its key or before. */
function zoneOf(cluster: Cluster, name: CollectionName, account: string): string | undefined {
  const { shardKey = {}, accountIn } = specs[name]
  const field = Object.keys(shardKey)[0] as string
  const value = typeof accountIn === 'object' ? { [accountIn.within]: account, more: 'x' } : account
  return cluster.ranges(name).findLast(({ min }) => placeOf(min[field]) <= placeOf(value))?.tag
}

test('all documents of an account are in the same zone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), accounts, (count, ids) => {
      const cluster = new Cluster(...shardNames(count))
      cluster.run()
      for (const id of ids) {
        const zones = ranged.map(([name]) => zoneOf(cluster, name, id))
        expect(new Set(zones).size, id).toBe(1)
      }
    }),
    { numRuns: 30 },
  )
})

test('a plan that was interrupted anywhere goes on, and the plan of its result is empty', () => {
  fc.assert(
    fc.property(fc.nat(600), (count) => {
      const cluster = new Cluster('a', 'b')
      cluster.run(count)
      cluster.run()
      expect(cluster.plan()).toEqual([])
      const counts = Object.values(cluster.countsOf('inbox'))
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
    { numRuns: 30 },
  )
})

test('a shard that is added takes whole ranges, and no other range moves', () => {
  const cluster = new Cluster('a', 'b')
  cluster.run()
  const before = cluster.ranges('posts').map(textOf)
  cluster.add('c')
  cluster.run()
  expect(cluster.countsOf('posts')).toEqual({ feedline_a: 6, feedline_b: 5, feedline_c: 5 })
  const kept = cluster.ranges('posts').filter(({ tag }) => tag !== 'feedline_c')
  expect(kept.filter((range) => !before.includes(textOf(range)))).toEqual([])
  expect(cluster.plan()).toEqual([])
})

test('a draining shard gives its ranges to the others', () => {
  const cluster = new Cluster('a', 'b', 'c')
  cluster.run()
  cluster.draining = 'b'
  cluster.run()
  expect(cluster.countsOf('users')).toEqual({ feedline_a: 12, feedline_c: 12 })
})

test('ranges come before their collection, and indexes before both', () => {
  const cluster = new Cluster('a', 'b')
  const of = (name: string) =>
    cluster
      .plan()
      .map(({ command }) => Object.entries(command)[0] as [string, unknown])
      .filter(([, target]) => target === name || target === `${database}.${name}`)
      .map(([verb]) => verb)
  const ranges = Array.from({ length: 2 * rangesPerShard }, () => 'updateZoneKeyRange')
  expect(of('posts')).toEqual(['create', 'createIndexes', ...ranges, 'shardCollection'])
  expect(of('overflow')).toEqual(['create', 'createIndexes', 'shardCollection'])
  expect(of('meta')).toEqual(['create'])
})

test('indexes are built while a minority of the members of a shard is down', () => {
  const commands = new Cluster('a').plan().map(({ command }) => command)
  const builds = commands.filter(({ createIndexes }) => createIndexes)
  expect(new Set(builds.map(({ commitQuorum }) => commitQuorum))).toEqual(new Set(['majority']))
})

test('a collection that is sharded by another key is refused, with what to do', () => {
  const cluster = new Cluster('a')
  const command = { shardCollection: `${database}.posts`, key: { _id: 1 } }
  cluster.apply({ database: 'admin', command })
  expect(() => cluster.plan()).toThrow(
    'feedline.posts is sharded by {"_id":1}, and Feedline needs {"author":1,"_id":1}: change it with reshardCollection, then run the command again.',
  )
})

test('a command is one line for mongosh', () => {
  const [min, max] = [{ _id: new MinKey() }, { _id: { reader: 'm' } }]
  const command = { updateZoneKeyRange: 'feedline.inbox', min, max, zone: 'feedline_a' }
  expect(mongoshLine({ database: 'admin', command })).toBe(
    'db.getSiblingDB("admin").runCommand({"updateZoneKeyRange":"feedline.inbox","min":{"_id":MinKey()},"max":{"_id":{"reader":"m"}},"zone":"feedline_a"})',
  )
})

test('ranges split the ids of accounts evenly, so that new accounts are on all shards', () => {
  expect(splitAccounts(4)).toEqual(['GV0', 'N00', 'TV0'])
  const cluster = new Cluster(...shardNames(2))
  cluster.run()
  const zones = Array.from({ length: 2_000 }, () => zoneOf(cluster, 'users', mintUserId()))
  for (const shard of shardNames(2)) {
    const share = zones.filter((zone) => zone === `feedline_${shard}`).length / zones.length
    expect(share).toBeCloseTo(0.5, 0)
  }
})

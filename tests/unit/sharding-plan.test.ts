import fc from 'fast-check'
import { MaxKey, MinKey } from 'mongodb'
import { expect, test } from 'vitest'
import { type CollectionName, type CollectionSpec, catalogue } from '../../src/db/collections.ts'
import { mongoshLine, rangesPerShard } from '../../src/db/sharding/plan.ts'
import { splitAccounts } from '../../src/db/sharding/split-accounts.ts'
import { mintUserId } from '../../src/lib/ids.ts'
import { Cluster, placeOf, textOf } from '../support/cluster-state.ts'

const specs = catalogue('collection')
const ranged = Object.entries(specs).filter(([, { accountIn }]) => accountIn) as [
  CollectionName,
  CollectionSpec,
][]
const database = 'feedline'

const handles = fc.array(fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,10}[a-z0-9]$/), {
  maxLength: 400,
})
const shardNames = (count: number) => Array.from({ length: count }, (_, n) => `shard${n}`)

test('a plan covers every key of every ranged collection once, in order, on every shard', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), handles, (count, sample) => {
      const cluster = new Cluster(...shardNames(count))
      cluster.sample = sample
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

/** The zone of a document of a handle: the last range that begins at its key or before. */
function zoneOf(cluster: Cluster, name: CollectionName, handle: string): string | undefined {
  const { shardKey = {}, accountIn } = specs[name]
  const field = Object.keys(shardKey)[0] as string
  const value = typeof accountIn === 'object' ? { [accountIn.within]: handle, more: 'x' } : handle
  return cluster.ranges(name).findLast(({ min }) => placeOf(min[field]) <= placeOf(value))?.tag
}

test('all documents of a handle are in the same zone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), handles, (count, sample) => {
      const cluster = new Cluster(...shardNames(count))
      cluster.sample = sample
      cluster.run()
      for (const handle of sample.slice(0, 20)) {
        const zones = ranged.map(([name]) => zoneOf(cluster, name, handle))
        expect(new Set(zones).size, handle).toBe(1)
      }
    }),
    { numRuns: 30 },
  )
})

test('a plan that was interrupted anywhere goes on, and the plan of its result is empty', () => {
  fc.assert(
    fc.property(fc.nat(600), handles, (count, sample) => {
      const cluster = new Cluster('a', 'b')
      cluster.sample = sample
      cluster.run(count)
      cluster.sample = []
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

test('ranges follow the accounts of earlier releases once there are enough, and split minted ids evenly before', () => {
  const sample = Array.from({ length: 800 }, (_, n) => `user${String(n).padStart(3, '0')}`)
  expect(splitAccounts(4, sample)).toEqual(['user200', 'user400', 'user600'])
  expect(splitAccounts(4, ['zoe'])).toEqual(['GV0', 'N00', 'TV0'])
})

test('new accounts are on all shards, also in a cluster that has ranges of earlier accounts', () => {
  const earlier = Array.from({ length: 800 }, (_, n) => `user${String(n).padStart(3, '0')}`)
  const minted = Array.from({ length: 2_000 }, () => mintUserId())
  const sharesOf = (cluster: Cluster, ids: readonly string[]) => {
    const zones = ids.map((id) => zoneOf(cluster, 'users', id) as string)
    return shardNames(2).map(
      (shard) => zones.filter((zone) => zone === `feedline_${shard}`).length / ids.length,
    )
  }
  for (const sample of [earlier, [], minted]) {
    const cluster = new Cluster(...shardNames(2))
    cluster.sample = sample
    cluster.run()
    for (const share of sharesOf(cluster, minted)) expect(share).toBeCloseTo(0.5, 0)
    if (sample === earlier)
      for (const share of sharesOf(cluster, earlier)) expect(share).toBeCloseTo(0.5, 1)
    expect(cluster.plan()).toEqual([])
  }
})

test('a cluster that was sharded before schema version 5 has its ranges cut, and earlier accounts stay', () => {
  const earlier = Array.from({ length: 64 }, (_, n) => `user${String(n).padStart(2, '0')}`)
  const cluster = new Cluster(...shardNames(2))
  cluster.join('shard0', 'feedline_shard0')
  cluster.join('shard1', 'feedline_shard1')
  cluster.place(new MinKey(), 'user32', 'feedline_shard0')
  cluster.place('user32', new MaxKey(), 'feedline_shard1')
  const before = earlier.map((id) => zoneOf(cluster, 'users', id))
  cluster.run()
  expect(earlier.map((id) => zoneOf(cluster, 'users', id))).toEqual(before)
  const minted = Array.from({ length: 2_000 }, () => mintUserId())
  const zones = minted.map((id) => zoneOf(cluster, 'users', id))
  for (const shard of shardNames(2)) {
    const count = zones.filter((zone) => zone === `feedline_${shard}`).length
    expect(count / minted.length).toBeCloseTo(0.5, 0)
  }
})

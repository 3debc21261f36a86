import fc from 'fast-check'
import { BSON, type Document, MaxKey, MinKey } from 'mongodb'
import { expect, test } from 'vitest'
import { type CollectionName, type CollectionSpec, catalogue } from '../../src/db/collections.ts'
import { assignRanges } from '../../src/db/sharding/assign-ranges.ts'
import { type ClusterAnswers, toClusterState } from '../../src/db/sharding/cluster.ts'
import {
  mongoshLine,
  type PlannedCommand,
  planSharding,
  rangesPerShard,
} from '../../src/db/sharding/plan.ts'
import { splitHandles } from '../../src/db/sharding/split-handles.ts'

const specs = catalogue('collection')
const ranged = Object.entries(specs).filter(([, { handleIn }]) => handleIn) as [
  CollectionName,
  CollectionSpec,
][]
const database = 'feedline'

/** What a cluster answers, changed by each command as the manual describes it. */
class Cluster {
  private readonly zones = new Map<string, string[]>()
  private readonly indexes = new Map<string, Set<string>>()
  private sharded: Document[] = [{ _id: 'other.users', key: { handle: 1 } }]
  private tags: Document[] = []
  sample: readonly string[] = []
  draining: string | undefined

  constructor(...shards: string[]) {
    for (const shard of shards) this.add(shard)
  }

  add(shard: string): void {
    this.zones.set(shard, [])
  }

  answers(): ClusterAnswers {
    const shards = [...this.zones].map(([_id, tags]) => ({
      _id,
      host: `${_id}/${_id}.example.net:27017`,
      state: 1,
      ...(tags.length > 0 ? { tags } : {}),
      ...(_id === this.draining ? { draining: true } : {}),
    }))
    const { sharded, tags, indexes, sample } = this
    return { listShards: { shards, ok: 1 }, sharded, tags, indexes, sample }
  }

  plan(): PlannedCommand[] {
    return planSharding(database, specs, toClusterState(database, this.answers()))
  }

  /** Runs the first commands of the plan, by default all. */
  run(count = Number.POSITIVE_INFINITY): void {
    for (const planned of this.plan().slice(0, count)) this.apply(planned)
  }

  apply({ command }: PlannedCommand): void {
    const [verb, target] = Object.entries(command)[0] as [string, string]
    if (verb === 'addShardToZone') this.zones.get(target)?.push(command.zone)
    if (verb === 'create') this.indexes.set(target, new Set(['_id_']))
    if (verb === 'createIndexes') {
      for (const { name } of command.indexes) this.indexes.get(target)?.add(name)
    }
    if (verb === 'shardCollection') this.sharded.push({ _id: target, key: command.key })
    if (verb === 'updateZoneKeyRange') {
      const { min, max, zone } = command
      if (zone === null)
        this.tags = this.tags.filter((tag) => !isSame([tag.ns, tag.min], [target, min]))
      else this.tags.push({ ns: target, min, max, tag: zone })
    }
  }

  ranges(name: CollectionName): Document[] {
    return this.tags.filter(({ ns }) => ns === `${database}.${name}`)
  }

  countsOf(name: CollectionName): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { tag } of this.ranges(name)) counts[tag] = (counts[tag] ?? 0) + 1
    return counts
  }
}

const textOf = (value: unknown) => BSON.EJSON.stringify(value)
const isSame = (a: unknown, b: unknown) => textOf(a) === textOf(b)

/** Compares bounds as MongoDB does: MinKey, documents field by field, texts by their bytes, MaxKey. */
function compare(a: unknown, b: unknown): number {
  const rank = (value: unknown) => (value instanceof MinKey ? 0 : value instanceof MaxKey ? 2 : 1)
  if (rank(a) !== 1 || rank(b) !== 1) return rank(a) - rank(b)
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  const [left, right] = [a, b].map((value) => Object.values(value as object))
  for (const [n, value] of (left as unknown[]).entries()) {
    if (n >= (right as unknown[]).length) return 1
    const order = compare(value, (right as unknown[])[n])
    if (order !== 0) return order
  }
  return (left as unknown[]).length - (right as unknown[]).length
}

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
          expect(compare(min, max)).toBeLessThan(0)
          if (n > 0) expect(min).toEqual(ranges[n - 1]?.max)
        }
      }
    }),
    { numRuns: 40 },
  )
})

/** The zone of a document of a handle: the last range that begins at its key or before. */
function zoneOf(cluster: Cluster, name: CollectionName, handle: string): readonly string[] {
  const { shardKey = {}, handleIn } = specs[name]
  const field = Object.keys(shardKey)[0] as string
  const values =
    typeof handleIn !== 'object'
      ? [handle]
      : 'within' in handleIn
        ? [{ [handleIn.within]: handle, more: 'x' }]
        : handleIn.after.map((start) => start + handle)
  return values.map(
    (value) => cluster.ranges(name).findLast(({ min }) => compare(min[field], value) <= 0)?.tag,
  )
}

test('all documents of a handle are in the same zone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), handles, (count, sample) => {
      const cluster = new Cluster(...shardNames(count))
      cluster.sample = sample
      cluster.run()
      for (const handle of sample.slice(0, 20)) {
        const zones = ranged.flatMap(([name]) => zoneOf(cluster, name, handle))
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

test('ranges that an operator has set for users decide those of all collections', () => {
  const cluster = new Cluster('a', 'b')
  cluster.apply({ database: 'admin', command: { addShardToZone: 'a', zone: 'EU' } })
  const bounds = [new MinKey(), 'm', new MaxKey()]
  for (const [n, zone] of ['EU', 'feedline_b'].entries()) {
    const [min, max] = [{ _id: bounds[n] }, { _id: bounds[n + 1] }]
    const command = { updateZoneKeyRange: `${database}.users`, min, max, zone }
    cluster.apply({ database: 'admin', command })
  }
  cluster.run()
  expect(zoneOf(cluster, 'versions', 'lea')).toEqual(['EU', 'EU', 'EU'])
  expect(zoneOf(cluster, 'inbox', 'max')).toEqual(['feedline_b'])
  expect(cluster.plan()).toEqual([])
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

test('a collection that is sharded by another key is refused, with what to do', () => {
  const cluster = new Cluster('a')
  const command = { shardCollection: `${database}.posts`, key: { _id: 1 } }
  cluster.apply({ database: 'admin', command })
  expect(() => cluster.plan()).toThrow(
    'feedline.posts is sharded by {"_id":1}, and Feedline needs {"author":1,"_id":1}: change it with reshardCollection, then run the command again.',
  )
})

test('a change of ranges that was interrupted leaves no handle without a zone', () => {
  for (let done = 0; done < 12; done++) {
    const cluster = new Cluster('a', 'b')
    cluster.run()
    cluster.add('c')
    cluster.run(done)
    cluster.run()
    expect(cluster.plan()).toEqual([])
    expect(cluster.ranges('users')).toHaveLength(2 * rangesPerShard)
  }
})

test('a command is one line for mongosh', () => {
  const [min, max] = [{ _id: new MinKey() }, { _id: { reader: 'm' } }]
  const command = { updateZoneKeyRange: 'feedline.inbox', min, max, zone: 'feedline_a' }
  expect(mongoshLine({ database: 'admin', command })).toBe(
    'db.getSiblingDB("admin").runCommand({"updateZoneKeyRange":"feedline.inbox","min":{"_id":MinKey()},"max":{"_id":{"reader":"m"}},"zone":"feedline_a"})',
  )
})

test('ranges of handles follow the accounts once there are enough', () => {
  const sample = Array.from({ length: 800 }, (_, n) => `user${String(n).padStart(3, '0')}`)
  expect(splitHandles(4, sample)).toEqual(['user200', 'user400', 'user600'])
  expect(splitHandles(4, ['zoe'])).toEqual(
    ['gma', 'naa', 'tma'].map((_, n) => splitHandles(4, [])[n]),
  )
})

test('every zone gets its share of ranges, whatever was assigned before', () => {
  const zone = fc.constantFrom('a', 'b', 'c', 'gone', undefined)
  fc.assert(
    fc.property(fc.array(zone, { minLength: 3, maxLength: 40 }), (assigned) => {
      const result = assignRanges(assigned, ['a', 'b', 'c'])
      const counts = ['a', 'b', 'c'].map((name) => result.filter((one) => one === name).length)
      expect(counts.reduce((sum, n) => sum + n)).toBe(assigned.length)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
  )
})

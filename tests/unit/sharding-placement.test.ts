import fc from 'fast-check'
import { MaxKey, MinKey } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { assignRanges } from '../../packages/shard/assign-ranges.ts'
import { rangesPerShard } from '../../packages/shard/plan.ts'
import { Cluster } from '../support/cluster-state.ts'

/** The zone in which a collection whose key begins with a handle has one. */
const zoneOf = (cluster: Cluster, name: 'posts' | 'user_stats', handle: string): string => {
  const field = name === 'posts' ? 'author' : '_id'
  const found = cluster
    .ranges(name)
    .filter(({ min }) => min[field] instanceof MinKey || min[field] <= handle)
  return found.at(-1)?.tag
}

describe('the placement of an operator', () => {
  test('ranges that an operator has set for users decide those of all collections', () => {
    const cluster = new Cluster('a', 'b')
    cluster.join('a', 'EU')
    cluster.join('b', 'US')
    cluster.place(new MinKey(), 'm', 'EU')
    cluster.place('m', new MaxKey(), 'US')
    cluster.run()
    expect(zoneOf(cluster, 'posts', 'lea')).toBe('EU')
    expect(zoneOf(cluster, 'user_stats', 'max')).toBe('US')
    expect(cluster.plan()).toEqual([])
  })

  test('a repeat moves no range that an operator has placed on a shard that stays', () => {
    const cluster = new Cluster('a', 'b')
    cluster.run()
    for (const { min, max } of cluster.ranges('users').slice(-4)) {
      cluster.place(min._id, max._id, 'feedline_a')
    }
    cluster.run()
    expect(cluster.countsOf('users')).toEqual({ feedline_a: 12, feedline_b: 4 })
    expect(cluster.countsOf('posts')).toEqual({ feedline_a: 12, feedline_b: 4 })
    cluster.add('c')
    cluster.run()
    const counts = { feedline_a: 7, feedline_b: 4, feedline_c: 5 }
    expect(cluster.countsOf('users')).toEqual(counts)
    expect(cluster.countsOf('posts')).toEqual(counts)
  })

  test('each of several zones of a shard keeps its ranges', () => {
    const cluster = new Cluster('a', 'b')
    cluster.run()
    cluster.join('a', 'EU')
    const [first] = cluster.ranges('users')
    cluster.place(first?.min._id, first?.max._id, 'EU')
    cluster.run()
    expect(cluster.countsOf('posts')).toEqual({ EU: 1, feedline_a: 7, feedline_b: 8 })
    expect(cluster.plan()).toEqual([])
  })

  test('a new shard takes no range of a zone of an operator', () => {
    const cluster = new Cluster('a')
    cluster.join('a', 'EU')
    cluster.place(new MinKey(), new MaxKey(), 'EU')
    cluster.run()
    cluster.add('b')
    expect(cluster.plan()).toEqual([])
  })

  test('a shard in a zone of an operator without ranges gets none', () => {
    const cluster = new Cluster('a')
    cluster.run()
    cluster.add('b')
    cluster.join('b', 'spare')
    expect(cluster.plan()).toEqual([])
  })

  test('ranges of a zone that no shard has any more go to the zones that the command makes', () => {
    const cluster = new Cluster('a', 'b', 'c')
    cluster.run()
    cluster.join('c', 'EU')
    const [first] = cluster.ranges('users')
    cluster.place(first?.min._id, first?.max._id, 'EU')
    cluster.draining = 'b'
    cluster.run()
    expect(cluster.countsOf('users')).toEqual({ EU: 1, feedline_a: 12, feedline_c: 11 })
  })

  test('zones of an operator that leave handles out are refused, with what to do', () => {
    const cluster = new Cluster('a', 'b')
    cluster.join('a', 'EU')
    cluster.place('eu-', 'eu.', 'EU')
    expect(() => cluster.plan()).toThrow(
      'The zone ranges of users leave some accounts out: set ranges from MinKey to MaxKey with updateZoneKeyRange, or remove all of them, then run the command again.',
    )
  })

  test('zones of collections with hashed keys stay', () => {
    const cluster = new Cluster('a', 'b')
    cluster.run()
    const [min, max] = [{ _id: new MinKey() }, { _id: new MaxKey() }]
    const command = { updateZoneKeyRange: 'feedline.rate_limits', min, max, zone: 'feedline_a' }
    cluster.apply({ database: 'admin', command })
    expect(cluster.plan()).toEqual([])
  })

  test('a collection that MongoDB lists as one that is not split is sharded', () => {
    const cluster = new Cluster('a', 'b')
    cluster.unsplittable = ['posts', 'meta']
    const sharded = cluster.plan().map(({ command }) => command.shardCollection)
    expect(sharded).toContain('feedline.posts')
    expect(sharded).not.toContain('feedline.meta')
  })
})

test('a change of ranges that was interrupted anywhere ends with the same share for a new shard', () => {
  const whole = new Cluster('a', 'b')
  whole.run()
  whole.add('c')
  const commands = whole.plan().length
  for (let done = 0; done <= commands; done += done < 12 ? 1 : 17) {
    const cluster = new Cluster('a', 'b')
    cluster.run()
    cluster.add('c')
    cluster.run(done)
    cluster.run()
    expect(cluster.plan()).toEqual([])
    expect(cluster.ranges('users')).toHaveLength(2 * rangesPerShard)
    for (const name of ['users', 'posts', 'inbox'] as const) {
      expect(cluster.countsOf(name).feedline_c, `${name} after ${done} commands`).toBe(5)
    }
  }
})

const zones = fc.array(fc.constantFrom('feedline_a', 'feedline_b', 'EU', 'gone', undefined), {
  minLength: 3,
  maxLength: 40,
})
const isOperators = (zone: string) => zone === 'EU'

test('a range of a live zone stays when no shard joins, and every other range gets a live zone', () => {
  const live = new Set(['feedline_a', 'feedline_b', 'EU', 'idle'])
  fc.assert(
    fc.property(zones, (assigned) => {
      fc.pre(assigned.some((zone) => zone !== undefined))
      const result = assignRanges(assigned, { live, joining: [], isOperators })
      for (const [n, zone] of result.entries()) {
        expect(live.has(zone)).toBe(true)
        if (live.has(assigned[n] ?? '')) expect(zone).toBe(assigned[n])
      }
    }),
  )
})

test('a joining zone gets its share, and nothing else moves between live zones', () => {
  const live = new Set(['feedline_a', 'feedline_b', 'EU', 'new'])
  fc.assert(
    fc.property(zones, (assigned) => {
      fc.pre(assigned.some((zone) => zone !== undefined))
      const result = assignRanges(assigned, { live, joining: ['new'], isOperators })
      const shared = result.filter((zone) => !isOperators(zone))
      const count = shared.filter((zone) => zone === 'new').length
      expect(count).toBeGreaterThanOrEqual(
        Math.floor(shared.length / new Set([...shared, 'new']).size),
      )
      for (const [n, zone] of result.entries()) {
        const before = assigned[n] ?? ''
        if (isOperators(before)) expect(zone).toBe(before)
        else if (live.has(before)) expect([before, 'new']).toContain(zone)
        else expect(isOperators(zone)).toBe(false)
      }
    }),
  )
})

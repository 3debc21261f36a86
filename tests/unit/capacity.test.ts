import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { constants } from '../../packages/capacity/constants.ts'
import { costAt } from '../../packages/capacity/cost.ts'
import {
  countEdges,
  countUsers,
  equalDegrees,
  powerLawDegrees,
} from '../../packages/capacity/degrees.ts'
import { authorClasses, deliveriesPerSecond } from '../../packages/capacity/derived-load.ts'
import type { CapacityInputs } from '../../packages/capacity/inputs.ts'
import { planCapacity, type StrategyPlan } from '../../packages/capacity/plan.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'

const rate = fc.integer({ min: 0, max: 1e7 }).map((n) => n / 100)

/** A graph by its parameters, with more users than any has followers. */
const graph = fc.record({
  users: fc.integer({ min: 1_000, max: 1e8 }),
  edgesPerUser: fc.integer({ min: 0, max: 5_000 }).map((n) => n / 100),
  exponent: fc.double({ min: 0, max: 1.5, noNaN: true }),
})

type Graph = typeof graph extends fc.Arbitrary<infer T> ? T : never

const degreesOf = ({ users, edgesPerUser, exponent }: Graph) => {
  const edges = users * edgesPerUser
  return {
    followers: powerLawDegrees({ users, edges, exponent, degreeMax: users }),
    followees: equalDegrees(users, edges),
  }
}

const rates = fc.record({
  postsPerSecond: rate,
  readsPerSecond: rate,
  pollsPerSecond: rate,
  likesPerSecond: rate,
  followsPerSecond: rate,
})

const load = fc
  .record({ graph, rates, authorBias: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ graph: shape, rates: some, authorBias }): CapacityInputs => {
    return { ...standard, ...degreesOf(shape), ...some, authorBias }
  })

const standard = {
  ...{ days: 365, activeShare: 0.5, unchangedShare: 0, inlineMax: 200 },
  entryDays: Number.POSITIVE_INFINITY,
  ...{ coresPerShard: 16, diskGbPerShard: 2_000, usableShare: 0.6, authorBias: 0 },
} as const

const plansOf = (inputs: CapacityInputs) => planCapacity(inputs, constants).strategies
const planOf = (inputs: CapacityInputs, name: FeedStrategyName) =>
  plansOf(inputs).find(({ strategy }) => strategy === name) as StrategyPlan

/**
 * The figures that may not fall when a load grows. Larger audiences go from servers to workers, so
 * these have one sum.
 */
const figuresOf = (plan: StrategyPlan) => ({
  bytes: plan.baseBytes + plan.timelineBytes,
  deliveries: plan.deliveriesPerSecond,
  mongod: plan.mongodCores,
  processes: plan.servers + plan.workers,
  shards: plan.shards,
  writes: plan.writesPerSecond,
  oplog: plan.oplogBytesPerSecond,
})

/** Fails if a figure of `more` is below that of `less`, beyond the precision of sums. */
function expectNoFall(less: StrategyPlan, more: StrategyPlan) {
  const [before, after] = [figuresOf(less), figuresOf(more)]
  for (const name of Object.keys(before) as (keyof typeof before)[]) {
    // Each number of processes is rounded up.
    const tolerance = name === 'processes' ? 1 : Math.abs(before[name]) * 1e-6
    expect(after[name], `${less.strategy} ${name}`).toBeGreaterThanOrEqual(before[name] - tolerance)
  }
}

describe('the capacity model', () => {
  test('a power law has its users and its edges, and no user has more than the maximum', () => {
    fc.assert(
      fc.property(graph, fc.integer({ min: 100, max: 1e6 }), ({ users, exponent }, degreeMax) => {
        const edges = users * Math.min(degreeMax, 20)
        const degrees = powerLawDegrees({ users, edges, exponent, degreeMax })
        expect(countUsers(degrees)).toBe(users)
        expect(countEdges(degrees) / edges).toBeCloseTo(1, 6)
        expect(Math.max(...degrees.map(({ degree }) => degree))).toBeLessThanOrEqual(degreeMax)
      }),
    )
  })

  test('deliveries are the posts times the mean followers of authors, weighted by their posts', () => {
    fc.assert(
      fc.property(load, (inputs) => {
        const authors = authorClasses(inputs)
        const posts = authors.reduce((sum, { postsPerSecond }) => sum + postsPerSecond, 0)
        const weights = inputs.followers.map(({ users, degree }) => ({
          degree,
          weight: users * degree ** inputs.authorBias,
        }))
        const sum = weights.reduce((total, { weight }) => total + weight, 0)
        const mean =
          sum === 0 ? 0 : weights.reduce((total, one) => total + one.degree * (one.weight / sum), 0)
        const wanted = inputs.postsPerSecond * mean
        expect(Math.abs(posts - (sum === 0 ? 0 : inputs.postsPerSecond))).toBeLessThan(1e-3)
        expect(Math.abs(deliveriesPerSecond(authors) - wanted)).toBeLessThanOrEqual(
          1e-9 + wanted * 1e-6,
        )
        expect(planOf(inputs, 'INBOX').deliveriesPerSecond).toBeCloseTo(
          deliveriesPerSecond(authors),
          3,
        )
      }),
    )
  })

  test('if all users post equally often, a post has edges / users deliveries', () => {
    fc.assert(
      fc.property(load, (inputs) => {
        const even = { ...inputs, authorBias: 0 }
        const mean = countEdges(inputs.followers) / countUsers(inputs.followers)
        const wanted = inputs.postsPerSecond * mean
        const found = planOf(even, 'INBOX').deliveriesPerSecond
        expect(Math.abs(found - wanted)).toBeLessThanOrEqual(1e-9 + wanted * 1e-6)
      }),
    )
  })

  test('no figure of any strategy falls when a rate or the days grow', () => {
    const grown = ['postsPerSecond', 'readsPerSecond', 'pollsPerSecond', 'likesPerSecond'] as const
    const field = fc.constantFrom(...grown, 'followsPerSecond' as const, 'days' as const)
    fc.assert(
      fc.property(load, field, fc.double({ min: 1, max: 10, noNaN: true }), (inputs, name, by) => {
        const more = plansOf({ ...inputs, [name]: inputs[name] * by })
        for (const [at, less] of plansOf(inputs).entries())
          expectNoFall(less, more[at] as StrategyPlan)
      }),
    )
  })

  test('no figure falls when there are more edges', () => {
    const by = fc.double({ min: 1, max: 10, noNaN: true })
    fc.assert(
      fc.property(graph, rates, by, (shape, some, factor) => {
        const inputs = { ...standard, ...some, ...degreesOf(shape) }
        const denser = degreesOf({ ...shape, edgesPerUser: shape.edgesPerUser * factor })
        const more = plansOf({ ...inputs, ...denser })
        for (const [at, less] of plansOf(inputs).entries()) {
          expectNoFall(less, more[at] as StrategyPlan)
        }
      }),
    )
  })

  test('no figure falls when the graph has more users with as many edges each', () => {
    const by = fc.integer({ min: 1, max: 10 })
    fc.assert(
      fc.property(graph, rates, by, (shape, some, factor) => {
        // All posts of the same users: otherwise the same posts have other authors.
        const equal = { ...shape, exponent: 0 }
        const inputs = { ...standard, ...some, ...degreesOf(equal) }
        const more = plansOf({ ...inputs, ...degreesOf({ ...equal, users: shape.users * factor }) })
        for (const [at, less] of plansOf(inputs).entries())
          expectNoFall(less, more[at] as StrategyPlan)
      }),
    )
  })

  test('CACHE has the deliveries of INBOX to its active readers', () => {
    fc.assert(
      fc.property(load, (inputs) => {
        const [inbox, cache] = (['INBOX', 'CACHE'] as const).map(
          (name) => planOf(inputs, name).deliveriesPerSecond,
        ) as [number, number]
        expect(Math.abs(cache - inbox * inputs.activeShare)).toBeLessThanOrEqual(
          1e-9 + inbox * 1e-6,
        )
      }),
    )
  })

  test('no load costs nothing but the storage of the graph', () => {
    const none = { postsPerSecond: 0, readsPerSecond: 0, pollsPerSecond: 0, likesPerSecond: 0 }
    fc.assert(
      fc.property(graph, (shape) => {
        const inputs = { ...standard, ...degreesOf(shape), ...none, followsPerSecond: 0 }
        for (const plan of plansOf(inputs)) {
          const { servers, workers, mongodCores, writesPerSecond, timelineBytes } = plan
          expect({ servers, workers, mongodCores, writesPerSecond, timelineBytes }).toEqual({
            ...{ servers: 0, workers: 0, mongodCores: 0, writesPerSecond: 0, timelineBytes: 0 },
          })
          expect(plan.growthBytesPerDay).toBe(0)
        }
      }),
    )
  })

  test('retention caps the stored timelines, and then they grow no more', () => {
    const inputs = { ...standard, ...degreesOf({ users: 1e6, edgesPerUser: 20, exponent: 0 }) }
    const busy = { ...inputs, ...noReads, postsPerSecond: 1_000 }
    const bytesPerEntry = constants.strategies.INBOX.bytesPerStored
    // 20 followees and the reader post 1.728 million times a day / 20,000.
    const entriesPerDay = (1_000 * 86_400 * 21) / 1e6
    const byDays = planOf({ ...busy, entryDays: 30 }, 'INBOX')
    expect(byDays.timelineBytes / (entriesPerDay * 30 * 1e6 * bytesPerEntry)).toBeCloseTo(1, 6)
    const postsPerDay = 1_000 * 86_400 * constants.bytes.post
    expect(byDays.growthBytesPerDay / postsPerDay).toBeCloseTo(1, 6)
    expect(planOf(busy, 'INBOX').growthBytesPerDay).toBeGreaterThan(byDays.growthBytesPerDay)
  })

  test('the first limit is the resource with the smallest share of the load', () => {
    const shape = degreesOf({ users: 1e6, edgesPerUser: 20, exponent: 0.5 })
    const inputs = { ...standard, ...shape, ...noReads, postsPerSecond: 100 }
    const smallDisk = planOf({ ...inputs, diskGbPerShard: 1 }, 'INBOX')
    expect(smallDisk.firstLimit).toMatchObject({ resource: 'disk', limit: 0.6, unit: 'GB' })
    expect(smallDisk.firstLimit.loadShare).toBeCloseTo(0.6 / smallDisk.firstLimit.needed, 9)
    const fewCores = { ...inputs, readsPerSecond: 1e6, diskGbPerShard: 1e6 }
    expect(planOf(fewCores, 'INBOX').firstLimit.resource).toBe('processor of the primary')
  })

  test('a cost between two measured sizes is on the line between them, and never falls with the size', () => {
    const cost = (serverUs: number) => ({ serverUs, mongodUs: 0, oplogBytes: 0, writes: 0 })
    const bySize = { '10': cost(100), '100': cost(80), '1000': cost(980) }
    const at = (size: number) => costAt(bySize, size).serverUs
    expect([0, 10, 55, 100, 550, 1_000, 1_900].map(at)).toEqual([
      100, 100, 100, 100, 540, 980, 1_860,
    ])
  })
})

const noReads = {
  ...{ readsPerSecond: 0, pollsPerSecond: 0, likesPerSecond: 0, followsPerSecond: 0 },
} as const

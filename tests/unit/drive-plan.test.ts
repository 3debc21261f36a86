import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareMembers, compareOrdered } from '../../packages/drive/compare.ts'
import { findLimits, healthBounds } from '../../packages/drive/health.ts'
import { Journal } from '../../packages/drive/journal.ts'
import { Latencies } from '../../packages/drive/latencies.ts'
import { numberedHandle, People } from '../../packages/drive/people.ts'
import {
  type ArrivalPlan,
  choicesOf,
  defaultMix,
  parseMix,
  parseRates,
  plannedArrivals,
  planSteps,
  scheduleArrivals,
} from '../../packages/drive/plan.ts'
import type { Handle } from '../../src/lib/ids.ts'
import { lawSeed } from '../support/seed.ts'

const planOf = (more: Partial<ArrivalPlan> = {}): ArrivalPlan => ({
  steps: planSteps([100, 300], 20, 5),
  spacing: 'poisson',
  mix: defaultMix,
  users: 50,
  seed: 7,
  ...more,
})

describe('the rates of a load', () => {
  test('a rate is one step, and a ramp has equal differences with both ends', () => {
    expect(parseRates('50')).toEqual([50])
    expect(parseRates('50..500/6')).toEqual([50, 140, 230, 320, 410, 500])
    expect(parseRates('300..100/3')).toEqual([300, 200, 100])
  })

  test.each(['', '0', '-1', '1.5', '50..500', '50..500/1', '50..500/101', '20001', '5..0/2', 'a'])(
    'the rate "%s" is refused with the right form',
    (text) => expect(() => parseRates(text)).toThrow(/such as 50, or a ramp such as 50\.\.500\/6/),
  )

  test('the warm-up has the first rate and no result, and counts as planned arrivals', () => {
    const steps = planSteps([10, 20], 30, 5)
    expect(steps[0]).toEqual({ perSecond: 10, seconds: 5, isWarmUp: true })
    expect(steps.slice(1).map(({ isWarmUp }) => isWarmUp)).toEqual([false, false])
    expect(plannedArrivals(steps)).toBe(950)
    expect(planSteps([10], 30, 0)).toHaveLength(1)
  })
})

describe('the mix of a load', () => {
  test('an operation that is not named has no weight', () => {
    expect(parseMix('home=60, poll=30')).toMatchObject({ home: 60, poll: 30, compose: 0, like: 0 })
  })

  test.each(['home', 'home=-1', 'home=1001', 'other=1', 'home=1,home=2', '', 'home=1,'])(
    'the mix "%s" is refused with the names of the operations',
    (text) => expect(() => parseMix(text)).toThrow(/home, profile, compose, follow, like, poll/),
  )

  test('a mix without weights is refused', () => {
    expect(() => parseMix('home=0')).toThrow('must have a weight above 0')
  })
})

describe('arrivals', () => {
  test('arrivals are in order, in their step, of all users, and equal for equal seeds', () => {
    const arrivals = [...scheduleArrivals(planOf())]
    expect(arrivals).toEqual([...scheduleArrivals(planOf())])
    expect(arrivals).not.toEqual([...scheduleArrivals(planOf({ seed: 8 }))])
    expect(arrivals.map(({ index }) => index)).toEqual(arrivals.map((_, at) => at))
    expect(arrivals.every(({ dueMs }, at) => dueMs >= (arrivals[at - 1]?.dueMs ?? 0))).toBe(true)
    const begins = [0, 5_000, 25_000, 45_000]
    for (const { step, dueMs } of arrivals) {
      expect(dueMs).toBeGreaterThanOrEqual(begins[step] as number)
      expect(dueMs).toBeLessThan(begins[step + 1] as number)
    }
    expect(new Set(arrivals.map(({ user }) => user)).size).toBe(50)
  })

  test('Poisson arrivals have the planned number and exponential gaps', () => {
    const steps = planSteps([200], 100, 0)
    const due = [...scheduleArrivals(planOf({ steps }))].map(({ dueMs }) => dueMs)
    expect(Math.abs(due.length - 20_000)).toBeLessThan(4 * Math.sqrt(20_000))
    const gaps = due.slice(1).map((ms, at) => ms - (due[at] as number))
    // A share of 1/e of exponential gaps is longer than their mean.
    const long = gaps.filter((ms) => ms > 5).length / gaps.length
    expect(long).toBeGreaterThan(0.35)
    expect(long).toBeLessThan(0.385)
  })

  test('constant arrivals have equal gaps', () => {
    const steps = planSteps([200], 2, 0)
    const due = [...scheduleArrivals(planOf({ steps, spacing: 'constant' }))]
    expect(due).toHaveLength(400)
    expect(due[1]?.dueMs).toBe(5)
    expect(due[399]?.dueMs).toBeCloseTo(1_995, 6)
  })

  test('operations arrive by their weights, and those without a weight never', () => {
    const mix = parseMix('home=75,compose=25')
    const arrivals = [...scheduleArrivals(planOf({ mix }))]
    const share = arrivals.filter(({ operation }) => operation === 'home').length / arrivals.length
    expect(share).toBeGreaterThan(0.72)
    expect(share).toBeLessThan(0.78)
    expect(new Set(arrivals.map(({ operation }) => operation))).toEqual(
      new Set(['home', 'compose']),
    )
  })

  test('the choices of an arrival are independent of those of its neighbour', () => {
    const [first, again, next] = [choicesOf(1, 5), choicesOf(1, 5), choicesOf(1, 6)]
    const drawn = [first(), first()]
    expect([again(), again()]).toEqual(drawn)
    expect(next()).not.toBe(drawn[0])
  })
})

describe('the users of a load', () => {
  const people = new People(
    Array.from({ length: 200 }, (_, at) => numberedHandle('drive', at)),
    3,
  )

  test('handles are numbered from 1', () => {
    expect([people.handleOf(0), people.handleOf(199)]).toEqual(['drive-000001', 'drive-000200'])
  })

  test('followees are different users, never the follower, and some are far more popular', () => {
    const followers = new Map<number, number>()
    for (let user = 0; user < 200; user++) {
      const followees = people.planFollowees(user, 10)
      expect(new Set(followees).size).toBe(followees.length)
      expect(followees).not.toContain(user)
      for (const one of followees) followers.set(one, (followers.get(one) ?? 0) + 1)
    }
    const counts = [...followers.values()].sort((a, b) => b - a)
    expect(counts[0]).toBeGreaterThan(100)
    expect(counts[100] ?? 0).toBeLessThan(15)
  })

  test('a plan for more followees than there are users ends', () => {
    const few = new People(['a', 'b', 'c'] as Handle[], 1)
    expect(few.planFollowees(0, 10).sort()).toEqual([1, 2])
  })
})

describe('what a load remembers', () => {
  test('likes go to posts that were seen, to those seen last most, in bounded memory', () => {
    const journal = new Journal()
    expect(journal.drawPost(0.5)).toBeUndefined()
    for (let at = 0; at < 2_000; at++) journal.see([`post ${at}`, `post ${at}`])
    expect(journal.drawPost(0)).toBe('post 1999')
    expect(journal.drawPost(0.999_999)).toBe('post 1500')
  })

  test('a repeated follow or like is acknowledged once', () => {
    const journal = new Journal()
    for (const _ of [1, 2]) {
      journal.addFollow(1, 2)
      journal.addLike(1, 'post')
      journal.addPost(1, 'post')
    }
    expect(journal.acknowledged).toEqual({ posts: 2, follows: 1, likes: 1 })
  })
})

const latencies = fc.array(fc.double({ min: 0.001, max: 60_000, noNaN: true }), { maxLength: 200 })

describe('latencies', () => {
  test('merged histograms equal the histogram of all latencies, within three digits of the values', () => {
    fc.assert(
      fc.property(latencies, latencies, (first, second) => {
        const [merged, other, whole] = [new Latencies(), new Latencies(), new Latencies()]
        for (const ms of first) merged.record(ms)
        for (const ms of second) other.record(ms)
        for (const ms of [...first, ...second]) whole.record(ms)
        merged.add(other)
        expect(merged.summarize()).toEqual(whole.summarize())
        const sorted = [...first, ...second].sort((a, b) => a - b)
        const median = sorted[Math.ceil(sorted.length / 2) - 1]
        expect(whole.count).toBe(sorted.length)
        if (median === undefined) return
        expect(Math.abs(whole.percentile(50) - median)).toBeLessThan(0.002 * median + 0.001)
      }),
      lawSeed(),
    )
  })

  test('a latency beyond ten minutes counts as ten minutes', () => {
    const found = new Latencies()
    found.record(3_600_000)
    expect(found.count).toBe(1)
    expect(found.percentile(99)).toBeGreaterThan(599_000)
  })
})

const ids = fc.uniqueArray(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 12 })

describe('the comparison of lists', () => {
  test('equal lists have no difference, and each removed, added, repeated or moved item is found', () => {
    fc.assert(
      fc.property(ids, fc.nat(), (list, at) => {
        expect(compareOrdered(list, list)).toEqual([])
        expect(compareOrdered(list, [...list, 'new'])).toEqual([
          { kind: 'UNEXPECTED', item: 'new' },
        ])
        const place = at % Math.max(list.length, 1)
        const item = list[place]
        if (item === undefined) return
        expect(compareOrdered(list, list.toSpliced(place, 1))).toEqual([{ kind: 'MISSING', item }])
        expect(compareOrdered(list, list.toSpliced(place, 0, item))).toEqual([
          { kind: 'REPEATED', item },
        ])
        const moved = [...list.toSpliced(place, 1), item]
        const isSame = place === list.length - 1
        expect(compareOrdered(list, moved).map(({ kind }) => kind)).toEqual(
          isSame ? [] : ['OUT_OF_ORDER'],
        )
      }),
      lawSeed(),
    )
  })

  test('own lists may have more items, but each acknowledged one once', () => {
    expect(compareMembers(['a', 'b', 'c'], ['x', 'a', 'b', 'b'])).toEqual([
      { kind: 'REPEATED', item: 'b' },
      { kind: 'MISSING', item: 'c' },
    ])
  })
})

test('a load is valid up to each bound of its generator, and not beyond it', () => {
  expect(findLimits(healthBounds)).toEqual([])
  for (const name of Object.keys(healthBounds) as (keyof typeof healthBounds)[]) {
    expect(findLimits({ ...healthBounds, [name]: healthBounds[name] * 1.5 })).toHaveLength(1)
  }
})

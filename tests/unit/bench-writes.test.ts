import { expect, test } from 'vitest'
import { growthKey } from '../../bench/engagement/like-growth.ts'
import { createAudiences } from '../../bench/feeds/inbox-deliveries.ts'
import { computeInboxRatios } from '../../bench/feeds/report.ts'
import { pairAt } from '../../bench/follows/spread.ts'

test('follows of different accounts: each pair once, and no account twice within the calls of 64 clients', () => {
  const pairs = Array.from({ length: 60_000 }, (_, at) => pairAt(at))
  expect(new Set(pairs.map(([follower, followee]) => `${follower} ${followee}`)).size).toBe(60_000)
  expect(pairs.every(([follower, followee]) => follower !== followee)).toBe(true)
  for (let at = 0; at + 64 <= pairs.length; at += 97) {
    const together = pairs.slice(at, at + 64)
    expect(new Set(together.map(([follower]) => follower)).size).toBe(64)
    expect(new Set(together.map(([, followee]) => followee)).size).toBe(64)
  }
})

test('the ratio of likes names how many likes the post has', () => {
  expect([100_000, 1_000_000].map(growthKey)).toEqual(['like_100k_vs_1k', 'like_1m_vs_1k'])
})

test('deliveries over bare inserts: the lower one of both audiences, by round', () => {
  const rates = (workers: number) => ({ workers, bareInsert: 100 })
  const ratios = computeInboxRatios([
    { '30': rates(40), '100k': rates(70) },
    { '30': rates(60), '100k': rates(30) },
    { '30': rates(50), '100k': rates(80) },
  ])
  expect(ratios.inbox_deliveries_vs_bare_insert).toEqual([0.4, 0.6, 0.5])
  expect(ratios.inbox_deliveries_vs_bare_insert_100k).toEqual([0.7, 0.3, 0.8])
})

test('each small audience has thirty followers, and the celebrity has all', () => {
  const { users, followers } = createAudiences({ isSmallest: false })
  const sizes = [...followers.values()].map((readers) => new Set(readers).size)
  expect(sizes[0]).toBe(100_000)
  expect(new Set(sizes.slice(1))).toEqual(new Set([30]))
  expect(new Set(users).size).toBe(users.length)
})

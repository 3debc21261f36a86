import { expect, test } from 'vitest'
import { growthKey } from '../../bench/engagement/like-growth.ts'
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

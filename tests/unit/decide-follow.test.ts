import { expect, test } from 'vitest'
import type { DomainError } from '../../src/errors.ts'
import { countersOf, decideFollows, type FollowState } from '../../src/follows/decide-follow.ts'
import type { FollowEdge } from '../../src/follows/edges.ts'
import { pairKey } from '../../src/follows/pair-lists.ts'
import type { EdgeId, UserId } from '../../src/lib/ids.ts'

const [ann, ben, cat, dan] = ['ann', 'ben', 'cat', 'dan'] as UserId[] as [
  UserId,
  UserId,
  UserId,
  UserId,
]
const edge = (follower: UserId, followee: UserId): FollowEdge => ({
  id: 'a'.repeat(24) as EdgeId,
  follower,
  followee,
  source: 'FEEDLINE',
})
const follow = (follower: UserId, followee: UserId) =>
  ({ follower, followee, begin: 'FEEDLINE' }) as const
const unfollow = (follower: UserId, followee: UserId) => ({ follower, followee })

/** A state with these edges, in which everyone has an account and an id for each further edge. */
function stateOf(edges: readonly FollowEdge[], more: Partial<FollowState> = {}): FollowState {
  const users = [ann, ben, cat, dan]
  const pairs = users.flatMap((follower) => users.map((followee) => ({ follower, followee })))
  const following = (user: UserId) => edges.filter(({ follower }) => follower === user).length
  return {
    edges: new Map(edges.map((one) => [pairKey(one), one])),
    blocked: new Set(),
    live: new Map(users.map((user) => [user, { following: following(user) }])),
    followeesMax: 2,
    newIds: new Map(pairs.map((pair) => [pairKey(pair), 'b'.repeat(24) as EdgeId])),
    ...more,
  }
}

const answersTo = (requests: Parameters<typeof decideFollows>[0], state: FollowState) =>
  [...decideFollows(requests, state).values()].map((answer) =>
    answer instanceof Error ? (answer as DomainError).code : answer.changed,
  )

test('follows of one user that are decided together keep the limit of followees, in their order', () => {
  const requests = [follow(ann, ben), follow(ann, cat), follow(ann, dan), follow(ben, dan)]
  expect(answersTo(requests, stateOf([]))).toEqual([true, true, 'LIMIT_EXCEEDED', true])
})

test('an unfollow makes room for the follows after it, not for those before it', () => {
  const full = stateOf([edge(ann, ben), edge(ann, cat)])
  expect(answersTo([follow(ann, dan), unfollow(ann, ben)], full)).toEqual(['LIMIT_EXCEEDED', true])
  expect(answersTo([unfollow(ann, ben), follow(ann, dan)], full)).toEqual([true, true])
})

test('a follow that changes nothing or is refused takes no room', () => {
  const state = stateOf([edge(ann, ben)], { blocked: new Set([pairKey(follow(ann, cat))]) })
  const requests = [follow(ann, ben), follow(ann, cat), follow(ann, dan)]
  expect(answersTo(requests, state)).toEqual([false, 'FORBIDDEN', true])
})

test('a block, and an account that is missing, refuse the follows of their pairs alone', () => {
  const live = new Map([ann, ben, cat].map((user) => [user, { following: 0 }]))
  const state = stateOf([], { live, blocked: new Set([pairKey(follow(ann, ben))]) })
  const requests = [
    follow(ann, ben),
    follow(ben, ann),
    follow(ann, dan),
    follow(dan, ann),
    follow(ann, cat),
  ]
  expect(answersTo(requests, state)).toEqual(['FORBIDDEN', true, 'NOT_FOUND', 'NOT_FOUND', true])
})

test('counters add up over all edges, and a user without a change in sum has a guard', () => {
  const begun = [edge(ann, ben), edge(ann, cat), edge(ben, ann)]
  expect(countersOf(begun, [edge(ann, dan), edge(cat, ben)])).toEqual(
    new Map([
      [ann, { following: 1, followers: 1 }],
      [ben, { following: 1 }],
      [cat, { following: -1, followers: 1 }],
      [dan, { followers: -1 }],
    ]),
  )
  expect(countersOf([edge(ann, ben)], [edge(ann, cat)])).toEqual(
    new Map([
      [ann, { guard: 1 }],
      [ben, { followers: 1 }],
      [cat, { followers: -1 }],
    ]),
  )
  expect(countersOf([edge(cat, ben)], [edge(ann, ben)]).get(ben)).toEqual({ guard: 1 })
})

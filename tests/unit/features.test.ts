import { expect, test } from 'vitest'
import { createLists, features, reactions } from '../../src/features.ts'
import { Outbox } from '../../src/jobs/outbox.ts'
import { IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'

test('an event inserts one job for each feature that reacts, with its payload and queue', () => {
  const outbox = new Outbox({} as never, new IdMint(Date.now), undefined, [
    { 'post.created': 'a' },
    {},
    { 'post.created': 'b', 'post.deleted': 'c' },
  ])
  const payload = { author: 'ann' as UserId, post: '6650c0ffee0000000000beef' as PostId }
  expect(outbox.reactionsTo('post.created', payload, 'BULK')).toEqual([
    { kind: 'a', payload, queue: 'BULK' },
    { kind: 'b', payload, queue: 'BULK' },
  ])
})

test('no two reactions share a kind of job, so each fails and retries by itself', () => {
  const kinds = reactions.flatMap((one) => Object.values(one))
  expect(kinds.length).toBeGreaterThan(4)
  expect(new Set(kinds).size).toBe(kinds.length)
})

test('no two lists have one name, so each has a loader of its own', () => {
  const parts = { follows: {}, restrictions: {}, posts: {}, engagementReader: {} } as never
  const names = features.flatMap(({ lists }) => Object.keys(lists(parts)))
  expect(names.length).toBeGreaterThan(4)
  expect(Object.keys(createLists(parts)).sort()).toEqual(names.sort())
})

test('no two periodic jobs have one kind, so each has a mark of its own', () => {
  const kinds = features.flatMap(({ periodic }) => periodic({} as never).map(({ kind }) => kind))
  expect(kinds).toEqual(['timelines.sweep'])
})

test('no two features have one name', () => {
  const names = features.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

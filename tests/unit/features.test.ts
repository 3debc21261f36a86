import { expect, test } from 'vitest'
import { features, reactions } from '../../src/features.ts'
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

test('no two features have one name', () => {
  const names = features.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

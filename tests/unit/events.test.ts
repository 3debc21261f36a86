import { expect, test } from 'vitest'
import { reactionsTo, subscriptions } from '../../src/events.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'

test('an event inserts one job for each subscriber, with its payload and queue', () => {
  const payload = { author: 'ann' as UserId, post: '6650c0ffee0000000000beef' as PostId }
  const kinds = Object.values(subscriptions['post.created'])
  expect(reactionsTo('post.created', payload, 'BULK')).toEqual(
    kinds.map((kind) => ({ kind, payload, queue: 'BULK' })),
  )
})

test('no two subscriptions share a job kind, so each subscriber fails and retries independently', () => {
  const kinds = Object.values(subscriptions).flatMap((one) => Object.values<string>(one))
  expect(new Set(kinds).size).toBe(kinds.length)
})

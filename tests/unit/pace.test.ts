import { expect, test } from 'vitest'
import { Pace } from '../../src/reconcile/pace.ts'

test('a wait ends with the reason of who stops the run', async () => {
  const stop = new AbortController()
  const waiting = new Pace(1).spend(1_000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('without a pace nothing waits', async () => {
  await new Pace(undefined).spend(Number.MAX_SAFE_INTEGER)
})

import { expect, test } from 'vitest'
import { Throttle } from '../../src/integrity/throttle.ts'

test('an aborted wait throws the reason of the abort', async () => {
  const stop = new AbortController()
  const waiting = new Throttle(1).spend(1_000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('without a limit nothing waits', async () => {
  await new Throttle(undefined).spend(Number.MAX_SAFE_INTEGER)
})

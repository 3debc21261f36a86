import { expect, test } from 'vitest'
import { Throttle } from '../../src/integrity/throttle.ts'

test('an aborted throttle throws the reason of the abort', async () => {
  const stop = new AbortController()
  const waiting = new Throttle(1).spend(1_000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('a throttle without a limit never waits', async () => {
  await new Throttle(undefined).spend(Number.MAX_SAFE_INTEGER)
})

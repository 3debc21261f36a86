import { expect, test } from 'vitest'
import { RequestEnded, RequestTime } from '../../src/db/request-time.ts'
import { shareFewKeys, shareReads } from '../../src/db/shared-reads.ts'
import { runInTime } from '../../src/request-scope.ts'
import { gate } from '../support/jobs.ts'

test('reads that arrive while a read is under way share the next one, and none gets an earlier result', async () => {
  const sent: (readonly string[])[] = []
  const gates = [gate(), gate()]
  const read = shareReads('test', async (keys: readonly string[]) => {
    const at = sent.push(keys) - 1
    await gates[at]?.opened
    return at
  })
  const first = [read(['a']), read(['b'])]
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(sent).toEqual([['a', 'b']])
  const later = [read(['a']), read(['c'])]
  gates[0]?.open()
  expect(await Promise.all(first)).toEqual([0, 0])
  gates[1]?.open()
  expect(await Promise.all(later)).toEqual([1, 1])
  expect(sent[1]).toEqual(['a', 'c'])
})

test('a failed read fails only those that shared it', async () => {
  let isBroken = true
  const read = shareReads('test', async () => {
    if (isBroken) throw new Error('broken')
    return 'found'
  })
  await expect(read(['a'])).rejects.toThrow('broken')
  isBroken = false
  expect(await read(['a'])).toBe('found')
})

test('reads of few keys share a read, and a read of many keys waits for none and has its own', async () => {
  const sent: (readonly string[])[] = []
  const read = shareFewKeys('test', async (keys: readonly string[]) => sent.push(keys))
  const many = ['a', 'b', 'c', 'd', 'e']
  await Promise.all([read(['a', 'b']), read(many), read(['c'])])
  expect(sent).toEqual([many, ['a', 'b', 'c']])
})

test('a request whose time has ended sends no read of few keys', async () => {
  let sent = 0
  const read = shareFewKeys('test', async () => ++sent)
  const time = new RequestTime(1_000)
  time.end(new RequestEnded('gone'))
  await expect(runInTime(time, () => read(['a']))).rejects.toThrow('gone')
  expect(sent).toBe(0)
})

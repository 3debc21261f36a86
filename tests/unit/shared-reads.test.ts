import { expect, test } from 'vitest'
import { shareReads } from '../../src/db/shared-reads.ts'
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

import { expect, test } from 'vitest'
import { readAhead, splitApart } from '../../src/lib/batch.ts'

test('a source is read one item ahead, in order, and is closed when the caller ends early', async () => {
  const taken: number[] = []
  let closed = false
  async function* source() {
    try {
      for (let item = 0; item < 5; item++) {
        taken.push(item)
        yield item
      }
    } finally {
      closed = true
    }
  }
  const got: number[] = []
  for await (const item of readAhead(source())) {
    got.push(item)
    await new Promise(setImmediate)
    expect(taken.at(-1)).toBe(Math.min(item + 1, 4))
    if (item === 3) break
  }
  expect({ got, closed }).toEqual({ got: [0, 1, 2, 3], closed: true })
})

test('an error of a source that is read ahead is thrown after the items before it', async () => {
  async function* source() {
    yield 1
    throw new Error('broken')
  }
  const got: number[] = []
  const read = async () => {
    for await (const item of readAhead(source())) {
      got.push(item)
      await new Promise(setImmediate)
    }
  }
  await expect(read()).rejects.toThrow('broken')
  expect(got).toEqual([1])
})

test('items are split into few batches without a common name, and keep the order of those that share one', () => {
  const items = ['ab', 'cd', 'bc', 'a', 'e', 'd', 'ce', 'f', 'xb']
  expect(splitApart(items, (item) => [...item])).toEqual([
    ['ab', 'cd', 'e', 'f'],
    ['bc', 'a', 'd'],
    ['ce', 'xb'],
  ])
  expect(splitApart([], () => [])).toEqual([])
})

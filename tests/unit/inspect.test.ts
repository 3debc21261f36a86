import { MongoServerError } from 'mongodb'
import { expect, test } from 'vitest'
import { inspect } from '../../src/integrity/inspect.ts'
import type { Invariant, Run } from '../../src/integrity/invariant.ts'
import { Report } from '../../src/integrity/report.ts'

const invariant: Invariant<number> = {
  name: 'small-numbers',
  law: 'L3',
  ranges: [],
  async *scan(range) {
    for (let number = 1; number <= (range as { upTo: number }).upTo; number++) yield number
  },
  check: async (numbers) => ({
    violations: numbers.map((number) => ({
      finding: {
        ...{ law: 'L3', invariant: 'small-numbers', kind: 'small' },
        ...{ subject: `${number}`, expected: 'more', found: number },
      },
    })),
  }),
}

/** A run whose server drops the snapshot of each read for which `isDropped` says so. */
function runWith(isDropped: (read: number) => boolean) {
  let reads = 0
  const report = new Report()
  const transactions = {
    atSnapshot: async (read: (at: never) => Promise<unknown>) => {
      const result = await read({} as never)
      if (isDropped(++reads)) throw new MongoServerError({ message: 'gone', code: 246 })
      return result
    },
  }
  const run = { transactions, repair: false, report } as unknown as Run
  return { run, report, countReads: () => reads }
}

test('a check whose snapshot is dropped three times fails with the name of its invariant', async () => {
  const { run, countReads } = runWith(() => true)
  await expect(inspect(run, invariant, { upTo: 1 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^The check of small-numbers takes longer than /),
  })
  expect(countReads()).toBe(3)
})

test('a check whose snapshot is dropped is repeated with half as many suspects, and misses none', async () => {
  const { run, report, countReads } = runWith((read) => read < 3)
  await inspect(run, invariant, { upTo: 8 })
  // Of 8, 4 and 2 suspects, then of the other 2 and 4.
  expect(countReads()).toBe(5)
  const subjects = report.sample.map(({ subject }) => subject)
  expect(subjects).toEqual(Array.from({ length: 8 }, (_, at) => `${at + 1}`))
})

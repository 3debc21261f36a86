import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { Contended, Poisoned } from '../../src/db/collisions.ts'
import { type HotKeyRules, HotKeys } from '../../src/db/hot-keys.ts'

/** A batch is poisoned, and its first write is locked at first and fails later. */
const rules = (admissions: number[][]): HotKeyRules<number, number> => {
  let tries = 0
  return {
    name: 'test',
    now: Date.now,
    admit: async (ops) => {
      admissions.push([...ops])
      return ops.map((op) => (op === 3 ? new Error('refused') : undefined))
    },
    lock: async () => {},
    apply: async (_, __, ops) => ops,
    commit: async () => {
      throw new Poisoned('leftover')
    },
    commitAlone: async (_, op) => {
      await sleep(5)
      if (op !== 0) return op
      throw tries++ === 0 ? new Contended('locked') : new Error('failed')
    },
    pack: (op) => ({ op }),
    unpack: ({ op }) => op as number,
  }
}

test('a locked write that fails before its batch is answered is no unhandled rejection', async () => {
  const unhandled = vi.fn()
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', unhandled)
  const keys = new HotKeys<number, number>({} as never, {} as never, rules([]))
  const answers = await keys.commitBatch('key', [0, 1, 2, 4, 5])
  await sleep(20)
  process.removeAllListeners('unhandledRejection')
  for (const listener of others) process.on('unhandledRejection', listener)
  expect(unhandled).not.toHaveBeenCalled()
  await expect(answers[0]).rejects.toThrow('failed')
  expect(answers.slice(1)).toEqual([1, 2, 4, 5])
})

test('a poisoned batch is admitted once more as a whole, and its refused write alone is refused', async () => {
  const admissions: number[][] = []
  const keys = new HotKeys<number, number>({} as never, {} as never, rules(admissions))
  const [, ...answers] = await keys.commitBatch('key', [0, 1, 3, 4])
  expect(answers).toEqual([1, new Error('refused'), 4])
  expect(admissions).toEqual([
    [0, 1, 3, 4],
    [0, 1, 3, 4],
  ])
})

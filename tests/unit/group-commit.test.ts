import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../../src/db/group-commit.ts'

const bounds: GroupCommitBounds = {
  name: 'test',
  batchMax: 3,
  waitingMax: 5,
  waitMsMax: 600_000,
  lingerMs: 0,
}

/**
 * Waits until the writes of this turn of the event loop are being committed, or those that waited
 * for a commit.
 */
const nextTurn = async () => {
  for (let n = 0; n < 2; n++) await new Promise(setImmediate)
}

/** A group commit whose test ends each commit. */
function held(given: Partial<GroupCommitBounds> = {}) {
  const batches: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const commits = new GroupCommit<string, string>(
    eachKey((key, ops) => {
      batches.push(`${key}:${ops.join('')}`)
      return new Promise((resolve, reject) => {
        ends.push((error) =>
          error
            ? reject(error)
            : resolve(ops.map((op) => (op === 'x' ? new Error('not this one') : op.toUpperCase()))),
        )
      })
    }),
    { ...bounds, ...given },
  )
  /** Ends the open commit, and waits until the next one begins. */
  const end = async (error?: Error) => {
    ends.shift()?.(error)
    await nextTurn()
  }
  return { commits, batches, end }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('group commit', () => {
  test('a group commit commits writes that arrive during a commit of their key together, after it', async () => {
    const { commits, batches, end } = held()
    const all = [commits.submit('p', 'a')]
    await nextTurn()
    all.push(...['b', 'c'].map((op) => commits.submit('p', op)))
    await nextTurn()
    expect(batches).toEqual(['p:a'])
    await end()
    expect(batches).toEqual(['p:a', 'p:bc'])
    await end()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  })

  test('a group commit lingers after a batch only until as many writes wait again', async () => {
    const { commits, batches, end } = held({ lingerMs: 60_000 })
    const again = (op: string) => commits.submit('p', op).then(() => commits.submit('p', op))
    const first = commits.submit('p', 'a')
    await nextTurn()
    const all = ['b', 'c'].map(again)
    await end()
    await first
    await end()
    await new Promise(setImmediate)
    expect(batches).toEqual(['p:a', 'p:bc', 'p:bc'])
    await end()
    expect(await Promise.all(all)).toEqual(['B', 'C'])
    void commits.submit('p', 'd')
    await nextTurn()
    expect(batches).toHaveLength(3)
  })

  test('a group commit runs each commit in the context of its first write, not of an earlier commit', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const commits = new GroupCommit<string, string>(
      eachKey(async (_, ops) => {
        seen.push(`${ops.join('')} in ${context.getStore()}`)
        await new Promise(setImmediate)
        return ops
      }),
      bounds,
    )
    const submitAs = (op: string, key: string) =>
      context.run(`request ${op}`, () => commits.submit(key, op))
    const first = submitAs('a', 'p')
    await new Promise(setImmediate)
    await Promise.all([first, submitAs('b', 'p'), submitAs('c', 'p'), submitAs('d', 'q')])
    expect(seen.sort()).toEqual(['a in request a', 'bc in request b', 'd in request d'])
  })

  test('a group commit combines the writes of one turn of the event loop', async () => {
    const { commits, batches, end } = held()
    const all = ['a', 'b'].map((op) => commits.submit('p', op))
    await Promise.resolve()
    all.push(commits.submit('p', 'c'))
    expect(batches).toEqual([])
    await new Promise(setImmediate)
    expect(batches).toEqual(['p:abc'])
    all.push(commits.submit('p', 'd'))
    await end()
    await new Promise(setImmediate)
    expect(batches).toEqual(['p:abc', 'p:d'])
    await end()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'D'])
  })

  test('a group commit commits different keys independently', async () => {
    const { commits, batches } = held()
    void commits.submit('p', 'a')
    void commits.submit('q', 'b')
    await nextTurn()
    expect(batches).toEqual(['p:a', 'q:b'])
  })

  test('a group commit makes no batch larger than batchMax', async () => {
    const { commits, batches, end } = held()
    for (const op of 'abcde') void commits.submit('p', op)
    await nextTurn()
    expect(batches).toEqual(['p:abc'])
    await end()
    expect(batches).toEqual(['p:abc', 'p:de'])
  })

  test('a group commit rejects only the write that fails, not its batch', async () => {
    const { commits, end } = held()
    const all = ['a', 'x', 'c'].map((op) => commits.submit('p', op))
    const settled = Promise.allSettled(all)
    await nextTurn()
    await end()
    const [a, x, c] = await settled
    expect([a?.status, x?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('a group commit rejects the batch of a failed commit, and commits the next batch of the key', async () => {
    const { commits, end } = held()
    const first = commits.submit('p', 'a')
    await nextTurn()
    const second = commits.submit('p', 'b')
    const failed = expect(first).rejects.toThrow('down')
    await end(new Error('down'))
    await failed
    await end()
    expect(await second).toBe('B')
  })

  test('a group commit with too many waiting writes answers UNAVAILABLE until there is room', async () => {
    const { commits, end } = held()
    const taken = [commits.submit('p', 'a')]
    await nextTurn()
    taken.push(...Array.from('bcdef', (op) => commits.submit('p', op)))
    await expect(commits.submit('q', 'y')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await end()
    const more = commits.submit('q', 'y')
    await end()
    await end()
    await end()
    expect(await Promise.all([...taken, more])).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'Y'])
  })

  test('a group commit has room for as many waiting writes after its batches as before', async () => {
    const { commits, end } = held()
    for (let round = 0; round < 3; round++) {
      const taken = Array.from('abcde', (op) => commits.submit('p', op))
      await nextTurn()
      for (let n = 0; n < 2; n++) await end()
      expect(await Promise.all(taken)).toHaveLength(5)
    }
  })

  /** A write is committed while a later one of its key has waited too long. */
  async function waitedTooLong() {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { commits, batches, end } = held()
    const first = commits.submit('p', 'a')
    await nextTurn()
    const refused = expect(commits.submit('p', 'b')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    vi.advanceTimersByTime(600_001)
    return { commits, batches, end, first, refused }
  }

  test('a group commit rejects a write that waited too long, and does not commit it', async () => {
    const { commits, batches, end, first, refused } = await waitedTooLong()
    const timely = commits.submit('p', 'c')
    await end()
    await refused
    await end()
    expect(await Promise.all([first, timely])).toEqual(['A', 'C'])
    expect(batches).toEqual(['p:a', 'p:c'])
  })

  test('a key whose waiting writes have all waited too long takes writes again', async () => {
    const { commits, batches, end, first, refused } = await waitedTooLong()
    await end()
    await end()
    await refused
    const next = commits.submit('p', 'c')
    await nextTurn()
    expect(batches).toEqual(['p:a', 'p:c'])
    await end()
    expect(await Promise.all([first, next])).toEqual(['A', 'C'])
  })

  test('a group commit rejects no waiting write after a step of the wall clock', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { commits, end } = held()
    const first = commits.submit('p', 'a')
    await nextTurn()
    const waiting = commits.submit('p', 'b')
    vi.setSystemTime(Date.now() + 3_600_000)
    await end()
    await end()
    expect(await Promise.all([first, waiting])).toEqual(['A', 'B'])
  })

  /** A group commit whose test ends each turn. */
  function turned(given: Partial<GroupCommitBounds> = {}) {
    const turns: string[] = []
    const nexts: (() => void)[] = []
    const commits = new GroupCommit<string, string>(
      (batches) => {
        turns.push(batches.map(({ key, ops }) => `${key}:${ops.join('')}`).join(' '))
        const ended = new Promise<void>((resolve) => nexts.push(resolve))
        const answers = batches.map(({ ops }) => ended.then(() => ops))
        return { answers, next: Promise.all(answers) }
      },
      { ...bounds, batchMax: 4, ...given },
    )
    const end = async () => {
      nexts.shift()?.()
      await nextTurn()
    }
    return { commits, turns, end }
  }

  /** A turn of 50 ms that has answered two writes while a third one waits. */
  async function endedTurn(given: Partial<GroupCommitBounds>) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { commits, turns, end } = turned(given)
    const all = [commits.submit('p', '1'), commits.submit('q', '2')]
    await nextTurn()
    all.push(commits.submit('r', '3'))
    vi.advanceTimersByTime(50)
    await end()
    expect(turns).toEqual(['p:1 q:2'])
    return { commits, turns, end, all }
  }

  test('after a turn, the next one waits for as many writes as were under way', async () => {
    const { commits, turns, end, all } = await endedTurn({ lingerMs: 60_000 })
    all.push(commits.submit('p', '4'))
    await nextTurn()
    expect(turns).toHaveLength(1)
    all.push(commits.submit('s', '5'))
    await nextTurn()
    expect(turns).toEqual(['p:1 q:2', 'r:3 p:4 s:5'])
    await end()
    expect(await Promise.all(all)).toEqual(['1', '2', '3', '4', '5'])
  })

  test.each([
    { lingerMs: 60_000, waitsMs: 50, why: 'than the last one took' },
    { lingerMs: 20, waitsMs: 20, why: 'than lingerMs' },
  ])('a turn waits for writes no longer $why', async ({ lingerMs, waitsMs }) => {
    const { turns, end, all } = await endedTurn({ lingerMs })
    vi.advanceTimersByTime(waitsMs - 1)
    await nextTurn()
    expect(turns).toHaveLength(1)
    vi.advanceTimersByTime(1)
    await nextTurn()
    expect(turns).toEqual(['p:1 q:2', 'r:3'])
    await end()
    expect(await Promise.all(all)).toEqual(['1', '2', '3'])
  })

  test('a turn of one write keeps the next one not waiting', async () => {
    const { commits, turns, end } = turned({ lingerMs: 60_000 })
    const first = commits.submit('p', '1')
    await nextTurn()
    const second = commits.submit('q', '2')
    await end()
    expect(turns).toEqual(['p:1', 'q:2'])
    await end()
    expect(await Promise.all([first, second])).toEqual(['1', '2'])
  })

  test('a group commit takes the batches of all idle keys into a turn, and begins the next one when it may', async () => {
    const turns: string[] = []
    const nexts: (() => void)[] = []
    const ends = new Map<string, () => void>()
    const commits = new GroupCommit<string, string>(
      (batches) => {
        turns.push(batches.map(({ key, ops }) => `${key}:${ops.join('')}`).join(' '))
        return {
          answers: batches.map(async ({ key, ops }) => {
            await new Promise<void>((resolve) => ends.set(key, resolve))
            return ops
          }),
          next: new Promise<void>((resolve) => nexts.push(resolve)),
        }
      },
      { ...bounds, batchMax: 2, waitingMax: 20 },
    )
    const goOn = async (act?: () => void) => {
      act?.()
      for (let n = 0; n < 2; n++) await new Promise(setImmediate)
    }
    const all = ['p1', 'q2', 'r3'].map(([key = '', op = '']) => commits.submit(key, op))
    await goOn()
    // A turn begins no batch beyond batchMax.
    expect(turns).toEqual(['p:1 q:2'])
    for (const [key, op] of ['p4', 'p5', 'p6'])
      all.push(commits.submit(key as string, op as string))
    await goOn(nexts.shift())
    // The first batch of p is still being committed.
    expect(turns).toEqual(['p:1 q:2', 'r:3'])
    await goOn(nexts.shift())
    await goOn(ends.get('p'))
    expect(turns).toEqual(['p:1 q:2', 'r:3', 'p:45'])
    await goOn(ends.get('p'))
    expect(turns).toHaveLength(3)
    await goOn(nexts.shift())
    expect(turns).toEqual(['p:1 q:2', 'r:3', 'p:45', 'p:6'])
    for (const end of ends.values()) end()
    expect(await Promise.all(all)).toEqual(['1', '2', '3', '4', '5', '6'])
  })
})

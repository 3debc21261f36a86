import { afterEach, describe, expect, test, vi } from 'vitest'
import { GroupCommit, type GroupCommitBounds } from '../../src/db/group-commit.ts'

const bounds: GroupCommitBounds = {
  batchMax: 3,
  waitingMax: 5,
  waitMsMax: 1_000,
  lingerMs: 0,
  begins: 'AT_ONCE',
}

/** A group commit whose commits end on demand. */
function held(given: Partial<GroupCommitBounds> = {}) {
  const batches: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const commits = new GroupCommit<string, string>(
    (lane, ops) => {
      batches.push(`${lane}:${ops.join('')}`)
      return new Promise((resolve, reject) => {
        ends.push((error) =>
          error
            ? reject(error)
            : resolve(ops.map((op) => (op === 'x' ? new Error('not this one') : op.toUpperCase()))),
        )
      })
    },
    { ...bounds, ...given },
  )
  /** Ends the commit under way, and waits until the next one has begun. */
  const end = async (error?: Error) => {
    ends.shift()?.(error)
    await new Promise(setImmediate)
  }
  return { commits, batches, end }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('group commit', () => {
  test('a write on an idle key commits at once, and writes that arrive during its commit go together in order', async () => {
    const { commits, batches, end } = held()
    const all = ['a', 'b', 'c'].map((op) => commits.submit('p', op))
    expect(batches).toEqual(['p:a'])
    await end()
    expect(batches).toEqual(['p:a', 'p:bc'])
    await end()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  })

  test('writes that share a command commit together with the writes of the same event-loop turn', async () => {
    const { commits, batches, end } = held({ begins: 'AFTER_TURN' })
    const all = ['a', 'b'].map((op) => commits.submit('p', op))
    await Promise.resolve()
    all.push(commits.submit('p', 'c'))
    expect(batches).toEqual([])
    await new Promise(setImmediate)
    expect(batches).toEqual(['p:abc'])
    all.push(commits.submit('p', 'd'))
    await end()
    expect(batches).toEqual(['p:abc', 'p:d'])
    await end()
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'D'])
  })

  test('group commits of different keys do not wait for each other', () => {
    const { commits, batches } = held()
    void commits.submit('p', 'a')
    void commits.submit('q', 'b')
    expect(batches).toEqual(['p:a', 'q:b'])
  })

  test('a group commit never exceeds its batch size', async () => {
    const { commits, batches, end } = held()
    for (const op of 'abcde') void commits.submit('p', op)
    await end()
    expect(batches).toEqual(['p:a', 'p:bcd'])
    await end()
    expect(batches).toEqual(['p:a', 'p:bcd', 'p:e'])
  })

  test('a failed write does not fail other writes of its batch', async () => {
    const { commits, end } = held()
    const all = ['a', 'x', 'c'].map((op) => commits.submit('p', op))
    const settled = Promise.allSettled(all)
    await end()
    await end()
    const [a, x, c] = await settled
    expect([a?.status, x?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('a failed commit fails only its batch, and later batches commit', async () => {
    const { commits, end } = held()
    const first = commits.submit('p', 'a')
    const second = commits.submit('p', 'b')
    const failed = expect(first).rejects.toThrow('down')
    await end(new Error('down'))
    await failed
    await end()
    expect(await second).toBe('B')
  })

  test('a full queue of a key answers UNAVAILABLE, and accepts writes again later', async () => {
    const { commits, end } = held()
    const taken = Array.from('abcdef', (op) => commits.submit('p', op))
    await expect(commits.submit('q', 'y')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await end()
    const more = commits.submit('q', 'y')
    await end()
    await end()
    await end()
    expect(await Promise.all([...taken, more])).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'Y'])
  })

  test('a write that waited too long is refused and not written', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { commits, batches, end } = held()
    const first = commits.submit('p', 'a')
    const late = commits.submit('p', 'b')
    const refused = expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    vi.advanceTimersByTime(1_001)
    const timely = commits.submit('p', 'c')
    await end()
    await refused
    await end()
    expect(await Promise.all([first, timely])).toEqual(['A', 'C'])
    expect(batches).toEqual(['p:a', 'p:c'])
  })

  test('a step of the system clock refuses no waiting write', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { commits, end } = held()
    const first = commits.submit('p', 'a')
    const waiting = commits.submit('p', 'b')
    vi.setSystemTime(Date.now() + 3_600_000)
    await end()
    await end()
    expect(await Promise.all([first, waiting])).toEqual(['A', 'B'])
  })
})

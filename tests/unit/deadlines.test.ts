import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines } from '../../src/http/deadlines.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Deadlines at times after now, and which of them have ended. */
function create() {
  let isOutside = false
  const deadlines = new Deadlines((work) => {
    isOutside = true
    work()
    isOutside = false
  })
  const ended: string[] = []
  const add = (name: string, ms: number) => {
    const deadline = { at: performance.now() + ms, end: () => void ended.push(name) }
    deadlines.add(deadline)
    expect(isOutside).toBe(false)
    return () => deadlines.delete(deadline)
  }
  return { add, ended }
}

test('each deadline ends what is pending at its time, in whatever order deadlines are added', () => {
  const { add, ended } = create()
  add('late', 300)
  add('early', 100)
  add('between', 200)
  vi.advanceTimersByTime(99)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ended).toEqual(['early'])
  add('soon', 50)
  vi.advanceTimersByTime(50)
  expect(ended).toEqual(['early', 'soon'])
  vi.advanceTimersByTime(1_000)
  expect(ended).toEqual(['early', 'soon', 'between', 'late'])
})

test('a deadline that is deleted ends nothing, and those after it do', () => {
  const { add, ended } = create()
  const remove = add('first', 100)
  add('second', 200)
  remove()
  remove()
  vi.advanceTimersByTime(199)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ended).toEqual(['second'])
  vi.advanceTimersByTime(1_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('a deadline that is added while others end is kept', () => {
  const { add, ended } = create()
  add('one', 100)
  const deadlines = new Deadlines((work) => work())
  const at = performance.now() + 100
  const end = () => deadlines.add({ at: at + 100, end: () => void ended.push('next') })
  deadlines.add({ at, end })
  vi.advanceTimersByTime(200)
  expect(ended).toEqual(['one', 'next'])
})

import { expect, test, vi } from 'vitest'
import { Interruption, interruption } from '../../src/cli/failure.ts'

const exit = () => vi.spyOn(process, 'exit').mockImplementation((() => {}) as never)

test('the first signal ends the run, and the second one the process with its exit handlers', () => {
  using run = interruption()
  const exited = exit()
  process.emit('SIGINT', 'SIGINT')
  expect(run.signal.reason).toBeInstanceOf(Interruption)
  expect(exited).not.toHaveBeenCalled()
  process.emit('SIGTERM', 'SIGTERM')
  expect(exited).toHaveBeenCalledWith(143)
})

test('a run that ends at once is ended by the first signal', () => {
  using run = interruption()
  const exited = exit()
  run.endAtOnce()
  process.emit('SIGINT', 'SIGINT')
  expect(exited).toHaveBeenCalledWith(130)
})

test('a signal in the last batch ends the run before what cannot be stopped', () => {
  using run = interruption()
  process.emit('SIGINT', 'SIGINT')
  expect(() => run.endAtOnce()).toThrow(Interruption)
})

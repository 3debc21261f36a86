import { expect, test } from 'vitest'
import { runCommand } from '../support/command-line.ts'

const rates = ['--posts-per-second', '5e3', '--reads-per-second', '1e5']
const graph = ['--users', '1e6', '--edges', '1e7']

test.each([
  [['--users', 'many', '--edges', '1', ...rates], '--users'],
  [['--users', '0', '--edges', '1', ...rates], '--users'],
  [[...graph, ...rates, '--active-share', '1.5'], '--active-share'],
  [[...graph, ...rates, '--skew', '-1'], '--skew'],
  [[...graph, '--reads-per-second', '1e5'], '--posts-per-second'],
  [['--users', '1e6', ...rates], '--edges'],
  [['--users', '10', '--edges', '1000', ...rates], '--edges'],
  [[...rates, ...graph, '--from-database'], '--from-database'],
  [[...rates, ...graph, '--likes', '3'], '--likes'],
])('feedline capacity %j names the wrong option and exits with 2', async (args, option) => {
  const { code, stdout, stderr } = await runCommand(['capacity', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(option)
})

test('feedline capacity --json prints inputs, constants, the plan of each strategy and the choice', async () => {
  const { code, stdout } = await runCommand(['capacity', ...graph, ...rates, '--json'])
  expect(code).toBe(0)
  const { inputs, constants, strategies, choice, reason } = JSON.parse(stdout)
  expect(inputs).toMatchObject({ users: 1e6, edges: 1e7, postsPerSecond: 5_000, days: 365 })
  expect(constants).toMatchObject({ measuredBy: expect.stringContaining('npm run bench') })
  const names = strategies.map(({ strategy }: { strategy: string }) => strategy)
  expect(names).toContain(choice)
  expect(reason).toContain('cores')
})

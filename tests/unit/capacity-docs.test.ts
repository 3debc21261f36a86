import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import '../../packages/capacity/command.ts'
import { buildProgram } from '../../src/cli/program.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/scaling.md'), 'utf8')

/** The examples of the page: a command, and all that it prints. */
const examples = Array.from(
  page.matchAll(/^```\n\$ feedline (capacity [^\n]*)\n(.*?)\n```$/gms),
  ([, command = '', output = '']) => ({ command, output }),
)

afterEach(() => vi.restoreAllMocks())

test('docs/how-to/scaling.md has an example of feedline capacity', () => {
  expect(examples).toHaveLength(1)
})

test.each(examples)(
  'docs/how-to/scaling.md shows what feedline $command prints',
  async (example) => {
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line))
    await buildProgram().parseAsync(example.command.split(' '), { from: 'user' })
    expect(example.output).toBe(printed.join('\n'))
  },
)

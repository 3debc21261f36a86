import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')

/** Limits of tests, of hooks and of waits that are the same on every machine. */
const fixedLimits = (code: string): string[] =>
  [
    ...code.matchAll(/^ *\}, \d{2,}_\d{3}\)$/gm),
    ...code.matchAll(/^ +\d{2,}_\d{3}(?: \+ .*)?,\n *\)/gm),
    ...code.matchAll(/\btimeout: \d[\d_]{2,}/g),
  ].map(([text]) => text.trim())

test('every limit of a test follows the speed of the machine', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const limits = files
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('time-limits.test.ts'))
    .flatMap((file) => {
      const code = readFileSync(join(folder, file), 'utf8')
      return fixedLimits(code).map((limit) => `${file}: ${limit}`)
    })
  expect(limits).toEqual([])
})

test.each(['}, 60_000)', '  60_000 + runs * 500,\n)', 'expect.poll(read, { timeout: 10_000 })'])(
  '%j is seen as a limit of its own',
  (code) => {
    expect(fixedLimits(code)).toHaveLength(1)
  },
)

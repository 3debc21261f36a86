import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { patient } from '../support/patience.ts'
import { root } from '../support/process.ts'

/** Runs the command line of the benchmarks, with a mongod of its own. */
const bench = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', 'bench/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, TEST_MONGODB_URI: undefined },
    maxBuffer: 2 ** 26,
  })

const { stdout: help } = await bench('--help')
const [, choices = ''] = /choices:([^)]*)\)/.exec(help) ?? []
const names = Array.from(choices.matchAll(/"(\w+)"/g), ([, name = '']) => name)

const published = await readFile(join(root, 'docs/reference/benchmarks.md'), 'utf8')
/** The keys that the document publishes, by the benchmark of their section. */
const keysOf = new Map(
  published.split(/^## /m).flatMap((section) => {
    const [, name] = /npm run bench -- (\w+)/.exec(section) ?? []
    const keys = Array.from(
      section.matchAll(/`([a-z0-9]+(?:_[a-z0-9]+)+)`/g),
      ([, key = '']) => key,
    )
    // The number of likes is a part of its name.
    return name ? [[name, keys.filter((key) => !/^like_\d+[km]_vs_1k$/.test(key))] as const] : []
  }),
)

/** The names of all values in a result. */
const namesIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)])
    : []

test('each command of benchmarks in a document names a benchmark and its options', async () => {
  expect(names.length).toBeGreaterThan(10)
  const texts = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/reference/benchmarks.md',
    'docs/how-to/scaling.md',
  ]
  for (const file of texts) {
    const text = await readFile(join(root, file), 'utf8')
    for (const [command, name = ''] of text.matchAll(/npm run bench -- ([a-z]+)[^`\n|]*/g)) {
      expect(names, `${file}: ${command}`).toContain(name)
      const options = Array.from(command.matchAll(/--[a-z][a-z-]*/g), ([option]) => option)
      for (const option of options) expect(help, `${file}: ${command}`).toContain(option)
    }
  }
})

test(
  'the long side of the benchmark scale runs to its end if it is named',
  async () => {
    const { stdout } = await bench('scale', '--sides', 'sparse', '--smallest', '--json')
    const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(namesIn(result)).toContain('sparse_second_visit_16000_vs_inbox')
  },
  patient(300_000),
)

test.each(names)(
  'the benchmark %s runs to its end at its smallest size, and gives each published key',
  async (name) => {
    const plots = await mkdtemp(join(tmpdir(), 'feedline-plots-'))
    const { stdout } = await bench(name, '--smallest', '--json', '--plots', plots)
    const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(namesIn(result)).toEqual(expect.arrayContaining(keysOf.get(name) ?? []))
    await rm(plots, { recursive: true })
  },
  patient(300_000),
)

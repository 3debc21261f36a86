import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'

/** Starts a benchmark with its data in `folder`. */
const startBenchmark = (folder: string, ...args: string[]) =>
  spawn(process.execPath, ['--import', 'tsx', 'bench/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, TEST_MONGODB_URI: undefined },
    stdio: ['ignore', 'ignore', 'pipe'],
  })

test.each([
  ['on this Node', []],
  ['on the Node of an option', ['--node', process.execPath]],
])('an interrupted benchmark %s stops its mongod and deletes its data', async (_, args) => {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-interrupted-'))
  const benchmark = startBenchmark(folder, 'follows', '--seconds', '60', ...args)
  // The first line of progress comes after the start of the mongod.
  await once(benchmark.stderr, 'data')
  await expect.poll(async () => (await readdir(folder)).length).toBeGreaterThan(0)
  benchmark.kill('SIGTERM')
  expect(await once(benchmark, 'exit')).toEqual([143, null])
  expect((await readdir(folder)).filter((name) => name.startsWith('feedline-bench-'))).toEqual([])
  await rm(folder, { recursive: true })
})

test('a benchmark with an option that is no number does not start', async () => {
  const benchmark = startBenchmark(tmpdir(), 'follows', '--rounds', 'x')
  let error = ''
  benchmark.stderr.on('data', (chunk) => {
    error += chunk
  })
  expect((await once(benchmark, 'exit'))[0]).toBe(1)
  expect(error).toContain("'--rounds <n>' argument 'x' is invalid. It must be a positive number")
})

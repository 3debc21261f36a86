import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compiled, root } from '../support/process.ts'

const kinds = 'kill-server,step-down,partition-with-clients,clock'

it('a killed server, a failover, a partition and a wrong clock lose, double or delay no acknowledged mutation for good', async () => {
  const { report, progress } = await runFaults([
    '--minutes',
    '0.4',
    '--seed',
    '7',
    '--fault',
    kinds,
  ])
  expect(report, progress).toMatchObject({
    lost: 0,
    twice: 0,
    drift: 0,
    wrongTimelines: 0,
    falsePending: 0,
    internalErrors: 0,
    skewedIds: 0,
    unfinishedJobs: 0,
  })
  expect(report.faults).toBeGreaterThanOrEqual(4)
  expect(report.acknowledged).toBeGreaterThan(50)
}, 240_000)

/** Runs the fault harness as a process, on a cluster of its own. */
async function runFaults(args: readonly string[]) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join('faults', 'main.ts'), '--built', compiled, '--json', ...args],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [out, progress] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    progress += chunk
  })
  await once(child, 'close')
  const lastLine = out.trim().split('\n').at(-1) ?? ''
  expect(lastLine, progress).toMatch(/^\{/)
  return { report: JSON.parse(lastLine) as Record<string, number>, progress }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { patient } from '../support/patience.ts'
import { compiled, root } from '../support/process.ts'
import { share } from '../support/repetition.ts'

/** By day one of four kinds. `npm run faults` causes all kinds. */
const kinds = share(4, ['kill-server', 'step-down', 'partition-with-clients', 'clock'])

it(
  'acknowledged mutations survive killed servers, failovers, partitions and wrong clocks',
  async () => {
    const { report, progress } = await runFaults([
      '--minutes',
      // Long enough for the acknowledgements below on a busy machine too.
      String(patient(40_000) / 60_000),
      '--seed',
      '8',
      '--clients',
      '8',
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
    expect(report.faults).toBeGreaterThanOrEqual(kinds.length)
    expect(report.acknowledged).toBeGreaterThan(25)
  },
  patient(240_000),
)

const command = ['--import', 'tsx', join('faults', 'main.ts')]

/** Runs the fault harness as a process, on a cluster of its own. */
async function runFaults(args: readonly string[]) {
  const child = spawn(
    process.execPath,
    [...command, '--built', compiled, '--fault', kinds.join(), '--json', ...args],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void child.kill('SIGTERM'))
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

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BenchDatabase } from '../database.ts'

/** Measures likes of one post from two concurrent processes with 32 clients each. @returns likes per second. */
export async function measureTwoProcesses(
  { uri, db }: BenchDatabase,
  implementation: 'embedded' | 'feedline',
  post: { readonly id: string; readonly author: string },
  ms: number,
): Promise<number> {
  const startProcess = (number: number): ChildProcess =>
    fork(
      join(import.meta.dirname, 'hot-post-process.ts'),
      [
        uri,
        db.databaseName,
        implementation,
        post.id,
        post.author,
        String(number * 100_000),
        '32',
        String(ms),
      ],
      { execArgv: ['--import', 'tsx'] },
    )
  const children = [startProcess(0), startProcess(1)]
  await Promise.all(children.map((process) => once(process, 'message')))
  const results = children.map((process) => once(process, 'message'))
  for (const process of children) process.send('go')
  const rates = await Promise.all(results)
  await Promise.all(children.map((process) => process.exitCode ?? once(process, 'exit')))
  return rates.reduce((sum, [rate]) => sum + Number(rate), 0)
}

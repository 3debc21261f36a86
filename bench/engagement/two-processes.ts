import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BenchDatabase } from '../database.ts'

/** Likes of one post a second from two processes at once, 32 clients each, in one of the ways. */
export async function twoProcesses(
  { uri, db }: BenchDatabase,
  way: 'seed' | 'feedline',
  post: { readonly id: string; readonly author: string },
  ms: number,
): Promise<number> {
  const child = (number: number): ChildProcess =>
    fork(
      join(import.meta.dirname, 'hot-child.ts'),
      [uri, db.databaseName, way, post.id, post.author, String(number * 100_000), '32', String(ms)],
      { execArgv: ['--import', 'tsx'] },
    )
  const children = [child(0), child(1)]
  await Promise.all(children.map((process) => once(process, 'message')))
  const results = children.map((process) => once(process, 'message'))
  for (const process of children) process.send('go')
  const rates = await Promise.all(results)
  await Promise.all(children.map((process) => process.exitCode ?? once(process, 'exit')))
  return rates.reduce((sum, [rate]) => sum + Number(rate), 0)
}

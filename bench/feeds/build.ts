import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

/**
 * Builds the server with tsc, as in production. @returns the folder of the build.
 * The output of tsx is slower: it adds a call for each nested function.
 */
export async function buildServer(): Promise<string> {
  const folder = resolve('.feedline/bench-build')
  const tsc = resolve('node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [
    tsc,
    '-p',
    'tsconfig.build.json',
    '--outDir',
    folder,
  ])
  return folder
}

import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

/** Builds the server as it is run: what tsx makes of it costs more at every call of a function within a function. */
export async function build(): Promise<string> {
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

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { root } from '../../support/process.ts'

/**
 * Unpacks the command line of an earlier release, which scripts/bundle-release.ts wrote.
 * @returns its folder, relative to the root.
 */
export async function earlierRelease(commit: string): Promise<string> {
  const packed = await readFile(join(root, `tests/fixtures/${commit}.js.gz`))
  const folder = `test-dist/${commit}`
  await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, folder, 'main.js'), await promisify(gunzip)(packed))
  return folder
}

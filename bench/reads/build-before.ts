import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** The commit with which the processor time of a post is compared. */
const commit = 'e62058d'
/** The packages of that commit that this one does not have. All others have the same interfaces. */
const packages = ['graphql-parse-resolve-info@4.14.1', 'graphql-query-complexity@2.0.0']
/** How long npm may take, in milliseconds. */
const npmMsMax = 60_000

/** The compiled server of an earlier commit. Its folder is deleted when it is disposed of. */
export interface BuiltBefore extends AsyncDisposable {
  readonly folder: string
}

/**
 * Builds the server of {@link commit} from the history, with tsc as the current one. Its folder is within this one, so
 * that both use the same packages.
 * @throws without the history, or if a package cannot be installed.
 */
export async function buildServerBefore(): Promise<BuiltBefore> {
  await mkdir('.feedline', { recursive: true })
  const folder = await mkdtemp(resolve('.feedline/bench-before-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const run = (file: string, args: readonly string[], timeout?: number) =>
    promisify(execFile)(file, args, { cwd: folder, ...(timeout ? { timeout } : {}) })
  try {
    const archive = join(folder, 'source.tar')
    const source = ['src', 'tsconfig.json', 'tsconfig.build.json']
    await run('git', ['-C', resolve('.'), 'archive', `--output=${archive}`, commit, ...source])
    await run('tar', ['xf', archive])
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    // Without their peers, so that there is one copy of graphql.
    const options = ['--no-save', '--no-package-lock', '--legacy-peer-deps', '--ignore-scripts']
    await run('npm', ['install', ...options, ...packages], npmMsMax)
    const tsc = resolve('node_modules/typescript/bin/tsc')
    await run(process.execPath, [
      tsc,
      '-p',
      'tsconfig.build.json',
      '--outDir',
      join(folder, 'dist'),
    ])
    return { folder: join(folder, 'dist'), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

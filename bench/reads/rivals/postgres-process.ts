import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { handleRequests } from '../../child-process.ts'
import { findFreePort } from './free-port.ts'
import { postgresAddress } from './postgres-feed.ts'

// A PostgreSQL server with its data in a temporary folder. It ends with this process, and this
// process with its parent. A signal may go to the whole group, so this process must outlive it to
// delete the folder, even while it starts.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

const binFolder = findBinFolder()
const user = process.getuid?.() === 0 ? readUser('postgres') : undefined
if (binFolder === undefined) handleRequests(() => ({ isMissing: true }))
else if (process.getuid?.() === 0 && user === undefined) handleRequests(() => ({ isMissing: true }))
else await startPostgres(binFolder)

async function startPostgres(folder: string): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'feedline-bench-postgres-'))
  if (user) chownSync(data, user.uid, user.gid)
  const remove = () => rm(data, { recursive: true, force: true })
  try {
    const flags = ['--username=feedline', '--auth=trust', '--encoding=UTF8', '--locale=C']
    // Its data need not be on disk before it starts.
    const made = spawnSync(join(folder, 'initdb'), ['--no-sync', '-D', data, ...flags], {
      ...{ ...asUser(), encoding: 'utf8' },
    })
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
    const port = await findFreePort()
    // A commit is on disk before it is acknowledged, which is also the default.
    const settings = ['synchronous_commit=on', 'fsync=on', 'shared_buffers=256MB']
    const server = spawn(
      join(folder, 'postgres'),
      [
        ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...asUser(), stdio: 'ignore', detached: true },
    )
    const ended = once(server, 'exit')
    const version = await untilReady(server, port)
    handleRequests(
      (message: { readonly cpu?: true }) =>
        message.cpu ? readCpu(server.pid ?? 0) : { port, version },
      async () => {
        // An immediate shutdown: the data is of no more use.
        server.kill('SIGQUIT')
        await ended
        await remove()
      },
    )
  } catch (error) {
    await remove()
    throw error
  }
}

/** The newest version of Debian's packages, or that of the PATH. */
function findBinFolder(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).map(Number) : []
  const folders = versions.sort((a, b) => b - a).map((version) => `${root}/${version}/bin`)
  return [...folders, ...(process.env.PATH ?? '').split(':')].find(
    (folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')),
  )
}

/** PostgreSQL refuses to run as root, so root starts it as the user of Debian's packages. */
function readUser(name: string): { uid: number; gid: number } | undefined {
  const line = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(
    readFileSync('/etc/passwd', 'utf8'),
  )
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined
}

function asUser() {
  return { cwd: tmpdir(), ...(user ?? {}) }
}

/** Waits until the server answers. @returns its version. */
async function untilReady(server: ChildProcess, port: number): Promise<string> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('PostgreSQL ended while it started')
    const client = new Client(postgresAddress(port))
    try {
      await client.connect()
      const { rows } = await client.query('show server_version')
      return String(rows[0].server_version)
    } catch {
      await sleep(50)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/** Microseconds of a clock tick in /proc. */
const tickUs = 10_000

/**
 * The processor time of PostgreSQL's processes in microseconds: of those that run, and of those
 * that have ended.
 */
function readCpu(server: number): NodeJS.CpuUsage {
  const fieldsOf = (pid: number | string): number[] => {
    try {
      // The name of the program may have spaces. The third field is the first one after it.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
    } catch {
      return []
    }
  }
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14]
  const total = { user: 0, system: 0 }
  const add = (fields: readonly number[], indexes: readonly [number, number]) => {
    total.user += (fields[indexes[0]] ?? 0) * tickUs
    total.system += (fields[indexes[1]] ?? 0) * tickUs
  }
  const own = fieldsOf(server)
  add(own, [user, system])
  add(own, [endedUser, endedSystem])
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = fieldsOf(pid)
    if (fields[parent] === server) add(fields, [user, system])
  }
  return total
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Room for one member's data, oplog and journal. */
const mebibytes = 700

/** Where a member keeps its data, and how a process gets to see that folder. */
export interface Disk {
  /** The folder of a member, as its mongod sees it. */
  readonly folderOf: (member: number) => string
  /** What to run instead of `command` so that the process sees the folders. */
  readonly wrap: (command: string, args: readonly string[]) => [string, readonly string[]]
  /** Writes to the member's disk until nothing more fits; undefined on a disk of unlimited size. */
  readonly fill?: (member: number) => Promise<void>
  /** Makes room again. */
  readonly empty?: (member: number) => Promise<void>
  readonly close: () => void
}

/** Plain folders below `root`. */
export async function plainDisk(root: string, members: number): Promise<Disk> {
  const folderOf = (member: number) => join(root, `member-${member}`)
  for (let member = 0; member < members; member++) await mkdir(folderOf(member))
  return { folderOf, wrap: (command, args) => [command, args], close: () => {} }
}

/**
 * One small tmpfs for each member, in a user and mount namespace that a child process holds. No root is needed.
 * @returns undefined where the machine allows no such namespace.
 */
export async function smallDisk(root: string, members: number): Promise<Disk | undefined> {
  const plain = await plainDisk(root, members)
  const folders = Array.from({ length: members }, (_, member) => plain.folderOf(member))
  const mounts = folders.map((folder) => `mount -t tmpfs -o size=${mebibytes}m tmpfs ${folder}`)
  const script = [...mounts, 'echo mounted', 'exec sleep infinity'].join(' && ')
  const keeper = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  if (!(await isMounted(keeper))) return undefined
  const seen = (member: number) => `/proc/${keeper.pid}/root${plain.folderOf(member)}`
  const filler = (member: number) => join(seen(member), 'filler')
  return {
    folderOf: plain.folderOf,
    wrap: (command, args) => [
      'nsenter',
      ['--preserve-credentials', '-U', '-m', '-t', String(keeper.pid), command, ...args],
    ],
    fill: async (member) => {
      const { bavail, bsize } = await statfs(seen(member))
      await writeFile(filler(member), Buffer.alloc(bavail * bsize)).catch(unlessFull)
    },
    empty: (member) => rm(filler(member), { force: true }),
    close: () => keeper.kill('SIGKILL'),
  }
}

async function isMounted(keeper: ChildProcess): Promise<boolean> {
  const mounted = keeper.stdout ? once(keeper.stdout, 'data').then(() => true) : false
  const failed = Promise.race([once(keeper, 'exit'), once(keeper, 'error')]).then(() => false)
  return Promise.race([mounted, failed])
}

function unlessFull(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
}

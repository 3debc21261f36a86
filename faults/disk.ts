import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The size of one member's disk for data, oplog and journal, in MiB. */
const diskMebibytes = 700

/** The disks of all members. A disk may be visible only in a mount namespace. */
export interface Disk {
  /** The path of a member's folder, as its mongod sees it. */
  readonly folderOf: (member: number) => string
  /** Wraps a command so that its process sees the folders. */
  readonly wrapCommand: (command: string, args: readonly string[]) => [string, readonly string[]]
  /** Fills a member's disk. Undefined if the size of the disks is not limited. */
  readonly fill?: (member: number) => Promise<void>
  /** Frees the space that {@link Disk.fill} took. */
  readonly empty?: (member: number) => Promise<void>
  readonly close: () => void
}

/** Creates plain folders in `root`. */
export async function createPlainDisk(root: string, members: number): Promise<Disk> {
  const folderOf = (member: number) => join(root, `member-${member}`)
  for (let member = 0; member < members; member++) await mkdir(folderOf(member))
  return { folderOf, wrapCommand: (command, args) => [command, args], close: () => {} }
}

/**
 * Creates one small tmpfs per member, in a user and mount namespace that a child process holds.
 * Needs no root.
 * @returns undefined if the machine does not allow such a namespace.
 */
export async function createSmallDisk(root: string, members: number): Promise<Disk | undefined> {
  const plain = await createPlainDisk(root, members)
  const folders = Array.from({ length: members }, (_, member) => plain.folderOf(member))
  const mounts = folders.map((folder) => `mount -t tmpfs -o size=${diskMebibytes}m tmpfs ${folder}`)
  const script = [...mounts, 'echo mounted', 'exec sleep infinity'].join(' && ')
  const namespaceHolder = spawn(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', script],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  )
  if (!(await isMounted(namespaceHolder))) return undefined
  const hostPath = (member: number) => `/proc/${namespaceHolder.pid}/root${plain.folderOf(member)}`
  const filler = (member: number) => join(hostPath(member), 'filler')
  return {
    folderOf: plain.folderOf,
    wrapCommand: (command, args) => [
      'nsenter',
      ['--preserve-credentials', '-U', '-m', '-t', String(namespaceHolder.pid), command, ...args],
    ],
    fill: async (member) => {
      const { bavail, bsize } = await statfs(hostPath(member))
      await writeFile(filler(member), Buffer.alloc(bavail * bsize)).catch(ignoreDiskFull)
    },
    empty: (member) => rm(filler(member), { force: true }),
    close: () => namespaceHolder.kill('SIGKILL'),
  }
}

async function isMounted(namespaceHolder: ChildProcess): Promise<boolean> {
  const mounted = namespaceHolder.stdout
    ? once(namespaceHolder.stdout, 'data').then(() => true)
    : false
  const failed = Promise.race([once(namespaceHolder, 'exit'), once(namespaceHolder, 'error')]).then(
    () => false,
  )
  return Promise.race([mounted, failed])
}

function ignoreDiskFull(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
}

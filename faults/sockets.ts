import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Finds the process that owns the other end of a local connection, in Linux's /proc.
 * @param port the port of the other end.
 * @param pids the processes to search, by key.
 * @returns the key of the process. Undefined for any other process, and on a machine without /proc.
 */
export async function findOwner(
  port: number,
  pids: ReadonlyMap<number, number>,
): Promise<number | undefined> {
  const inode = await findInode(port)
  if (inode === undefined) return undefined
  const owners = await Promise.all(
    [...pids].map(async ([key, pid]) => ((await ownsSocket(pid, inode)) ? key : undefined)),
  )
  return owners.find((key) => key !== undefined)
}

/** Whether this machine has /proc/net/tcp, in which {@link findOwner} searches. */
export const hasProcfs = async (): Promise<boolean> =>
  (await readFile('/proc/net/tcp', 'utf8').catch(() => '')) !== ''

/** Finds the inode of the socket with this local port. */
async function findInode(port: number): Promise<string | undefined> {
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '')
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const row = table.split('\n').find((line) => line.trim().split(/\s+/)[1]?.endsWith(local))
  return row?.trim().split(/\s+/)[9]
}

async function ownsSocket(pid: number, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const links = await Promise.all(
    names.map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return links.includes(`socket:[${inode}]`)
}

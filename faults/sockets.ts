import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Which process holds the other end of a local connection, found in Linux's /proc.
 * @param port the port of that end.
 * @param pids the processes to look at, by a key.
 * @returns the key of the process that holds it; undefined for another process, and where there is no /proc.
 */
export async function holderOf(
  port: number,
  pids: ReadonlyMap<number, number>,
): Promise<number | undefined> {
  const inode = await inodeOf(port)
  if (inode === undefined) return undefined
  const held = await Promise.all(
    [...pids].map(async ([key, pid]) => ((await holds(pid, inode)) ? key : undefined)),
  )
  return held.find((key) => key !== undefined)
}

/** Whether this machine can tell the ends of local connections apart. */
export const hasProc = async (): Promise<boolean> =>
  (await readFile('/proc/net/tcp', 'utf8').catch(() => '')) !== ''

/** The socket whose local port this is. */
async function inodeOf(port: number): Promise<string | undefined> {
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '')
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const row = table.split('\n').find((line) => line.trim().split(/\s+/)[1]?.endsWith(local))
  return row?.trim().split(/\s+/)[9]
}

async function holds(pid: number, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const links = await Promise.all(
    names.map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return links.includes(`socket:[${inode}]`)
}

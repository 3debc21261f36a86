import { randomUUID } from 'node:crypto'
import { link, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { MongodError } from './error.ts'
import { isAlive } from './pid.ts'

const heartbeatMs = 1_000
const staleMs = 15_000
const pollMs = 10
const waitMsMax = 15 * 60_000

/**
 * Runs `work` while no other caller, in this process or another, runs any under the same lock file.
 * @throws as {@link acquireLock}.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const release = await acquireLock(file)
  try {
    return await work()
  } finally {
    await release()
  }
}

/**
 * Acquires the lock that `file` stands for. The lock of a process that died, or that has not
 * touched the file for 15 s, is taken over by exactly one waiter.
 * @returns the function that releases it.
 * @throws {MongodError} when the lock is not free within 15 minutes.
 */
export async function acquireLock(file: string): Promise<() => Promise<void>> {
  const token = `${process.pid} ${randomUUID()}`
  const deadline = performance.now() + waitMsMax
  while (!(await createLock(file, token))) {
    await removeIfStale(file)
    if (performance.now() > deadline)
      throw new MongodError(`${file} has been locked for 15 minutes.`)
    await sleep(pollMs)
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => undefined)
  }, heartbeatMs).unref()
  return async () => {
    clearInterval(heartbeat)
    if ((await contentOf(file)) === token) await unlink(file).catch(ignoreMissing)
  }
}

async function createLock(file: string, token: string): Promise<boolean> {
  try {
    await writeFile(file, token, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** If another process has acquired the lock since it was read, the moved file is put back. */
async function removeIfStale(file: string): Promise<void> {
  const seen = await contentOf(file)
  if (seen === undefined || !(await isStale(file, seen))) return
  const aside = `${file}.${randomUUID()}`
  try {
    await rename(file, aside)
    if ((await contentOf(aside)) !== seen) await link(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') ignoreMissing(error)
  }
  await unlink(aside).catch(ignoreMissing)
}

async function isStale(file: string, content: string): Promise<boolean> {
  const pid = Number.parseInt(content, 10)
  if (pid > 0 && !isAlive(pid)) return true
  const found = await stat(file).catch(ignoreMissing)
  return found !== undefined && Date.now() - found.mtimeMs > staleMs
}

const contentOf = (file: string) => readFile(file, 'utf8').catch(ignoreMissing)

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

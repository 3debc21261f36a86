import { randomUUID } from 'node:crypto'
import { link, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { EmbeddedError } from './error.ts'
import { isAlive } from './pid.ts'

const beatMs = 1_000
const staleMs = 15_000
const pollMs = 50
const waitMsMax = 15 * 60_000

/**
 * Runs `work` while no other process, and no other caller in this one, runs any under this file.
 * The file of a holder that died, or has not touched it for 15 s, is taken over.
 * @throws {EmbeddedError} when it is not free within 15 minutes.
 */
export async function exclusively<T>(file: string, work: () => Promise<T>): Promise<T> {
  const release = await hold(file)
  try {
    return await work()
  } finally {
    await release()
  }
}

/**
 * Takes the lock that `file` stands for.
 * @returns what gives it back.
 * @throws {EmbeddedError} when it is not free within 15 minutes.
 */
export async function hold(file: string): Promise<() => Promise<void>> {
  const token = `${process.pid} ${randomUUID()}`
  const deadline = performance.now() + waitMsMax
  while (!(await taken(file, token))) {
    await removeIfStale(file)
    if (performance.now() > deadline)
      throw new EmbeddedError(`${file} has been locked for 15 minutes.`)
    await sleep(pollMs)
  }
  const beat = setInterval(() => touch(file), beatMs).unref()
  return async () => {
    clearInterval(beat)
    if ((await contentOf(file)) === token) await unlink(file).catch(ifGone)
  }
}

async function taken(file: string, token: string): Promise<boolean> {
  try {
    await writeFile(file, token, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What is moved away may be a lock taken since it was looked at: then it is put back. */
async function removeIfStale(file: string): Promise<void> {
  const seen = await contentOf(file)
  if (seen === undefined || !(await isStale(file, seen))) return
  const aside = `${file}.${randomUUID()}`
  try {
    await rename(file, aside)
    if ((await contentOf(aside)) !== seen) await link(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') ifGone(error)
  }
  await unlink(aside).catch(ifGone)
}

async function isStale(file: string, content: string): Promise<boolean> {
  const pid = Number.parseInt(content, 10)
  if (pid > 0 && !isAlive(pid)) return true
  const touchedMs = await stat(file).then((found) => found.mtimeMs, ifGone)
  return touchedMs !== undefined && Date.now() - touchedMs > staleMs
}

function touch(file: string): void {
  const now = new Date()
  utimes(file, now, now).catch(() => undefined)
}

const contentOf = (file: string) => readFile(file, 'utf8').catch(ifGone)

function ifGone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

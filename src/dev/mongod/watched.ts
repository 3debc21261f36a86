import { spawn } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const pollMs = 1_000
const sayEveryMs = 5_000
const runMsMax = 30 * 60_000
const outputCharsMax = 20_000

/** How a program that fetches something into a folder is watched. */
export interface Watch {
  readonly env: NodeJS.ProcessEnv
  /** What grows while there is progress. */
  readonly folder: string
  /** Without progress for this long, the program is ended. */
  readonly idleMs: number
  readonly say: (line: string) => void
}

/**
 * Runs a program for as long as its folder grows, at most half an hour.
 * @returns what it wrote to standard output.
 * @throws with the last line of its standard error when it fails, or when it stalls.
 */
export async function runWatched(program: string, args: readonly string[], watch: Watch) {
  const child = spawn(program, args, { env: watch.env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    output.out = (output.out + chunk).slice(-outputCharsMax)
  })
  child.stderr.on('data', (chunk) => {
    output.err = (output.err + chunk).slice(-outputCharsMax)
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const stopWatching = watchGrowth(watch, () => child.kill('SIGKILL'))
  try {
    const code = await ended
    if (code === 0) return output.out
    if (stopWatching()) throw new Error(`no output for ${watch.idleMs / 1000} s`)
    throw new Error(output.err.trim().split('\n').at(-1) || `the command ended with ${code}`)
  } finally {
    stopWatching()
  }
}

/** @returns what ends the watch, and tells whether it called `stalled`. */
function watchGrowth({ folder, idleMs, say }: Watch, stalled: () => void): () => boolean {
  const startedMs = performance.now()
  let hasStalled = false
  let size = 0
  let grownMs = startedMs
  let saidMs = startedMs
  const timer = setInterval(async () => {
    const now = performance.now()
    const grown = await sizeOf(folder)
    if (grown !== size) grownMs = now
    size = grown
    if (now - grownMs > idleMs || now - startedMs > runMsMax) {
      hasStalled = true
      stalled()
    } else if (now - saidMs >= sayEveryMs) {
      saidMs = now
      say(`… ${(size / 1e6).toFixed(0)} MB after ${((now - startedMs) / 1000).toFixed(0)} s`)
    }
  }, pollMs)
  return () => {
    clearInterval(timer)
    return hasStalled
  }
}

/** A file that goes away meanwhile counts as empty. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      (found) => found.size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

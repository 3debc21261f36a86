import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { tokenSecret } from '../tokens.ts'

const program = join(import.meta.dirname, 'worker-process.ts')

/** The database that workers use. */
export interface WorkedDatabase {
  /** The address of the primary. Workers use no other member. */
  readonly uri: string
  readonly name: string
}

/**
 * Starts processes of `feedline worker`, as built, with their default settings. Each is ready to
 * claim jobs. They end when they are disposed of, or when this process ends.
 */
export async function startWorkers(
  buildFolder: string,
  { uri, name }: WorkedDatabase,
  count: number,
): Promise<AsyncDisposable> {
  const workers = await Promise.all(
    Array.from({ length: count }, async () => {
      const worker = spawn(process.execPath, ['--import', 'tsx', program], {
        env: {
          ...process.env,
          ...{ MONGODB_URI: uri, MONGODB_DATABASE: name, ADMIN_PORT: '0', LOG_LEVEL: 'info' },
          ...{
            NODE_ENV: 'production',
            FEEDLINE_BUILT: buildFolder,
            AUTH_JWT_SECRET: tokenSecret,
          },
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const kill = () => worker.kill('SIGKILL')
      process.once('exit', kill)
      worker.once('exit', () => process.off('exit', kill))
      await untilReady(worker)
      return worker
    }),
  )
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(
        workers.map(async (worker) => {
          if (worker.exitCode !== null) return
          const ended = once(worker, 'exit')
          worker.kill('SIGTERM')
          await ended
        }),
      )
    },
  }
}

async function untilReady(worker: ChildProcess): Promise<void> {
  if (!worker.stdout) throw new Error('a worker has no output')
  const lines = createInterface({ input: worker.stdout })
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.includes('jobs at a time')) resolve()
    })
    worker.once('exit', (code) => reject(new Error(`a worker ended with exit code ${code}`)))
  })
  await ready
}

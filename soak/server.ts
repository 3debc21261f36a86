import type { Cleanup } from '../faults/cleanup.ts'
import { secret } from '../tests/attacks/attack.ts'
import { feedline } from '../tests/support/process.ts'

/** The memory of a process, in bytes. */
export interface ServerMemory {
  readonly residentBytes: number
  /** Of objects and buffers, also of those that no one uses any more. */
  readonly usedBytes: number
}

/** A production process of `feedline serve`. */
export interface Server {
  readonly url: string
  readonly port: number
  readMemory(): Promise<ServerMemory>
  /** Asks the process to stop. @returns its exit code. */
  stop(): Promise<number | null>
}

/** Starts a server of the compiled program in `dist`. The cleanup kills it. */
export async function startServer(
  env: Readonly<Record<string, string>>,
  cleanup: Cleanup,
): Promise<Server> {
  const production = { NODE_ENV: 'production', AUTH_JWT_SECRET: secret, PORT: '0', ADMIN_PORT: '0' }
  const { child, says, ended } = feedline(['serve'], { ...production, ...env }, 'dist')
  cleanup.add(() => void child.kill('SIGKILL'))
  const [, admin = ''] = await says(/metrics and probes: (http:\S+)\/metrics/)
  const [, url = ''] = await says(/GraphQL: (http:\S+)\/graphql/)
  return {
    url,
    port: Number(new URL(url).port),
    readMemory: async () => {
      const text = await (await fetch(`${admin}/metrics`)).text()
      const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
      return {
        residentBytes: read('process_resident_memory_bytes'),
        usedBytes: read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes'),
      }
    },
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

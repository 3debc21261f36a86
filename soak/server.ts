import type { Cleanup } from '../faults/cleanup.ts'
import { secret } from '../tests/attacks/attack.ts'
import { feedline } from '../tests/support/process.ts'

/** A production process of `feedline serve`. */
export interface Server {
  readonly url: string
  readonly port: number
  /** The memory of the process, in bytes. */
  readResidentBytes(): Promise<number>
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
    readResidentBytes: async () => {
      const text = await (await fetch(`${admin}/metrics`)).text()
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
    },
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

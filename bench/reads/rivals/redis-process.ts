import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { handleRequests } from '../../child-process.ts'
import { findFreePort } from './free-port.ts'

// A redis-server with its data in a temporary folder. It ends with this process, and this process with its parent.
// A signal may go to the whole group, so this process must outlive it to delete the folder, even while it starts.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

const { error } = spawnSync('redis-server', ['--version'])
if (error) {
  handleRequests(() => ({ isMissing: true }))
} else {
  await startRedis()
}

async function startRedis(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-bench-redis-'))
  const port = await findFreePort()
  // A write is in its journal on disk before it is acknowledged, as those of the other sides are.
  const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...flags],
    { stdio: 'ignore' },
  )
  const ended = once(server, 'exit')
  const client = new Redis({ port, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  const version = /^redis_version:(.*)/m.exec(await client.info('server'))?.[1]?.trim()
  handleRequests(
    async (message: { readonly cpu?: true }) =>
      message.cpu ? await readCpu(client) : { port, version },
    async () => {
      client.disconnect()
      server.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  )
}

/** The processor time of Redis in microseconds. */
async function readCpu(client: Redis): Promise<NodeJS.CpuUsage> {
  const info = await client.info('cpu')
  const read = (name: string) => Number(new RegExp(`^${name}:(.*)`, 'm').exec(info)?.[1]) * 1e6
  return { user: read('used_cpu_user'), system: read('used_cpu_sys') }
}

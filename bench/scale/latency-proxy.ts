import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy that runs until it is disposed of. */
export interface LatencyProxy extends AsyncDisposable {
  readonly port: number
}

/**
 * Starts a TCP proxy on this machine. Each byte arrives `delayMs` milliseconds later than without
 * it, in each direction. The order and the rate of the bytes stay the same: commands on one
 * connection are under way at the same time.
 * @param target the port on this machine to which it connects.
 */
export async function startLatencyProxy(target: number, delayMs: number): Promise<LatencyProxy> {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      from.setNoDelay(true)
      from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), delayMs))
      from.on('end', () => setTimeout(() => to.end(), delayMs))
      from.on('error', () => to.destroy())
      from.on('close', () => open.delete(from))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

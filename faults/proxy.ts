import { once } from 'node:events'
import { createServer, connect as openSocket, type Server, type Socket } from 'node:net'
import { findOwner } from './sockets.ts'

/** The side that opens a connection: a member of the replica set by its index, or a client. */
export type Endpoint = number | 'client'

/** The two sockets of one connection through a proxy. */
interface Pair {
  readonly from: Endpoint
  readonly near: Socket
  readonly far: Socket
}

/**
 * A TCP proxy in front of one member of the replica set. All members and clients connect to the
 * proxy. A cut stops the bytes of one direction without closing a connection, as a network that
 * drops packets does. When the cut ends, the held bytes are delivered.
 */
export class MemberProxy {
  private readonly pairs = new Set<Pair>()
  /** The directions that are cut, as `from>to`. */
  private cuts: ReadonlySet<string> = new Set()

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly member: number; readonly port: number },
    private readonly pids: () => ReadonlyMap<number, number>,
  ) {
    server.on('connection', (socket) => void this.acceptConnection(socket))
  }

  /**
   * Listens on a free port of 127.0.0.1.
   * @param target the member behind the proxy and the port that its mongod listens on.
   * @param pids the process id of each running member, by index.
   */
  static async listen(
    target: { readonly member: number; readonly port: number },
    pids: () => ReadonlyMap<number, number>,
  ): Promise<MemberProxy> {
    const server = createServer({ pauseOnConnect: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new MemberProxy(server, target, pids)
  }

  /** The port that members and clients connect to. */
  get port(): number {
    const address = this.server.address()
    if (typeof address !== 'object' || !address) throw new Error('the proxy is closed')
    return address.port
  }

  /** Stops the bytes of these directions, and forwards them in all other directions. */
  setCuts(directions: ReadonlySet<string>): void {
    this.cuts = directions
    for (const pair of this.pairs) this.applyCuts(pair)
  }

  /** Closes all connections and the port. */
  close(): void {
    this.server.close()
    for (const { near, far } of this.pairs) {
      near.destroy()
      far.destroy()
    }
  }

  private async acceptConnection(near: Socket): Promise<void> {
    near.on('error', () => near.destroy())
    const from = near.remotePort && (await findOwner(near.remotePort, this.pids()))
    if (near.destroyed) return
    const far = openSocket({ host: '127.0.0.1', port: this.target.port })
    const pair: Pair = { from: typeof from === 'number' ? from : 'client', near, far }
    this.pairs.add(pair)
    const end = () => {
      this.pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.setNoDelay().once('error', end).once('close', end)
    this.applyCuts(pair)
  }

  private applyCuts({ from, near, far }: Pair): void {
    const { member } = this.target
    setFlow(near, far, !this.cuts.has(`${from}>${member}`))
    setFlow(far, near, !this.cuts.has(`${member}>${from}`))
  }
}

/** Forwards the bytes of one socket to another socket, or holds them. */
function setFlow(source: Socket, sink: Socket, open: boolean): void {
  source.unpipe(sink)
  if (open) source.pipe(sink)
  else source.pause()
}

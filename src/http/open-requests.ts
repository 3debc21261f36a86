import type { FastifyInstance, FastifyReply } from 'fastify'
import { refuse } from './error-body.ts'
import type { Readiness } from './readiness.ts'

/**
 * How long cut requests have to receive their answers before their connections are closed, in
 * milliseconds.
 */
const flushMs = 200

/** Requests that are not answered yet. */
export class OpenRequests {
  private readonly open = new Set<FastifyReply>()

  /**
   * Watches the requests of a server. While the process stops, each answer asks the client to close
   * its connection, so that the client sends its next request to another process.
   */
  constructor(
    private readonly http: FastifyInstance,
    readiness: Readiness,
  ) {
    http.addHook('onRequest', (_, reply, done) => {
      this.open.add(reply)
      reply.raw.on('close', () => this.open.delete(reply))
      done()
    })
    http.addHook('onSend', (_, reply, _payload, done) => {
      if (readiness.isStopping) reply.header('connection', 'close')
      done()
    })
  }

  /**
   * Stops the server: takes no connection, waits for running requests up to `withinMs`
   * milliseconds, then answers the rest with UNAVAILABLE and closes their connections.
   */
  async close(withinMs: number): Promise<void> {
    const closed = this.http.close()
    const cut = setTimeout(() => this.cut(), Math.max(0, withinMs - flushMs))
    const end = setTimeout(() => this.http.server.closeAllConnections(), withinMs)
    await closed
    clearTimeout(cut)
    clearTimeout(end)
  }

  private cut(): void {
    for (const reply of this.open) {
      if (reply.sent) continue
      const problem = 'The server stops. Repeat a mutation with the same clientMutationId.'
      refuse(reply, 'UNAVAILABLE', problem)
    }
  }
}

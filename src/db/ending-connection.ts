import type { Document } from 'mongodb'
import { Connection } from 'mongodb/lib/cmap/connection.js'

/**
 * A connection whose commands end when it is closed, with the error of the connection.
 *
 * Otherwise a command never ends if the driver writes it in the moment between the end of its
 * socket and the event that tells the driver so. Such a write returns false. The driver then waits
 * until the socket has room again, but a destroyed socket has neither this event nor an error. A
 * server that is killed ends many sockets at once. One such command would stop all reads that wait
 * for it, or the watch for a new primary.
 */
export class EndingConnection extends Connection {
  override async command(
    namespace: object,
    command: Document,
    options?: object,
    responseType?: unknown,
  ): Promise<unknown> {
    let onClose: () => void = () => {}
    const closed = new Promise<never>((_, reject) => {
      onClose = () => afterDriver(() => reject(this.error))
    })
    this.once('close', onClose)
    try {
      return await Promise.race([super.command(namespace, command, options, responseType), closed])
    } finally {
      this.off('close', onClose)
    }
  }

  override exhaustCommand(
    namespace: object,
    command: Document,
    options: object,
    listener: (error: unknown, reply?: Document) => void,
  ): void {
    let isOver = false
    const listenOnce = (error: unknown, reply?: Document) => {
      if (isOver) return
      isOver = error !== undefined
      listener(error, reply)
    }
    this.once('close', () => afterDriver(() => listenOnce(this.error)))
    super.exhaustCommand(namespace, command, options, listenOnce)
  }
}

/** The driver's own end of a command comes first, if there is one: it also changes the session. */
const afterDriver = (end: () => void): void => void setImmediate(end)

/** The class of connection of the MongoDB driver, which the driver exports as a type only. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events'
  import type { Document } from 'mongodb'

  export class Connection extends EventEmitter {
    /** Why the connection is closed. Set before the event `close`. */
    readonly error: Error | null

    /** Sends a command. @throws the error of the server, or of the connection. */
    command(
      namespace: object,
      command: Document,
      options?: object,
      responseType?: unknown,
    ): Promise<unknown>

    /**
     * Sends a command that the server answers again and again. @param listener gets the replies,
     * and at last an error.
     */
    exhaustCommand(
      namespace: object,
      command: Document,
      options: object,
      listener: (error: unknown, reply?: Document) => void,
    ): void
  }
}

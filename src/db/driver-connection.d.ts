/** The class of connection of the MongoDB driver, which the driver exports as a type only. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { Document } from 'mongodb'

  export class Connection {
    /** Sends a command. @throws the error of the server, or of the connection. */
    command(
      namespace: object,
      command: Document,
      options?: object,
      responseType?: unknown,
    ): Promise<unknown>
  }
}

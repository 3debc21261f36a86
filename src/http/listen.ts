import type { FastifyInstance } from 'fastify'

/**
 * Begins to listen.
 * @param variable the environment variable of the port, for the message of a used port.
 * @returns the URL, without a slash at the end.
 * @throws {Error} one sentence, if the port is in use. The server is closed then.
 */
export async function listenOn(
  http: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  variable: 'PORT' | 'ADMIN_PORT',
): Promise<string> {
  try {
    const address = await http.listen({ host, port })
    return host === '127.0.0.1' ? address.replace('127.0.0.1', 'localhost') : address
  } catch (error) {
    await http.close()
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use: set ${variable} to another port`, { cause: error })
    }
    throw error
  }
}

import type { FastifyInstance } from 'fastify'
import { shown } from '../lib/shown.ts'

/**
 * Begins to listen.
 * @param prefix the beginning of the names of the environment variables, for errors.
 * @returns the URL, without a slash at the end.
 * @throws {Error} one sentence that names the variable, if the address cannot be used. The server
 *   is closed then.
 */
export async function listenOn(
  http: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  prefix: '' | 'ADMIN_' = '',
): Promise<string> {
  try {
    const address = await http.listen({ host, port })
    return host === '127.0.0.1' ? address.replace('127.0.0.1', 'localhost') : address
  } catch (error) {
    await http.close()
    const problem = problemOf(error as NodeJS.ErrnoException, host, port)
    throw problem ? new Error(`${prefix}${problem}`, { cause: error }) : error
  }
}

function problemOf({ code }: NodeJS.ErrnoException, host: string, port: number) {
  if (code === 'EADDRINUSE') return `PORT: port ${port} of ${host} is in use; set another port`
  if (code === 'EACCES') {
    return `PORT: this user may not listen on port ${port}; set a port from 1024 on`
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EINVAL') {
    return `HOST: ${shown(host)} is no address of this machine; set one, or 0.0.0.0 for all`
  }
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    ? `HOST: the name ${shown(host)} is unknown (${code}); set an address of this machine`
    : undefined
}

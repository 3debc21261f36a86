import { type FastifyInstance, fastify } from 'fastify'
import { measureProcess } from '../metrics/process.ts'
import { registry } from '../metrics/registry.ts'
import type { OperationsConfig } from './config.ts'
import { listenOn } from './listen.ts'
import { addLiveness, addReadiness } from './probes.ts'
import type { Readiness } from './readiness.ts'

/** The listener of operators. Its disposal closes it, with all its connections. */
export interface Admin extends AsyncDisposable {
  /** `http://…`, without a slash at the end. */
  readonly url: string
}

/**
 * Serves `/metrics`, `/livez` and `/readyz` apart from the public address. It has no
 * authentication: bind it to an address that only operators reach.
 * @throws {Error} one sentence, if the port is in use.
 */
export async function startAdmin(
  address: OperationsConfig['admin'],
  readiness: Readiness,
): Promise<Admin> {
  measureProcess()
  const http = createAdmin(readiness)
  const url = await listenOn(http, address, 'ADMIN_')
  return { url, [Symbol.asyncDispose]: async () => http.close() }
}

function createAdmin(readiness: Readiness): FastifyInstance {
  const http = fastify({ forceCloseConnections: true, requestTimeout: 10_000, bodyLimit: 1_024 })
  addLiveness(http, '/livez')
  addReadiness(http, readiness)
  http.get('/metrics', async (_, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
  return http
}

import type { FastifyInstance } from 'fastify'
import type { Readiness } from './readiness.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A probe is neither logged nor counted. */
    probe?: true
  }
}

const config = { probe: true } as const

/** Adds a path that answers 200 while the process runs. */
export function addLiveness(http: FastifyInstance, path: string): void {
  http.get(path, { config }, async () => ({ status: 'up' }))
}

/** Adds `/readyz`: 200 if the process should get requests, otherwise 503. */
export function addReadiness(http: FastifyInstance, readiness: Readiness): void {
  http.get('/readyz', { config }, async (_, reply) => {
    const status = await readiness.state()
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}

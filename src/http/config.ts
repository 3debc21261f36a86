import { z } from 'zod'
import { type Given, portNumber, readVariables } from '../config.ts'

/** How the process is watched. */
export interface OperationsConfig {
  /** The listener for metrics and probes, apart from the public address. */
  readonly admin: { readonly host: string; readonly port: number }
  /** From which duration on a request is logged as slow, in milliseconds. */
  readonly slowMs: number
}

const variables = z.object({
  ADMIN_HOST: z.string().min(1).default('127.0.0.1'),
  ADMIN_PORT: portNumber.default(0),
  SLOW_REQUEST_MS: z.coerce.number().int().min(1).default(1_000),
})

/** The names of the environment variables of operation. */
export const operationsVariableNames: readonly string[] = Object.keys(variables.shape)

/** Reads the part of the configuration that concerns operation. */
export function readOperationsConfig(given: Given): {
  config: OperationsConfig
  problems: readonly string[]
} {
  const { values: e, problems } = readVariables(variables, given)
  const config = {
    admin: { host: e.ADMIN_HOST, port: e.ADMIN_PORT },
    slowMs: e.SLOW_REQUEST_MS,
  }
  return { config, problems }
}

import { z } from 'zod'
import {
  decimal,
  type Given,
  httpUrl,
  listenHost,
  port,
  readVariables,
  wholeNumber,
} from '../lib/variables.ts'

/** How the process is watched and stopped, and how long it waits for clients. */
export interface OperationsConfig {
  /** The listener for metrics and probes, apart from the public address. */
  readonly admin: { readonly host: string; readonly port: number }
  /** How long the process still serves after a signal, while its readiness says 503, in milliseconds. */
  readonly drainMs: number
  /** How long it may take to stop after that, in milliseconds. */
  readonly stopMs: number
  /** The most time in which a request must arrive, in milliseconds. */
  readonly receiveMs: number
  /** How long an idle connection of a client stays open, in milliseconds. */
  readonly keepAliveMs: number
  /** From which duration on a request is logged as slow, in milliseconds. */
  readonly slowMs: number
  /** The base URL of the collector that spans are sent to. Undefined: tracing is off. */
  readonly traceEndpoint: string | undefined
}

const secondsMax = 600
const seconds = (min: number) => decimal(min, secondsMax)

/** A drain in production: longer than two probes of a usual balancer. */
const productionDrainSeconds = 10

/** In production, a scraper needs to know the port. It is that of the image. */
const productionAdminPort = 4001

const variables = z.object({
  ADMIN_HOST: listenHost.default('127.0.0.1'),
  ADMIN_PORT: port.optional(),
  DRAIN_SECONDS: seconds(0).optional(),
  STOP_SECONDS: seconds(1).default(15),
  RECEIVE_SECONDS: seconds(1).default(30),
  // Longer than the 60 s after which many balancers close an idle connection.
  KEEP_ALIVE_SECONDS: wholeNumber(1, 86_400).default(72),
  SLOW_REQUEST_MS: wholeNumber(1, 1e9).default(1_000),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
})

/** The names of the environment variables of operation. */
export const operationsVariableNames: readonly string[] = Object.keys(variables.shape)

/** Reads the part of the configuration that concerns operation. */
export function readOperationsConfig(
  given: Given,
  { production }: { readonly production: boolean },
): { config: OperationsConfig; problems: readonly string[] } {
  const { values: e, problems } = readVariables(variables, given)
  const config = {
    admin: { host: e.ADMIN_HOST, port: e.ADMIN_PORT ?? (production ? productionAdminPort : 0) },
    drainMs: (e.DRAIN_SECONDS ?? (production ? productionDrainSeconds : 0)) * 1_000,
    stopMs: e.STOP_SECONDS * 1_000,
    receiveMs: e.RECEIVE_SECONDS * 1_000,
    keepAliveMs: e.KEEP_ALIVE_SECONDS * 1_000,
    slowMs: e.SLOW_REQUEST_MS,
    traceEndpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT,
  }
  return { config, problems }
}

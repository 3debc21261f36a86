import {
  decimal,
  type Given,
  httpUrl,
  listenHost,
  port,
  readVariables,
  type Variables,
} from '../lib/variables.ts'

/** How the process is watched and stopped, and how long it waits for clients. */
export interface OperationsConfig {
  /** The listener for metrics and probes, apart from the public address. */
  readonly admin: { readonly host: string; readonly port: number }
  /**
   * How long the process still serves after a signal, while its readiness says 503, in
   * milliseconds.
   */
  readonly drainMs: number
  /** How long it may take to stop after that, in milliseconds. */
  readonly stopMs: number
  /** The most time in which a request must arrive, in milliseconds. */
  readonly receiveMs: number
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

/**
 * In this time a request of the standard length is answered, and then jobs and the database are
 * closed.
 */
const stopMs = 15_000

/**
 * A request of the largest size, and the largest answer, pass in this time through a phone's slow
 * network.
 */
const receiveMs = 30_000

/**
 * Twice the slowest page of the benchmarks under load. The histogram of durations has every other
 * bound.
 */
const slowMs = 1_000

/** The environment variables of operation, with their texts for docs/reference/configuration.md. */
export const operationsVariables = {
  ADMIN_HOST: {
    schema: listenHost.default('127.0.0.1'),
    reason:
      'The address of `/metrics`, `/livez` and `/readyz`, for [operators](../how-to/operations.md#listeners-and-probes) only',
    processes: 'own',
  },
  ADMIN_PORT: {
    schema: port.optional(),
    unset: '`4001` in production, else any free one',
    reason: 'Its port, which the log names. Two processes on one host need two',
    processes: 'own',
  },
  DRAIN_SECONDS: {
    schema: seconds(0).optional(),
    unset: '`10` in production, else `0`',
    reason:
      'How long a signalled process [still serves](../how-to/operations.md#stop-and-restart) while `/readyz` says 503: longer than your balancer takes to notice',
    processes: 'own',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl.optional(),
    unset: 'no tracing',
    reason: 'The collector to which requests and jobs are [traced](../how-to/operations.md#traces)',
    processes: 'own',
  },
} as const satisfies Variables

/** Reads the part of the configuration that concerns operation. */
export function readOperationsConfig(
  environment: Given,
  { production }: { readonly production: boolean },
): { config: OperationsConfig; problems: readonly string[] } {
  const { values: e, problems } = readVariables(operationsVariables, environment)
  const config = {
    admin: { host: e.ADMIN_HOST, port: e.ADMIN_PORT ?? (production ? productionAdminPort : 0) },
    drainMs: (e.DRAIN_SECONDS ?? (production ? productionDrainSeconds : 0)) * 1_000,
    stopMs,
    receiveMs,
    slowMs,
    traceEndpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT,
  }
  return { config, problems }
}

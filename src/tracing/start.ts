import { propagation } from '@opentelemetry/api'
import type { Log } from '../log.ts'
import { useTracer } from './spans.ts'

/** The most time that the last spans may take to be sent at a stop, in milliseconds. */
const flushMsMax = 1_000

const unsent = 'spans could not be sent'

/**
 * Sends spans to a collector by OTLP over HTTP, until it is disposed of. Loads OpenTelemetry's SDK
 * only then. Spans that a collector does not take in time are dropped, with a warning: at most
 * 2,048 wait. The SDK reads the other standard variables itself, such as `OTEL_TRACES_SAMPLER`.
 * @param endpoint the base URL of the collector. Undefined: tracing stays off.
 */
export async function startTracing(
  endpoint: string | undefined,
  log: Log,
): Promise<AsyncDisposable> {
  if (endpoint === undefined) return { [Symbol.asyncDispose]: async () => {} }
  const [core, sdk, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ])
  core.setGlobalErrorHandler((error) => log.warn({ err: error }, unsent))
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'feedline' }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  })
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator())
  useTracer(provider.getTracer('feedline'))
  const close = async () => {
    useTracer(undefined)
    propagation.disable()
    const late = new Promise<void>((resolve) => setTimeout(resolve, flushMsMax).unref())
    const sent = provider.shutdown().catch((error) => log.warn({ err: error }, unsent))
    await Promise.race([sent, late])
  }
  return { [Symbol.asyncDispose]: close }
}

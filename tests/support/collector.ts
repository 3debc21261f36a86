import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { eventually } from './eventually.ts'

/** A span as a collector received it. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** A failed span has code 2. */
  readonly status: { readonly code: number }
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

interface Received {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes'> & {
        readonly attributes: readonly {
          readonly key: string
          readonly value: Readonly<Record<string, string | number | boolean>>
        }[]
      })[]
    }[]
  }[]
}

/** Gives a test file a collector of OTLP over HTTP. */
export function useCollector() {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Received
    bodies.push(JSON.stringify(body))
    const received = body.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    )
    for (const span of received) {
      const attributes = span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])
      spans.push({ ...span, attributes: Object.fromEntries(attributes) })
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    /** What processes sent so far, as JSON. */
    bodies,
    /** The variables that a process or a test sends its spans with, soon after their end. */
    env: () => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    }),
    /** Waits until a trace has spans of all these names. @returns all its spans so far. */
    trace: (traceId: string, names: readonly string[]): Promise<readonly ReceivedSpan[]> =>
      eventually(() => {
        const found = spans.filter((span) => span.traceId === traceId)
        const missing = names.filter((name) => !found.some((span) => span.name === name))
        if (missing.length === 0) return found
        const there = found.map(({ name }) => name).join(', ')
        throw new Error(`the trace has no ${missing.join(', ')}; it has ${there}`)
      }),
    spans,
  }
}

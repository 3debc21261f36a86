import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/** Undefined while tracing is off: then no span is created. */
let tracer: Tracer | undefined

/** The span that the running code belongs to. It changes when the operation of a request begins. */
export interface ActiveSpan {
  span: Span
}

const active = new AsyncLocalStorage<ActiveSpan>()

/** The ids of a trace and of one of its spans, in the W3C format of the header `traceparent`. */
export type Traceparent = string

/** How a span begins. Attributes hold no text of a user, no token and no handle. */
export interface SpanStart {
  readonly kind?: keyof typeof SpanKind
  readonly attributes?: Attributes
  /** Default: the active span. An invalid text begins a new trace. */
  readonly parent?: Traceparent | undefined
}

/** Creates spans with `next` from now on, or none. */
export function useTracer(next: Tracer | undefined): void {
  tracer = next
}

/** Whether spans are created. */
export const isTracing = (): boolean => tracer !== undefined

/**
 * Begins a span, in a trace of its own without a parent. @returns undefined while tracing is off.
 */
export function startSpan(name: string, start: SpanStart = {}): Span | undefined {
  if (!tracer) return undefined
  const { kind = 'INTERNAL', attributes = {}, parent } = start
  return tracer.startSpan(name, { kind: SpanKind[kind], attributes }, contextOf(parent))
}

/** Begins a span under the active span. @returns undefined without an active span. */
export const startChildSpan = (name: string, start: Omit<SpanStart, 'parent'>): Span | undefined =>
  active.getStore() ? startSpan(name, start) : undefined

function contextOf(parent: Traceparent | undefined) {
  if (parent !== undefined) return propagation.extract(ROOT_CONTEXT, { traceparent: parent })
  const above = active.getStore()
  return above ? trace.setSpan(ROOT_CONTEXT, above.span) : ROOT_CONTEXT
}

/**
 * Ends a span. @param error the code or class of the error that it failed with, from a bounded set;
 * never a message.
 */
export function endSpan(span: Span | undefined, error?: string): void {
  if (!span) return
  if (error !== undefined) {
    span.setAttribute('error.type', error)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** Begins a span under the active span, and makes it the active span of the whole request. */
export function beginOperation(name: string, attributes: Attributes): Span | undefined {
  const current = active.getStore()
  const span = startChildSpan(name, { attributes })
  if (current && span) current.span = span
  return span
}

/** Runs `work` with all its continuations in a span, which the caller ends. */
export const runInSpan = <T>(current: ActiveSpan | undefined, work: () => T): T =>
  current ? active.run(current, work) : work()

/** Runs `work` in a new span under the active span. While tracing is off, it only runs `work`. */
export async function inSpan<T>(name: string, work: () => T): Promise<Awaited<T>> {
  const span = startChildSpan(name, {})
  if (!span) return await work()
  try {
    const result = await active.run({ span }, work)
    endSpan(span)
    return result
  } catch (error) {
    endSpan(span, errorTypeOf(error))
    throw error
  }
}

/** The code of a domain error, or the class of any other error. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.constructor.name
}

/**
 * The place of the active span in its trace, for work that continues elsewhere. Undefined without
 * one.
 */
export function currentTraceparent(): Traceparent | undefined {
  const current = active.getStore()
  if (!current) return undefined
  const carrier: { traceparent?: Traceparent } = {}
  propagation.inject(trace.setSpan(ROOT_CONTEXT, current.span), carrier)
  return carrier.traceparent
}

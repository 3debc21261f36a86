import { Counter, Gauge, Histogram } from 'prom-client'
import type { ErrorCode } from '../errors.ts'
import { BoundedNames, durationBuckets, registry } from './registry.ts'

const registers = [registry]

/** Number of distinct operation names with a label of their own, and the characters of a name. */
const [operationsMax, operationCharactersMax] = [200, 64]
const operations = new BoundedNames(operationsMax, operationCharactersMax)

const answered = new Counter({
  name: 'feedline_requests_total',
  help: 'Requests by operation and by the code of the first error, or OK',
  labelNames: ['operation', 'code'],
  registers,
})

const seconds = new Histogram({
  name: 'feedline_request_seconds',
  help: 'Time from the head of a request to the end of its answer',
  labelNames: ['operation'],
  buckets: durationBuckets,
  registers,
})

const commands = new Histogram({
  name: 'feedline_request_commands',
  help: 'Commands that a request sent to MongoDB',
  labelNames: ['operation'],
  buckets: [0, 1, 2, 5, 10, 20, 50, 100, 500],
  registers,
})

/** Requests that have arrived and are not answered. */
export const requestsInFlight = new Gauge({
  name: 'feedline_requests_in_flight',
  help: 'Requests that have arrived and are not answered',
  registers,
})

/** The label of an operation. Clients choose names, so only the first 200 short ones keep theirs. */
export const operationLabelOf = (name: string | undefined): string =>
  name === undefined ? 'anonymous' : operations.labelOf(name)

/** An answered or abandoned request, as metrics count it. */
export interface AnsweredRequest {
  /** A label of {@link operationLabelOf}, or "none" for a request that is no valid GraphQL. */
  readonly operation: string
  /** CLOSED: the client left before the answer. */
  readonly code: ErrorCode | 'OK' | 'CLOSED'
  readonly ms: number
  readonly commands: number
}

/** Counts one request. */
export function countRequest({ operation, code, ms, commands: sent }: AnsweredRequest): void {
  answered.inc({ operation, code })
  seconds.observe({ operation }, ms / 1000)
  commands.observe({ operation }, sent)
}

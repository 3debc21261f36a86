import { Counter, Gauge, Histogram } from 'prom-client'
import type { ErrorCode } from '../errors.ts'
import { BoundedNames, durationBuckets, registry } from './registry.ts'

const registers = [registry]

/** Number of operation names with a label of their own: of known clients, and of anonymous ones. */
const [knownMax, anonymousMax] = [200, 50]
/** The most characters of such a name. */
const charactersMax = 64
const namedOperations = new BoundedNames(knownMax, charactersMax)
const anonymousOperations = new BoundedNames(anonymousMax, charactersMax)

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

/**
 * Gives operation names of trusted documents labels of their own, up to 200, before other clients
 * can take them.
 */
export const knowOperations = (names: readonly string[]): void => {
  for (const name of names) namedOperations.labelOf(name)
}

/**
 * The label of an operation. Clients choose names, so only the first short ones keep theirs: 200 of
 * trusted documents and of signed-in requests, and 50 others. So anonymous requests cannot take the
 * labels of others.
 * @param isSignedIn whether the token of the request was verified.
 */
export function operationLabelOf(name: string | undefined, isSignedIn: boolean): string {
  if (name === undefined) return 'anonymous'
  return isSignedIn && !anonymousOperations.has(name)
    ? namedOperations.labelOf(name)
    : namedOperations.has(name)
      ? name
      : anonymousOperations.labelOf(name)
}

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

import { Counter } from 'prom-client'
import { registry } from './registry.ts'

const registers = [registry]

/** Pages that stored timelines could not serve. */
export const timelineFallbacks = new Counter({
  name: 'feedline_timeline_fallbacks_total',
  help: 'Pages from FANOUT_ON_READ because a stored timeline could not be read',
  registers,
})

/**
 * How an operation of one timeline, or of its news, was answered: by the fast path, by it but for
 * some fields of posts, or by graphql-js, and why. `operation`: it has other fields of Query too.
 * `arguments`: they are refused, or the page reads both sides of a cursor. `incomplete`: a stored
 * post or account is malformed, or a field of a post has an error.
 */
export type TimelineAnswer =
  | 'fast_path'
  | 'fast_path_in_part'
  | UnplannedReason
  | 'registration'
  | 'arguments'
  | 'limits'
  | 'incomplete'
  | 'failure'

/** Why a document has no plan. */
export type UnplannedReason = 'operation' | 'directive' | 'field'

const operations = new Counter({
  name: 'feedline_timeline_operations_total',
  help: 'Operations of timelines and their news, by the fast path or by why graphql-js answered',
  labelNames: ['answer'],
  registers,
})

/** Counts an operation that selects a timeline or its news. */
export const countTimelineOperation = (answer: TimelineAnswer): void => operations.inc({ answer })

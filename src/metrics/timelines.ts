import { Counter } from 'prom-client'
import { registry } from './registry.ts'

const registers = [registry]

/** Pages that stored timelines could not serve. */
export const timelineFallbacks = new Counter({
  name: 'feedline_timeline_fallbacks_total',
  help: 'Pages from FANOUT_ON_READ because a stored timeline could not be read',
  registers,
})

/** Upkeep of stored timelines that failed, and that is repeated later. */
export const timelineUpkeepFailures = new Counter({
  name: 'feedline_timeline_upkeep_failures_total',
  help: 'Failures to trim or drop stored timelines, or to note a visit; deliveries and pages go on, and a later try repeats it',
  registers,
})

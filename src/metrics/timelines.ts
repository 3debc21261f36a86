import { Counter, Gauge } from 'prom-client'
import { registry } from './registry.ts'

const registers = [registry]

/** Whether stored timelines can be used. */
export const timelinesAvailable = new Gauge({
  name: 'feedline_timelines_available',
  help: 'Whether this process can use stored timelines: 1, or 0 while the timelines cluster cannot be used',
  registers,
})
timelinesAvailable.set(1)

/** Pages that stored timelines could not serve. */
export const timelineFallbacks = new Counter({
  name: 'feedline_timeline_fallbacks_total',
  help: 'Pages from FANOUT_ON_READ because a stored timeline could not be read, or its cluster could not be used',
  registers,
})

/** Changes of the timelines cluster that were found. */
export const timelineClusterChanges = new Counter({
  name: 'feedline_timelines_cluster_changes_total',
  help: 'Changes of the timelines cluster that this process found first: elected (another primary), or lost (all timelines are built again)',
  labelNames: ['change'],
  registers,
})

/** Upkeep of stored timelines that failed, and that is repeated later. */
export const timelineUpkeepFailures = new Counter({
  name: 'feedline_timeline_upkeep_failures_total',
  help: 'Failures to trim or drop stored timelines, or to note a visit; deliveries and pages go on, and a later try repeats it',
  registers,
})

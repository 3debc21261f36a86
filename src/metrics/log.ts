import { Counter, Histogram } from 'prom-client'
import { durationBuckets, registry } from './registry.ts'

const registers = [registry]

/** Ticks, and how long requests wait for them. */
export const tickSeconds = new Histogram({
  name: 'feedline_log_tick_seconds',
  help: 'Time in which a tick has read all changes',
  buckets: durationBuckets,
  registers,
})

export const logEvents = new Counter({
  name: 'feedline_log_events_total',
  help: 'Changes that were applied to memory',
  registers,
})

export const logDrops = new Counter({
  name: 'feedline_log_drops_total',
  help: 'Times that memory was dropped because it may have missed a change',
  registers,
})

import { Counter, Gauge, Histogram } from 'prom-client'
import { durationBuckets, registry } from './registry.ts'

const labelNames = ['group'] as const
const registers = [registry]

const sizes = new Histogram({
  name: 'feedline_group_commit_batch_size',
  help: 'Writes or reads that shared a transaction or command',
  labelNames,
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  registers,
})

const waitSeconds = new Histogram({
  name: 'feedline_group_commit_wait_seconds',
  help: 'Time that a write or read waited until its batch began',
  labelNames,
  buckets: durationBuckets,
  registers,
})

const waiting = new Gauge({
  name: 'feedline_group_commit_waiting',
  help: 'Writes or reads that wait for their batch to begin',
  labelNames,
  registers,
})

const refused = new Counter({
  name: 'feedline_group_commit_refused_total',
  help: 'Writes or reads refused because too many waited, or they waited too long',
  labelNames,
  registers,
})

/**
 * The metrics of one group commit. Its refusals begin with 0, so that Prometheus sees the first
 * one.
 */
export function groupMetrics(group: string) {
  refused.inc({ group }, 0)
  return {
    sizes: sizes.labels(group),
    waitSeconds: waitSeconds.labels(group),
    waiting: waiting.labels(group),
    refused: refused.labels(group),
  }
}

import { Counter } from 'prom-client'
import { MeasuredGauge } from './measured.ts'
import { registry } from './registry.ts'

/** Reads of caches. */
export const cacheReads = new Counter({
  name: 'feedline_cache_reads_total',
  help: 'Reads of a cache by result: hit or miss',
  labelNames: ['cache', 'result'],
  registers: [registry],
})

/** Sizes of caches. */
export const cacheBytes = new MeasuredGauge({
  name: 'feedline_cache_bytes',
  help: 'Estimated bytes that a cache holds',
  labelNames: ['cache'],
})

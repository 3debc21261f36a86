import { Counter } from 'prom-client'
import { registry } from './registry.ts'

const fetches = new Counter({
  name: 'feedline_key_fetches_total',
  help: 'Fetches of published keys by result: fetched or failed',
  labelNames: ['result'],
  registers: [registry],
})

/** Counts a fetch of published keys. */
export const countKeyFetch = (result: 'fetched' | 'failed'): void => fetches.inc({ result })

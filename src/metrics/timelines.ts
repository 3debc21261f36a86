import { Counter } from 'prom-client'
import { registry } from './registry.ts'

const registers = [registry]

/** Pages that stored timelines could not serve. */
export const timelineFallbacks = new Counter({
  name: 'feedline_timeline_fallbacks_total',
  help: 'Pages from FANOUT_ON_READ because a stored timeline could not be read',
  registers,
})

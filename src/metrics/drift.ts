import { Counter } from 'prom-client'
import { registry } from './registry.ts'

const driftCounter = (name: string, help: string) =>
  new Counter({ name: `feedline_drift_${name}_total`, help, registers: [registry] })

/** What the samples for drift found. */
export const drift = {
  checked: driftCounter(
    'checked',
    'Users and posts whose counters were compared with what they count',
  ),
  off: driftCounter('off', 'Users and posts whose counters were off'),
  edges: driftCounter('edges', 'Edges and histories that were wrong and can be repaired'),
  repaired: driftCounter('repaired', 'Users and posts whose counters were repaired'),
}

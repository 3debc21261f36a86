import { collectDefaultMetrics } from 'prom-client'
import { MeasuredGauge } from './measured.ts'
import { registry } from './registry.ts'

/** The difference between the clocks of this host and of the database. */
export const clockSkew = new MeasuredGauge({
  name: 'feedline_clock_skew_seconds',
  help: 'By how much the clock of this host is ahead of the clock of the database',
})

let isCollecting = false

/**
 * Starts to measure memory, CPU, garbage collection and the delay of the event loop. A repeat does
 * nothing.
 */
export function measureProcess(): void {
  if (isCollecting) return
  isCollecting = true
  collectDefaultMetrics({ register: registry })
}

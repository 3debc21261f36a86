import { Gauge } from 'prom-client'
import { registry } from './registry.ts'

/** One value of a gauge. */
export interface Measured {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * A gauge whose values are read when Prometheus asks. It has no value while nothing can be read.
 */
export class MeasuredGauge {
  private read: () => Promise<readonly Measured[]> = async () => []

  /** @param options as for a gauge of prom-client. */
  constructor(options: {
    readonly name: string
    readonly help: string
    readonly labelNames?: readonly string[]
  }) {
    const values = () => this.read().catch(() => [])
    new Gauge({
      ...options,
      labelNames: [...(options.labelNames ?? [])],
      registers: [registry],
      async collect() {
        const measured = await values()
        this.reset()
        if (measured.length === 0 && !options.labelNames) this.remove()
        for (const { labels, value } of measured) this.set(labels, value)
      },
    })
  }

  /** Reads the values from `read` from now on. If `read` fails, the gauge has no value. */
  readFrom(read: () => Promise<readonly Measured[]>): void {
    this.read = read
  }
}

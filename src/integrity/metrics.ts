import { Counter, Gauge, Registry } from 'prom-client'
import type { Reconciled } from './reconcile.ts'

/** The metrics of a process, as Prometheus reads them at `/metrics`. */
export class Metrics {
  private readonly registry = new Registry()
  private readonly drift = {
    checked: this.counter(
      'checked',
      'Users and posts whose counters were compared with what they count',
    ),
    off: this.counter('off', 'Users and posts whose counters were off'),
    edges: this.counter('edges', 'Edges and histories that were wrong and can be repaired'),
    repaired: this.counter('repaired', 'Users and posts whose counters were repaired'),
  }

  /** @param measured the values to read on each request of Prometheus. */
  constructor({ clockSkewSeconds }: { readonly clockSkewSeconds: () => number }) {
    new Gauge({
      name: 'feedline_clock_skew_seconds',
      help: 'By how much the clock of this host is ahead of the clock of the database',
      registers: [this.registry],
      collect() {
        this.set(clockSkewSeconds())
      },
    })
  }

  /** The content type of {@link text}. */
  readonly contentType = this.registry.contentType

  /** Adds the result of a sample for drift. */
  readonly sampled = ({ tally }: Reconciled): void => {
    const { users, posts, drifted, edges, repaired } = tally
    this.drift.checked.inc(users + posts)
    this.drift.off.inc(drifted)
    this.drift.edges.inc(edges)
    this.drift.repaired.inc(repaired)
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics()
  }

  private counter(name: string, help: string): Counter {
    return new Counter({ name: `feedline_drift_${name}_total`, help, registers: [this.registry] })
  }
}

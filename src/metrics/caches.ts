import { Counter } from 'prom-client'
import { MeasuredGauge } from './measured.ts'
import { registry } from './registry.ts'

/**
 * The reads of each cache since the start, by its name. A counter of prom-client looks its labels
 * up at each read.
 */
const reads = new Map<string, Record<'hit' | 'miss', number>>()

new Counter({
  name: 'feedline_cache_reads_total',
  help: 'Reads of a cache by result: hit or miss',
  labelNames: ['cache', 'result'],
  registers: [registry],
  collect() {
    this.reset()
    for (const [cache, counts] of reads) {
      for (const result of ['hit', 'miss'] as const) {
        if (counts[result] > 0) this.inc({ cache, result }, counts[result])
      }
    }
  },
})

const cacheBytes = new MeasuredGauge({
  name: 'feedline_cache_bytes',
  help: 'Estimated bytes that a cache holds',
  labelNames: ['cache'],
})

/** How the bytes of each cache are read, by its name. */
const sizes = new Map<string, () => number>()
cacheBytes.readFrom(async () =>
  [...sizes].map(([cache, bytes]) => ({ labels: { cache }, value: bytes() })),
)

/**
 * Measures a cache from now on.
 * @param readBytes its estimated bytes.
 * @returns what counts its reads.
 */
export function measureCache(cache: string, readBytes: () => number) {
  sizes.set(cache, readBytes)
  const counts = reads.get(cache) ?? { hit: 0, miss: 0 }
  reads.set(cache, counts)
  return {
    countRead: (isHit: boolean): void => {
      counts[isHit ? 'hit' : 'miss']++
    },
  }
}

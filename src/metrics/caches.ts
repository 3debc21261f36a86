import { Counter } from 'prom-client'
import { MeasuredGauge } from './measured.ts'
import { registry } from './registry.ts'

const cacheReads = new Counter({
  name: 'feedline_cache_reads_total',
  help: 'Reads of a cache by result: hit or miss',
  labelNames: ['cache', 'result'],
  registers: [registry],
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
  const [hits, misses] = [cacheReads.labels(cache, 'hit'), cacheReads.labels(cache, 'miss')]
  return { countRead: (isHit: boolean) => (isHit ? hits : misses).inc() }
}

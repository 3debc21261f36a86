import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { authorsOf } from './graph.ts'
import { clearBuckets, drain, type FeedsDatabase, log, maintain, workerOf } from './ours.ts'
import { textOf } from './store.ts'

/** How long the author waits, in milliseconds, by their followers. */
export type CreateTimes = Readonly<Record<keyof typeof authorsOf, { p50Ms: number; p99Ms: number }>>

/** Posts of each author a second of measurement. */
const postsASecond = 12

/**
 * The author's wait for createPost under INBOX, three authors in turn, while the same process delivers what came before,
 * as `feedline serve` does: so each meets the same load, and only the size of their own audience differs.
 */
export async function measureCreatePost(
  database: FeedsDatabase,
  { ms, say }: BenchOptions,
): Promise<CreateTimes> {
  const { services } = database
  await maintain(database, ['INBOX'])
  const worker = workerOf(services)
  worker.start()
  services.inline.start(services.tasks, log)
  const took = { ten: [] as number[], thousand: [] as number[], celebrity: [] as number[] }
  const authors = Object.entries(authorsOf) as [keyof typeof authorsOf, (typeof authorsOf)['ten']][]
  const posts = Math.ceil((postsASecond * ms) / 1000)
  for (let at = 0; at < posts; at++) {
    // Each comes as often first as after each of the others.
    const order = at % 2 === 0 ? authors : authors.toReversed()
    for (const [name, author] of order) {
      const begin = performance.now()
      await services.posts.create(author, { text: textOf(at) })
      took[name].push(performance.now() - begin)
      worker.nudge()
      await sleep(pauseMs)
    }
  }
  await worker.stop()
  await drain(services)
  await clearBuckets(database)
  const times = Object.entries(took).map(([name, values]) => [
    name,
    { p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99) },
  ])
  const result = Object.fromEntries(times) as CreateTimes
  say(
    `createPost p99: ${Object.values(result)
      .map(({ p99Ms }) => p99Ms.toFixed(1))
      .join(', ')} ms`,
  )
  return result
}

/** Three posts take this three times: as long as 21,010 deliveries do at 28,000 a second, so that none pile up. */
const pauseMs = 250

import { setTimeout as sleep } from 'node:timers/promises'
import { newKey } from '../idempotency.ts'
import type { BenchOptions } from '../options.ts'
import { quantile } from '../statistics.ts'
import { postText } from './bulk-data.ts'
import {
  clearBuckets,
  createWorker,
  type FeedsDatabase,
  maintainOnly,
  runDueJobs,
  serviceLog,
} from './feeds-database.ts'
import { sampleAuthors } from './graph.ts'

/** The latency of createPost, in milliseconds, by the number of the author's followers. */
export type CreatePostLatencies = Readonly<
  Record<keyof typeof sampleAuthors, { p50Ms: number; p99Ms: number }>
>

/** The number of posts of each author, per second of `--seconds`. */
const postsPerSecond = 12

/**
 * Measures createPost of three authors in turn under INBOX. The same process delivers the earlier
 * posts, as `feedline serve` does. So all authors have the same load, and only their numbers of
 * followers differ.
 */
export async function measureCreatePost(
  database: FeedsDatabase,
  { ms, log }: BenchOptions,
): Promise<CreatePostLatencies> {
  const { services } = database
  await maintainOnly(database, ['INBOX'])
  const worker = createWorker(services)
  worker.start()
  services.inline.start(services.tasks, serviceLog)
  const latenciesMs = { ten: [] as number[], thousand: [] as number[], celebrity: [] as number[] }
  const authors = Object.entries(sampleAuthors) as [
    keyof typeof sampleAuthors,
    (typeof sampleAuthors)['ten'],
  ][]
  const posts = Math.ceil((postsPerSecond * ms) / 1000)
  for (let at = 0; at < posts; at++) {
    // Alternates the order, so that no author is always first.
    const order = at % 2 === 0 ? authors : authors.toReversed()
    for (const [name, author] of order) {
      const begin = performance.now()
      await services.posts.create(author, { text: postText(at) }, newKey(author, 'createPost'))
      latenciesMs[name].push(performance.now() - begin)
      worker.nudge()
      await sleep(pauseMs)
    }
  }
  await worker.stop()
  await runDueJobs(services)
  await clearBuckets(database)
  const times = Object.entries(latenciesMs).map(([name, values]) => [
    name,
    { p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99) },
  ])
  const result = Object.fromEntries(times) as CreatePostLatencies
  log(
    `createPost p99: ${Object.values(result)
      .map(({ p99Ms }) => p99Ms.toFixed(1))
      .join(', ')} ms`,
  )
  return result
}

/**
 * The pause after each post, in milliseconds. Three pauses are as long as the 21,010 deliveries of
 * three posts take at 28,000 per second. So deliveries do not queue up.
 */
const pauseMs = 250

import type { PostRef } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import type { Services } from '../../src/services.ts'
import { newKey } from '../idempotency.ts'
import type { BenchOptions } from '../options.ts'
import { quantile } from '../statistics.ts'
import { createAccounts, createPosts, likePost, userAt } from './feedline.ts'

const sizes = [0, 1_000, 10_000, 100_000, 1_000_000]
const calls = 200
const writers = 512

/** Median latencies, in milliseconds, at one number of likes. */
interface Point {
  readonly likes: number
  readonly like: number
  readonly unlike: number
  readonly page: number
}

/**
 * Measures like, unlike and a page of likes, one call at a time, while one post grows to `likes`
 * likes. All likes are added through the service.
 */
export async function measureLikeGrowth(services: Services, { likes, log }: BenchOptions) {
  const [post] = (await createPosts(services, 1)) as [PostRef]
  const sizesToMeasure = sizes.filter((size) => size <= likes)
  const firstAccount = 10_000_000
  log(`creating ${likes} accounts`)
  await createAccounts(services, (sizesToMeasure.at(-1) ?? 0) + calls, firstAccount)
  const points: Point[] = []
  let stored = 0
  for (const size of sizesToMeasure) {
    log(`one post: from ${stored} to ${size} likes`)
    let next = stored
    const grow = async () => {
      while (next < size) {
        await likePost(services, userAt(firstAccount + next++), post)
      }
    }
    await Promise.all(Array.from({ length: writers }, grow))
    stored = size
    points.push(await measureAt(services, post, firstAccount, size))
  }
  const at = (size: number) => points.find((point) => point.likes === size)
  const [low, high] = [at(1_000), points.at(-1)]
  const ratios = low && high ? [high.like / low.like] : [Number.NaN]
  return { key: growthKey(points.at(-1)?.likes ?? 0), ratios, table: formatTable(points) }
}

/** The name of the ratio of a like at `likes` likes over one at 1,000. */
export const growthKey = (likes: number): string =>
  `like_${likes >= 1_000_000 ? `${likes / 1_000_000}m` : `${likes / 1_000}k`}_vs_1k`

async function measureAt(services: Services, post: PostRef, firstAccount: number, likes: number) {
  const { engagements, engagementReader } = services
  const like: number[] = []
  const unlike: number[] = []
  const page: number[] = []
  for (let call = 0; call < calls; call++) {
    const user = userAt(firstAccount + likes + call)
    like.push(await measureMs(() => likePost(services, user, post)))
    page.push(
      await measureMs(() =>
        readPages(engagementReader.list('likes'), [post], { limit: 20, backward: false }),
      ),
    )
  }
  for (let call = 0; call < calls; call++) {
    const user = userAt(firstAccount + likes + call)
    unlike.push(
      await measureMs(() => engagements.remove('likes', user, post, newKey(user, 'unlikePost'))),
    )
  }
  const median = (values: readonly number[]) => quantile(values, 0.5)
  return { likes, like: median(like), unlike: median(unlike), page: median(page) }
}

async function measureMs(call: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await call()
  return performance.now() - begin
}

const formatTable = (points: readonly Point[]) =>
  [
    '| likes of the post | like, ms | unlike, ms | likes(first: 20), ms |',
    '|---|---|---|---|',
    ...points.map(
      ({ likes, like, unlike, page }) =>
        `| ${likes.toLocaleString('en')} | ${like.toFixed(2)} | ${unlike.toFixed(2)} | ${page.toFixed(2)} |`,
    ),
  ].join('\n')

import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { quantile } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { makePosts, openAccounts, userAt } from './ours.ts'

const sizes = [0, 1_000, 10_000, 100_000, 1_000_000]
const calls = 200
const builders = 512

/** Medians in milliseconds at one size. */
interface Point {
  readonly likes: number
  readonly like: number
  readonly unlike: number
  readonly page: number
}

/** Like, unlike and a page of likes while one post grows through the service itself, one call at a time. */
export async function measureCurve(services: Services, { likes, say }: BenchOptions) {
  const [post] = (await makePosts(services, 1)) as [PostRef]
  const most = sizes.filter((size) => size <= likes)
  const base = 10_000_000
  say(`opening ${likes} accounts`)
  await openAccounts(services, (most.at(-1) ?? 0) + calls, base)
  const points: Point[] = []
  let built = 0
  for (const size of most) {
    say(`one post: from ${built} to ${size} likes`)
    let next = built
    const grow = async () => {
      while (next < size) {
        await services.engagements.add('likes', userAt(base + next++), post)
      }
    }
    await Promise.all(Array.from({ length: builders }, grow))
    built = size
    points.push(await measureAt(services, post, base, size))
  }
  const at = (size: number) => points.find((point) => point.likes === size)
  const [low, high] = [at(1_000), points.at(-1)]
  const ratios = low && high ? [high.like / low.like] : [Number.NaN]
  return { ratios, table: tableOf(points) }
}

async function measureAt(services: Services, post: PostRef, base: number, likes: number) {
  const { engagements, engagementReader } = services
  const like: number[] = []
  const unlike: number[] = []
  const page: number[] = []
  for (let call = 0; call < calls; call++) {
    const user = userAt(base + likes + call)
    like.push(await timed(() => engagements.add('likes', user, post)))
    page.push(
      await timed(() => engagementReader.pages('likes', [post], { limit: 20, backward: false })),
    )
  }
  for (let call = 0; call < calls; call++) {
    const user = userAt(base + likes + call)
    unlike.push(await timed(() => engagements.remove('likes', user, post)))
  }
  const median = (values: readonly number[]) => quantile(values, 0.5)
  return { likes, like: median(like), unlike: median(unlike), page: median(page) }
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await call()
  return performance.now() - begin
}

const tableOf = (points: readonly Point[]) =>
  [
    '| likes of the post | like, ms | unlike, ms | likes(first: 20), ms |',
    '|---|---|---|---|',
    ...points.map(
      ({ likes, like, unlike, page }) =>
        `| ${likes.toLocaleString('en')} | ${like.toFixed(2)} | ${unlike.toFixed(2)} | ${page.toFixed(2)} |`,
    ),
  ].join('\n')

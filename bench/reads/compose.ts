import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import { type LoadContext, measureCpu, type ReadResult } from './loads.ts'
import { readPagePosts, type Side } from './side.ts'

/** Posts of one client, and of sixteen at once. The processor time includes all deliveries. */
export interface ComposeResult {
  readonly alone: ReadResult
  readonly sixteen: ReadResult
}

/** The text of each post. */
export const postText = 'A post to about forty followers, as long as messages usually are here.'

/**
 * Measures posts of users with about forty followers. Each author's own page must show the post afterwards.
 * @returns undefined for a side that creates no posts.
 */
export async function measureCompose(
  side: Side,
  { load, audience: { composers }, ms }: LoadContext,
): Promise<ComposeResult | undefined> {
  const { compose } = side
  if (!compose) return undefined
  const requests = composers.map((author) => compose(author, postText))
  const measure = async (connections: number): Promise<ReadResult> => {
    const job: LoadJob = { port: side.server.port, requests, connections, ms }
    const { result, serverUs, databaseUs } = await measureCpu(side, async () => {
      const sent = await load.sendRequest<HttpLoadResult>(job)
      await side.waitUntilIdle()
      return sent
    })
    const { perSecond, p50Ms, p99Ms, count, bytes } = result
    return {
      ...{ perSecond, p50Ms, p99Ms, count, bytes },
      ...{ serverUs: serverUs / count, databaseUs: databaseUs / count },
    }
  }
  const alone = await measure(1)
  const sixteen = await measure(16)
  const [author = ''] = composers
  const [newest] = (await readPagePosts(side, author, 'immutable')).filter(
    ({ author: { handle } }) => handle === author,
  )
  if (newest?.text !== postText)
    throw new Error(`${side.name}: ${author} does not see the own post`)
  return { alone, sixteen }
}

import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { runClosedLoop } from '../load.ts'
import { createPosts, userAt } from './feedline.ts'

const pageSize = 50
const likesEach = 40
const clients = 8

/**
 * Measures the time of a page of posts with `viewerHasLiked`, divided by the time of reading the bare posts by id.
 * Both read the same 50 posts with 40 likes each.
 */
export async function measurePage(services: Services, ms: number): Promise<number> {
  const posts = await createPosts(services, pageSize)
  await Promise.all(
    posts.map(async (post) => {
      for (let user = 0; user < likesEach; user++) {
        await services.engagements.add('likes', userAt(user), post)
      }
    }),
  )
  const bare = await runClosedLoop(clients, ms, () => readBarePosts(services, posts))
  const page = await runClosedLoop(clients, ms, () => readPage(services, posts))
  return bare.perSecond / page.perSecond
}

const readBarePosts = ({ collections }: Services, posts: readonly PostRef[]) =>
  collections.posts
    .find({ _id: { $in: posts.map(({ id }) => toObjectId(id)) } })
    .project({ author: 1, text: 1 })
    .toArray()

const readPage = ({ posts: service, engagementReader }: Services, posts: readonly PostRef[]) =>
  Promise.all([service.byRefs(posts), engagementReader.entries(['likes'], posts, [userAt(7)])])

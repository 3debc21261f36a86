import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { drive } from '../drive.ts'
import { makePosts, userAt } from './ours.ts'

const pageSize = 50
const likesEach = 40
const clients = 8

/**
 * How long a page of posts takes that says of each whether the viewer likes it, over reading the bare posts by their
 * ids: both read the same 50 posts with 40 likes each.
 */
export async function measurePage(services: Services, ms: number): Promise<number> {
  const posts = await makePosts(services, pageSize)
  await Promise.all(
    posts.map(async (post) => {
      for (let user = 0; user < likesEach; user++) {
        await services.engagements.add('likes', userAt(user), post)
      }
    }),
  )
  const bare = await drive(clients, ms, () => bareRead(services, posts))
  const page = await drive(clients, ms, () => pageRead(services, posts))
  return bare.perSecond / page.perSecond
}

const bareRead = ({ collections }: Services, posts: readonly PostRef[]) =>
  collections.posts
    .find({ _id: { $in: posts.map(({ id }) => toObjectId(id)) } })
    .project({ author: 1, text: 1 })
    .toArray()

const pageRead = ({ posts: service, engagementReader }: Services, posts: readonly PostRef[]) =>
  Promise.all([service.byRefs(posts), engagementReader.entries(['likes'], posts, [userAt(7)])])

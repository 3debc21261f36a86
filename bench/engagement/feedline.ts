import { ObjectId } from 'mongodb'
import { fromObjectId } from '../../src/db/object-id.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { storeAccounts } from '../feeds/bulk-data.ts'
import { newKey } from '../idempotency.ts'
import type { LikeImplementation } from './rivals.ts'

/** The id and the handle of account number `n`. */
export const userAt = (n: number): UserId => `user${n}` as UserId

/** Creates `count` accounts in batches, from number `first`. */
export async function createAccounts({ collections }: Services, count: number, first = 0) {
  const zero = { followers: 0, following: 0, posts: 0 }
  const createdAt = new Date()
  for (let from = 0; from < count; from += 10_000) {
    const size = Math.min(10_000, count - from)
    const ids = Array.from({ length: size }, (_, at) => userAt(first + from + at))
    await storeAccounts(collections, ids, createdAt)
    await collections.user_stats.insertMany(ids.map((_id) => ({ _id, ...zero })))
  }
}

/** Creates posts of the first 1,000 accounts. */
export async function createPosts({ collections }: Services, count: number): Promise<PostRef[]> {
  const docs = Array.from({ length: count }, (_, at) => ({
    _id: new ObjectId(),
    author: userAt(at % 1000),
    text: 'Cute Cat Video',
  }))
  await collections.posts.insertMany(docs)
  return docs.map(({ _id, author }) => ({ id: fromObjectId<PostId>(_id), author }))
}

/** Likes a post as a documented client does, with a `clientMutationId`. */
export const likePost = async ({ engagements }: Services, user: UserId, post: PostRef) =>
  engagements.add('likes', user, post, { idempotencyKey: newKey(user, 'likePost') })

/**
 * Feedline's implementation: the whole service, with admission, blocks, overflow and the list of
 * likes by user.
 */
export function feedline(services: Services): LikeImplementation {
  const refs = new Map<string, PostRef>()
  return {
    createPosts: async (count) => {
      const posts = await createPosts(services, count)
      return posts.map((post) => {
        refs.set(post.id, post)
        return ObjectId.createFromHexString(post.id)
      })
    },
    like: async (id, user) => {
      const post = refs.get(id.toHexString()) as PostRef
      return (await likePost(services, user as UserId, post)).changed
    },
  }
}

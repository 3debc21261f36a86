import { ObjectId } from 'mongodb'
import { fromObjectId } from '../../src/db/object-id.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { Rival } from './rivals.ts'

/** The handle of the `n`th account. */
export const userAt = (n: number): UserId => `user${n}` as UserId

/** Opens so many accounts, in bulk, from the `first`th on. */
export async function openAccounts({ collections }: Services, count: number, first = 0) {
  const zero = { followers: 0, following: 0, posts: 0 }
  for (let from = 0; from < count; from += 10_000) {
    const size = Math.min(10_000, count - from)
    const some = Array.from({ length: size }, (_, at) => ({
      _id: userAt(first + from + at),
      ...zero,
    }))
    await collections.user_stats.insertMany(some)
  }
}

/** Makes fresh posts by the first accounts. */
export async function makePosts({ collections }: Services, count: number): Promise<PostRef[]> {
  const docs = Array.from({ length: count }, (_, at) => ({
    _id: new ObjectId(),
    author: userAt(at % 1000),
    text: 'Cute Cat Video',
  }))
  await collections.posts.insertMany(docs)
  return docs.map(({ _id, author }) => ({ id: fromObjectId<PostId>(_id), author }))
}

/** Feedline's own way: the whole service, with admission, blocks, overflow and the list of what a user likes. */
export function feedline(services: Services): Rival {
  const authors = new Map<string, PostRef>()
  return {
    posts: async (count) => {
      const posts = await makePosts(services, count)
      return posts.map((post) => {
        authors.set(post.id, post)
        return ObjectId.createFromHexString(post.id)
      })
    },
    like: async (id, user) => {
      const post = authors.get(id.toHexString()) as PostRef
      return (await services.engagements.add('likes', user as UserId, post)).changed
    },
  }
}

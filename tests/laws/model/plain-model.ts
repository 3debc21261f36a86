import type { Collections } from '../../../src/db/collections.ts'
import type { PostId } from '../../../src/lib/ids.ts'
import { handle } from '../../support/services.ts'
import { Model } from './model.ts'

/**
 * The model of laws L1 and L3 as the plain collections say: accounts, edges, restrictions and
 * posts, no stored timeline.
 */
export async function modelOf({
  users,
  followers,
  restrictions,
  posts,
}: Pick<Collections, 'users' | 'followers' | 'restrictions' | 'posts'>): Promise<Model> {
  const model = new Model()
  for await (const { _id } of users.find({ deletedAt: { $exists: false } })) {
    model.createUser(handle(_id))
  }
  for await (const { owner, other, kind } of restrictions.find()) {
    if (kind === 'MUTE') model.mute(handle(owner), handle(other))
    if (kind === 'BLOCK') model.block(handle(owner), handle(other))
  }
  for await (const { user, follower } of followers.find()) {
    model.follow(handle(follower), handle(user))
  }
  for await (const { _id, author } of posts.find({}, { projection: { author: 1 } })) {
    model.post(handle(author), _id.toHexString() as PostId)
  }
  return model
}

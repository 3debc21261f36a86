import type { EngagementKind } from '../config.ts'
import { bounded } from '../db/client.ts'
import type { Collections, EngagedDoc } from '../db/collections.ts'
import { repeatsIn } from '../db/errors.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { type OwnedList, rangesByOwner } from '../db/pages.ts'
import type { EngagementId, PostRef, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'

/** What a user did to a post, if the post says so too. */
export interface Engaged {
  readonly id: EngagementId
  readonly user: UserId
  readonly kind: EngagementKind
  readonly post: PostRef
}

/**
 * What each user engaged with, newest first. Every entry is written before the one in the post's list and names it by
 * its id: so none is missing, and an entry counts only if the list holds that very id. This keeps the lists the one
 * truth (law L2) without a transaction over two shards, and finds a user's likes without looking at posts (law L5).
 */
export class EngagedLog {
  constructor(private readonly engaged: Collections['engaged']) {}

  /**
   * Writes and removes entries together; a majority holds them when it returns. An entry that is there already stays.
   * One command for each of the two, none without any.
   */
  async write(adds: readonly Engaged[], removes: readonly Pick<Engaged, 'id' | 'user'>[]) {
    const inserts = adds.map((entry) => ({ insertOne: { document: toDoc(entry) } }))
    const gone = {
      user: { $in: [...new Set(removes.map(({ user }) => user))] },
      _id: { $in: removes.map(({ id }) => toObjectId(id)) },
    }
    const bulk = [...inserts, ...(removes.length > 0 ? [{ deleteMany: { filter: gone } }] : [])]
    if (bulk.length === 0) return
    await this.engaged.bulkWrite(bulk, { ...bounded, ordered: false }).catch(repeatsIn)
  }

  /** A range of each user's entries of a kind, in the order it walks. One covered command. */
  async ranges(
    users: readonly UserId[],
    kind: EngagementKind,
    range: Range,
  ): Promise<Map<string, Engaged[]>> {
    const list: OwnedList<EngagedDoc> = {
      collection: this.engaged,
      owner: 'user',
      where: { kind },
      fields: ['_id', 'user', 'kind', 'post', 'author'],
    }
    const found = await rangesByOwner(list, users, range)
    return new Map([...found].map(([user, docs]) => [user, docs.map(toEngaged)]))
  }

  /** Some of the user's entries of any kind, at most `limit`. */
  async some(user: UserId, limit: number): Promise<Engaged[]> {
    return (await this.engaged.find({ user }).limit(limit).toArray()).map(toEngaged)
  }
}

const toDoc = ({ id, user, kind, post }: Engaged): EngagedDoc => ({
  _id: toObjectId(id),
  user,
  kind,
  post: toObjectId(post.id),
  author: post.author,
})

const toEngaged = ({ _id, user, kind, post, author }: EngagedDoc): Engaged => ({
  id: fromObjectId(_id),
  user: user as UserId,
  kind,
  post: { id: fromObjectId(post), author: author as UserId },
})

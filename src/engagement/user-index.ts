import { requestTimeout } from '../db/client.ts'
import type { Collections, EngagementByUserDoc } from '../db/collections.ts'
import { fromObjectId, lowestId, malformedData, toObjectId } from '../db/object-id.ts'
import { type OwnedList, rangesByOwner } from '../db/pages.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import type { EngagementId, PostRef, TimeId, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import type { EngagementKind } from './kinds.ts'

/** One engagement of a user with a post. It is valid only if the post's list holds the same id. */
export interface UserEngagement {
  readonly id: EngagementId
  readonly user: UserId
  readonly kind: EngagementKind
  readonly post: PostRef
}

/**
 * The index of a user's entries. Without the hint, MongoDB may walk the entries of all users by id.
 */
export const byRecency = { user: 1, kind: 1, _id: -1, post: 1, author: 1 } as const

/**
 * The engagement of each user, newest first. Each entry is written in the transaction of the entry
 * in the post's list, under the same id, and is valid only if the list holds that id. So the lists
 * stay the only truth (law L2), and a user's likes are found without reading posts (law L5).
 */
export class UserEngagementIndex {
  constructor(private readonly entries: Collections['engagements_by_user']) {}

  /**
   * Writes and removes entries in the caller's transaction. One command for each of the two, none
   * without any.
   */
  async write(
    tx: Tx,
    adds: readonly UserEngagement[],
    removes: readonly Pick<UserEngagement, 'id' | 'user'>[],
  ): Promise<void> {
    if (adds.length > 0) await this.entries.insertMany(adds.map(toDoc), { session: tx.session })
    await this.remove(removes, tx)
  }

  /** Removes entries. One command, none without entries. */
  async remove(entries: readonly Pick<UserEngagement, 'id' | 'user'>[], tx?: Tx): Promise<void> {
    if (entries.length === 0) return
    const gone = {
      user: { $in: [...new Set(entries.map(({ user }) => user))] },
      _id: { $in: entries.map(({ id }) => toObjectId(id)) },
    }
    await this.entries.deleteMany(gone, tx ? { session: tx.session } : requestTimeout)
  }

  /**
   * A range of each user's entries of a kind, in the order it walks. One covered command.
   * @param past for each user, the entry after which the read continues. Default: from the start of
   *   the range.
   */
  async ranges(
    users: readonly UserId[],
    kind: EngagementKind,
    range: Range,
    past?: ReadonlyMap<string, TimeId>,
  ): Promise<Map<string, UserEngagement[]>> {
    const list: OwnedList<EngagementByUserDoc, UserEngagement> = {
      collection: this.entries,
      owner: 'user',
      where: { kind, post: { $gte: lowestId }, author: { $gte: '' } },
      fields: ['_id', 'user', 'kind', 'post', 'author'],
      toItem: toUserEngagement,
    }
    return rangesByOwner(list, users, range, past)
  }

  /**
   * Checks that the user has no entry that {@link readBatch} passes over, after it has answered
   * with none. One command, for one entry.
   * @throws {DomainError} NOT_FOUND if there is an entry of another shape.
   */
  async checkNoneMalformed(user: UserId): Promise<void> {
    const left = await this.entries.findOne({ user }, { ...requestTimeout, hint: byRecency })
    if (left && !conforms(shapes.engagements_by_user, left)) throw malformedData()
  }

  /**
   * Up to `limit` entries of the user with ids below `before`, of any kind and in no order. One
   * command.
   */
  async readBatch(user: UserId, limit: number, before?: EngagementId): Promise<UserEngagement[]> {
    const older = { $gte: lowestId, ...(before && { $lt: toObjectId(before) }) }
    const docs = await this.entries
      .find({ user, _id: older, post: { $gte: lowestId } }, { ...requestTimeout, hint: byRecency })
      .limit(limit)
      .toArray()
    return docs.map(toUserEngagement)
  }
}

const toDoc = ({ id, user, kind, post }: UserEngagement): EngagementByUserDoc => ({
  _id: toObjectId(id),
  user,
  kind,
  post: toObjectId(post.id),
  author: post.author,
})

const toUserEngagement = ({
  _id,
  user,
  kind,
  post,
  author,
}: EngagementByUserDoc): UserEngagement => ({
  id: fromObjectId(_id),
  user: user as UserId,
  kind,
  post: { id: fromObjectId(post), author: author as UserId },
})

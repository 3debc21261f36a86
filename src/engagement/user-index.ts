import { requestTimeout } from '../db/client.ts'
import type { Collections, EngagementByUserDoc } from '../db/collections.ts'
import { duplicatePositions } from '../db/errors.ts'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { fromObjectId, lowestId, malformedData, toObjectId } from '../db/object-id.ts'
import { type OwnedList, rangesByOwner } from '../db/pages.ts'
import { conforms, shapes } from '../db/shapes.ts'
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

/** The index of a user's entries. Without the hint, MongoDB may walk the entries of all users by id. */
export const byRecency = { user: 1, kind: 1, _id: -1, post: 1, author: 1 } as const

const bounds: GroupCommitBounds = {
  name: 'user_index_removals',
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 0,
  begins: 'IN_TURNS',
}

/**
 * The engagement of each user, newest first. A majority has each entry before the entry in the post's list commits,
 * under the same id. So no entry is missing here, and an entry is valid only if the list holds its id. The lists stay
 * the only truth (law L2) without a transaction over two shards, and a user's likes are found without reading posts
 * (law L5).
 */
export class UserEngagementIndex {
  private readonly removals: GroupCommit<Pick<UserEngagement, 'id' | 'user'>, undefined>

  constructor(private readonly entries: Collections['engagements_by_user']) {
    const removeAll = async (_: string, gone: readonly Pick<UserEngagement, 'id' | 'user'>[]) => {
      await this.write([], gone)
      return gone.map(() => undefined)
    }
    this.removals = new GroupCommit(eachKey(removeAll), bounds)
  }

  /**
   * Writes and removes entries together; a majority holds them when it returns. An entry that is there already stays.
   * One command for each of the two, none without any.
   */
  async write(
    adds: readonly UserEngagement[],
    removes: readonly Pick<UserEngagement, 'id' | 'user'>[],
  ) {
    const inserts = adds.map((entry) => ({ insertOne: { document: toDoc(entry) } }))
    const gone = {
      user: { $in: [...new Set(removes.map(({ user }) => user))] },
      _id: { $in: removes.map(({ id }) => toObjectId(id)) },
    }
    const bulk = [...inserts, ...(removes.length > 0 ? [{ deleteMany: { filter: gone } }] : [])]
    if (bulk.length === 0) return
    await this.entries
      .bulkWrite(bulk, { ...requestTimeout, ordered: false })
      .catch(duplicatePositions)
  }

  /** Removes an entry. It shares one command with the removals of others. @throws {DomainError} UNAVAILABLE. */
  async remove(entry: Pick<UserEngagement, 'id' | 'user'>): Promise<void> {
    await this.removals.submit('', entry)
  }

  /**
   * A range of each user's entries of a kind, in the order it walks. One covered command.
   * @param past for each user, the entry after which the read continues. Default: from the start of the range.
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
   * Checks that the user has no entry that {@link readBatch} passes over, after it has answered with none. One command,
   * for one entry.
   * @throws {DomainError} NOT_FOUND if there is an entry of another shape.
   */
  async checkNoneMalformed(user: UserId): Promise<void> {
    const left = await this.entries.findOne({ user }, { ...requestTimeout, hint: byRecency })
    if (left && !conforms(shapes.engagements_by_user, left)) throw malformedData()
  }

  /** Up to `limit` entries of the user with ids below `before`, of any kind and in no order. One command. */
  async readBatch(user: UserId, limit: number, before?: EngagementId): Promise<UserEngagement[]> {
    const older = { $gte: lowestId, ...(before && { $lt: toObjectId(before) }) }
    const found = await this.entries
      .find({ user, _id: older, post: { $gte: lowestId } }, { ...requestTimeout, hint: byRecency })
      .limit(limit)
      .toArray()
    return found.map(toUserEngagement)
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

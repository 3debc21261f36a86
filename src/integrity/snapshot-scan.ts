import { isSnapshotGone } from '../db/errors.ts'
import type { Document, ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { countedUsers, userCounters } from './counted-users.ts'
import { onSnapshot } from './inspect.ts'
import type { IntegrityServices } from './invariant.ts'
import { isSuspectAccount } from './invariants/accounts.ts'
import { userDifference } from './invariants/user-counters.ts'
import type { Difference } from './ledger.ts'
import { PostLists } from './post-lists.ts'

/** The result of counting users or posts on one snapshot. */
export interface Scanned {
  /** Live users, or posts. */
  readonly checked: number
  /** Edges, posts and entries that were counted, and the documents that count them. */
  readonly documents: number
  readonly differences: readonly Difference[]
}

export interface ScannedUsers extends Scanned {
  readonly edges: number
  /** Handles whose account must be checked. */
  readonly suspects: readonly string[]
}

export interface ScannedPosts extends Scanned {
  readonly lists: PostLists
  /** The posts of overflow documents whose post does not exist. */
  readonly orphans: readonly ObjectId[]
}

/**
 * Counts users and posts, each time on one snapshot. If the server drops the snapshot before the scan ends, the scan is
 * retried with half as many users: only a user and what it counts must be of one time.
 */
export class SnapshotScan {
  /** @param onRetry called for each scan that is repeated. */
  constructor(
    private readonly services: IntegrityServices,
    private readonly onRetry: () => void = () => {},
  ) {}

  /**
   * Counts all users who match, with as few snapshots as last for them. Five commands a snapshot.
   * @param handles a condition on a handle.
   * @throws {DomainError} UNAVAILABLE when no snapshot lasts for one of them.
   */
  async usersWithin(handles: object): Promise<ScannedUsers> {
    try {
      return await this.services.transactions.atSnapshot((at) => this.usersAt(handles, at))
    } catch (error) {
      if (!isSnapshotGone(error)) throw error
    }
    this.onRetry()
    const { users } = this.services.collections
    const found = await users.find({ _id: handles }, { projection: { _id: 1 } }).toArray()
    const ids = found.map(({ _id }) => _id).sort()
    if (ids.length <= 1) return this.users(handles)
    const half = Math.ceil(ids.length / 2)
    const one = await this.usersWithin({ $in: ids.slice(0, half) })
    const other = await this.usersWithin({ $in: ids.slice(half) })
    return {
      checked: one.checked + other.checked,
      documents: one.documents + other.documents,
      edges: one.edges + other.edges,
      differences: [...one.differences, ...other.differences],
      suspects: [...one.suspects, ...other.suspects],
    }
  }

  /** Counts few users on one snapshot. @throws {DomainError} UNAVAILABLE */
  users(handles: object): Promise<ScannedUsers> {
    return onSnapshot(this.reading, 'Counting', (at) => this.usersAt(handles, at))
  }

  /**
   * Counts the entries of posts. Two commands.
   * @param filter which posts.
   * @param ids a condition on the id of a post, for their overflow documents.
   * @throws {DomainError} UNAVAILABLE
   */
  posts(filter: Document, ids: Document): Promise<ScannedPosts> {
    const { posts, overflow } = this.services.collections
    return onSnapshot(this.reading, 'Counting', async (at) => {
      const lists = await PostLists.of(posts, filter, { tx: at })
      const orphans: ObjectId[] = []
      for await (const post of lists.take(overflow, ids, at)) orphans.push(post)
      const checked = lists.posts.length
      const differences = lists.posts.flatMap((post) => lists.difference(post) ?? [])
      return { checked, documents: checked + lists.size, differences, lists, orphans }
    })
  }

  private async usersAt(handles: object, at: Tx): Promise<ScannedUsers> {
    const differences: Difference[] = []
    const suspects: string[] = []
    let [checked, documents, edges] = [0, 0, 0]
    for await (const user of countedUsers(this.services, handles, at)) {
      documents += 1 + userCounters.reduce((sum, name) => sum + (user[name] ?? 0), 0)
      edges += user.followers ?? 0
      if (user.account === 'LIVE') checked++
      if (isSuspectAccount(user)) suspects.push(user.key)
      const difference = userDifference(user)
      if (difference) differences.push(difference)
    }
    return { checked, documents, edges, differences, suspects }
  }

  private get reading() {
    const { transactions } = this.services
    return { transactions, onRetry: this.onRetry }
  }
}

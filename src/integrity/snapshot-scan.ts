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
  /** The number of counted edges, posts and entries, and of the documents with their counters. */
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
 * retried with half as many users. Only a user and its edges and posts must be read on the same snapshot.
 */
export class SnapshotScan {
  /** @param onRetry called for each repeated scan. */
  constructor(
    private readonly services: IntegrityServices,
    private readonly onRetry: () => void = () => {},
  ) {}

  /**
   * Counts all matching users on as few snapshots as possible. Five commands for each snapshot.
   * @param handles a condition on a handle.
   * @throws {DomainError} UNAVAILABLE if the server drops the snapshots of a single user.
   */
  async countUsers(handles: object): Promise<ScannedUsers> {
    try {
      return await this.services.transactions.atSnapshot((at) => this.countUsersAt(handles, at))
    } catch (error) {
      if (!isSnapshotGone(error)) throw error
    }
    this.onRetry()
    const { users } = this.services.collections
    const found = await users.find({ _id: handles }, { projection: { _id: 1 } }).toArray()
    const ids = found.map(({ _id }) => _id).sort()
    if (ids.length <= 1) return this.countUsersOnce(handles)
    const half = Math.ceil(ids.length / 2)
    const one = await this.countUsers({ $in: ids.slice(0, half) })
    const other = await this.countUsers({ $in: ids.slice(half) })
    return {
      checked: one.checked + other.checked,
      documents: one.documents + other.documents,
      edges: one.edges + other.edges,
      differences: [...one.differences, ...other.differences],
      suspects: [...one.suspects, ...other.suspects],
    }
  }

  /** Counts all matching users on one snapshot, for few users. Five commands. @throws {DomainError} UNAVAILABLE */
  countUsersOnce(handles: object): Promise<ScannedUsers> {
    return onSnapshot(this.snapshotOptions, 'Counting', (at) => this.countUsersAt(handles, at))
  }

  /**
   * Counts the entries of posts. Two commands.
   * @param filter a filter on the posts.
   * @param ids a condition on the id of a post, for their overflow documents.
   * @throws {DomainError} UNAVAILABLE
   */
  countPosts(filter: Document, ids: Document): Promise<ScannedPosts> {
    const { posts, overflow } = this.services.collections
    return onSnapshot(this.snapshotOptions, 'Counting', async (at) => {
      const lists = await PostLists.load(posts, filter, { tx: at })
      const orphans: ObjectId[] = []
      for await (const post of lists.addOverflow(overflow, ids, at)) orphans.push(post)
      const checked = lists.posts.length
      const differences = lists.posts.flatMap((post) => lists.difference(post) ?? [])
      return { checked, documents: checked + lists.size, differences, lists, orphans }
    })
  }

  private async countUsersAt(handles: object, at: Tx): Promise<ScannedUsers> {
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

  private get snapshotOptions() {
    const { transactions } = this.services
    return { transactions, onRetry: this.onRetry }
  }
}

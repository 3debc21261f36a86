import type { Collections } from '../db/collections.ts'
import { isSnapshotGone } from '../db/errors.ts'
import type { Transactions } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { CountedParts } from './counted.ts'
import { type LookedAtUsers, postDifferences, userDifferences } from './differences.ts'

const triesMax = 3

/** What looks look at. */
export interface LookParts extends CountedParts {
  readonly collections: Collections
  readonly transactions: Transactions
}

/**
 * Looks at users and posts, each time on one snapshot. One that lasts longer than the server keeps its snapshot is
 * begun anew, for fewer users: what is to be of one time is what a user counts and is counted, and no more.
 */
export class Looks {
  /** @param onRenewed told of each look that was begun anew. */
  constructor(
    private readonly parts: LookParts,
    private readonly onRenewed: () => void,
  ) {}

  /**
   * Looks at all users who match, at once as long as a snapshot lasts for them.
   * @throws {DomainError} UNAVAILABLE when it does not last for one.
   */
  async usersWithin(handles: object): Promise<LookedAtUsers> {
    try {
      return await this.once(handles)
    } catch (error) {
      if (!isSnapshotGone(error)) throw error
    }
    this.onRenewed()
    const { users } = this.parts.collections
    const found = await users.find({ _id: handles }, { projection: { _id: 1 } }).toArray()
    const ids = found.map(({ _id }) => _id).sort()
    if (ids.length <= 1) return this.users(handles)
    const half = Math.ceil(ids.length / 2)
    const one = await this.usersWithin({ $in: ids.slice(0, half) })
    const other = await this.usersWithin({ $in: ids.slice(half) })
    return {
      checked: one.checked + other.checked,
      documents: one.documents + other.documents,
      off: [...one.off, ...other.off],
      torn: [...one.torn, ...other.torn],
      gone: [...one.gone, ...other.gone],
    }
  }

  /** Looks at few users. @throws {DomainError} UNAVAILABLE */
  users(handles: object): Promise<LookedAtUsers> {
    return this.again(() => this.once(handles))
  }

  /** Looks at posts that match, in the order of their ids. @throws {DomainError} UNAVAILABLE */
  posts(filter: object, limit: number) {
    const { collections, transactions } = this.parts
    return this.again(() =>
      transactions.atSnapshot((at) => postDifferences(collections, filter, limit, at)),
    )
  }

  private once(handles: object): Promise<LookedAtUsers> {
    return this.parts.transactions.atSnapshot((at) => userDifferences(this.parts, handles, at))
  }

  private async again<T>(look: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await look()
      } catch (error) {
        if (!isSnapshotGone(error)) throw error
        this.onRenewed()
        if (tries < triesMax) continue
        throw new DomainError(
          'UNAVAILABLE',
          'Counting takes longer than the database keeps a snapshot: raise minSnapshotHistoryWindowInSeconds',
          { cause: error },
        )
      }
    }
  }
}

import type { UserId } from '../lib/ids.ts'

/** A handle takes about 100 bytes. */
const accountsMax = 200_000

/**
 * Accounts that batches of an import have found or opened, so that later batches do not look for them again. An account
 * may have been deleted since, but then its counters cannot be changed.
 */
export class LiveAccounts {
  private readonly known = new Set<UserId>()
  private last: { readonly position: number; readonly users: Iterable<UserId> } | undefined

  /** The known ones among the users of a batch. @param position that of the checkpoint before the batch. */
  among(users: Iterable<UserId>, position: number): Set<UserId> {
    if (this.last && this.last.position < position) {
      for (const user of this.last.users) if (this.known.size < accountsMax) this.known.add(user)
      this.last = undefined
    }
    return new Set([...users].filter((user) => this.known.has(user)))
  }

  /** Notes the users of a batch. They are known once the batch is committed. */
  note(users: Iterable<UserId>, position: number): void {
    this.last = { position, users }
  }

  /** Forgets all users. @returns whether any was known. */
  forget(): boolean {
    const hadAny = this.known.size > 0
    this.known.clear()
    this.last = undefined
    return hadAny
  }
}

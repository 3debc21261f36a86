import { writesSettleMs } from '../db/deadline.ts'
import { chunks, groupBy } from '../lib/batch.ts'
import { entryKey } from './kinds.ts'
import type { EngagementReader } from './reader.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** How many entries are remembered at most, and are looked at together. */
const unsureMax = 10_000
const batchSize = 100
/** An entry is looked at when no command can store it any more. */
const waitMs = writesSettleMs

/**
 * By-user entries of writes that failed, or that another process may have committed, of which it is not known whether the
 * post's list holds them. Those that no list holds are removed once nothing can store them any more. What a process
 * forgets when it dies means nothing to readers, and is repaired with the rest of the database.
 */
export class UnsureEntries {
  private readonly entries = new Map<
    string,
    { readonly entry: UserEngagement; readonly since: number }
  >()
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly userIndex: UserEngagementIndex,
    private readonly reader: EngagementReader,
  ) {}

  /** Remembers an entry, at most 10,000 in all: the oldest is dropped for the newest. */
  add(entry: UserEngagement): void {
    this.entries.set(entry.id, { entry, since: performance.now() })
    const [oldest] = this.entries.keys()
    if (this.entries.size > unsureMax && oldest !== undefined) this.entries.delete(oldest)
    this.schedule()
  }

  /**
   * Removes entries that no list holds and that are older than `ageMs`. Up to four commands for each hundred and kind.
   * What fails stays for the next time. Never throws.
   */
  async settle(ageMs = waitMs): Promise<void> {
    const now = performance.now()
    const due = [...this.entries.values()].filter(({ since }) => now - since >= ageMs)
    for (const [kind, some] of groupBy(due, ({ entry }) => entry.kind)) {
      for (const batch of chunks(some, batchSize)) {
        const entries = batch.map(({ entry }) => entry)
        // An entry may name a forged author beside one that names the real author.
        const posts = new Map(entries.map(({ post }) => [`${post.author}/${post.id}`, post]))
        const keys = [...new Set(entries.map(({ id, user }) => entryKey(kind, user, id)))]
        try {
          const stored = await this.reader.entries([kind], [...posts.values()], keys)
          const held = new Set(stored.map(({ id }) => id))
          const strays = entries.filter(({ id }) => !held.has(id))
          await this.userIndex.write([], strays)
          for (const { id } of entries) this.entries.delete(id)
        } catch {
          // The database is still out of reach.
          return
        }
      }
    }
  }

  private schedule(): void {
    this.timer ??= setTimeout(async () => {
      await this.settle()
      this.timer = undefined
      if (this.entries.size > 0) this.schedule()
    }, waitMs).unref()
  }
}

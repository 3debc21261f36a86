import type { Refusals } from '../db/admitted.ts'
import { GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { DomainError } from '../errors.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { UserId } from '../lib/ids.ts'
import { noAccount, type UserStats } from '../users/stats.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** The answer when the post does not exist, or the viewer may not see it. */
export const noPost = (): DomainError => new DomainError('NOT_FOUND', 'The post does not exist')

/** An entry that is about to be added to its list, or one that its list does not hold any more. */
type Intent =
  | { readonly begin: UserEngagement; readonly end?: undefined }
  | { readonly end: Pick<UserEngagement, 'id' | 'user'>; readonly begin?: undefined }

/** The longest wait is that of the write in the queue of its post: here, a write waits for one batch at most. */
const bounds: GroupCommitBounds = {
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 30_000,
  lingerMs: 0,
  begins: 'AFTER_TURN',
}

/** Checks accounts and blocks before a like, comment or share is stored, and writes the by-user entry before it. */
export class Admission {
  /** The entries of all posts share commands. */
  private readonly intents: GroupCommit<Intent, { readonly refusal: DomainError | undefined }>

  constructor(
    private readonly userIndex: UserEngagementIndex,
    private readonly stats: UserStats,
    private readonly restrictions: Restrictions,
  ) {
    this.intents = new GroupCommit(async (_, batch) => this.settle(batch), bounds)
  }

  /**
   * Writes by-user entries and checks accounts and blocks. Three commands, which all entries of this process share, and
   * one more when an entry is refused. An entry may be admitted again: an earlier try has failed.
   * @returns for each entry, in order, why it is refused: NOT_FOUND without an account or such a post, or when a block
   *   hides it.
   */
  async admit(entries: readonly UserEngagement[]): Promise<Refusals> {
    const settled = entries.map((begin) => this.intents.submit('', { begin }))
    return (await Promise.all(settled)).map(({ refusal }) => refusal)
  }

  /** Removes the by-user entry of an entry that its list does not hold. One command, which concurrent calls share. */
  async remove(entry: Pick<UserEngagement, 'id' | 'user'>): Promise<void> {
    await this.intents.submit('', { end: entry })
  }

  private async settle(batch: readonly Intent[]) {
    const begins = batch.flatMap(({ begin }) => (begin ? [begin] : []))
    const ends = batch.flatMap(({ end }) => (end ? [end] : []))
    const people = [...new Set(begins.flatMap(({ user, post }) => [user, post.author]))]
    const pairs = begins
      .filter(({ user, post }) => user !== post.author)
      .map(({ user, post }) => ({ one: user, other: post.author }))
    // Written first: the purge of an account that is still live here then finds every entry of it.
    await this.userIndex.write(begins, ends)
    const [live, blocked] = await Promise.all([
      people.length > 0 ? this.stats.liveAmong(people) : new Set<UserId>(),
      this.restrictions.blocksBetween(pairs),
    ])
    const refused: UserEngagement[] = []
    const refusals = batch.map(({ begin }) => {
      if (!begin) return { refusal: undefined }
      const { user, post } = begin
      const hidden = !live.has(post.author) || blocked.has(`${user}>${post.author}`)
      if (live.has(user) && !hidden) return { refusal: undefined }
      refused.push(begin)
      return { refusal: live.has(user) ? noPost() : noAccount() }
    })
    if (refused.length > 0) await this.userIndex.write([], refused)
    return refusals
  }
}
